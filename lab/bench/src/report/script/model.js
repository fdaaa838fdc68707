// Predictions for machines at other frequencies and with longer vectors; not measurements.

const range = (ends, write) => (ends[0] === ends[1] ? write(ends[0]) : `${write(ends[0])} – ${write(ends[1])}`);
const multiple = (value) => times(value);
const extremes = (values) => [Math.min(...values), Math.max(...values)];

/** The figure of a projection: its scenarios, then the machines that they are compared with. */
function projectionFigure(projection) {
    const { bases, references, scenarios } = projection;
    const inSeconds = projection.unit === "seconds";
    const time = (value) => (inSeconds ? seconds(value) : number(value));
    const asItIs = (scenario) =>
        scenario.hertz === bases[scenario.base].hertz && scenario.vector_bits === bases[scenario.base].vector_bits;
    const variant = (scenario) =>
        `${scenario.vector_bits} bit, ${hertz(scenario.hertz)}${asItIs(scenario) ? ", as it is" : ""}`;
    const rows = [
        ...scenarios.map((scenario) => ({
            name: `${bases[scenario.base].name}, ${variant(scenario)}`,
            // The colour identifies the base.
            label: variant(scenario),
            scenario,
            time: [scenario.time, scenario.time],
        })),
        ...references.map((reference) => ({
            name: reference.name,
            label: reference.name,
            reference,
            time: reference.time,
        })),
    ];
    // The quantities that the chart can show, each with its axis and the range of a scenario.
    const shows = {
        time: {
            choice: "Time",
            title: `time, ${inSeconds ? "seconds" : projection.unit}; less is better`,
            write: time,
            of: (row) => row.time,
        },
        energy: {
            choice: "Energy",
            title: "energy of the work, the base as it is = 1; less is better",
            write: number,
            of: (row) => row.scenario && [row.scenario.energy, row.scenario.energy],
        },
        cost: {
            choice: "Cost of ownership",
            title: "total cost of ownership, the base as it is = 1",
            write: number,
            of: (row) => row.scenario?.cost.length && extremes(row.scenario.cost),
        },
    };
    const state = { shown: "time" };
    const of = (title, key, read, write) => ({
        title,
        number: true,
        text: (row) => (row.scenario ? write(read(row.scenario)) : ""),
        csv: [[key, (row) => (row.scenario ? read(row.scenario) : "")]],
    });
    const pair = (title, key, read, write) => ({
        title,
        number: true,
        text: (row) => {
            const ends = read(row);
            return ends ? range(ends, write) : "";
        },
        csv: [
            [`${key}_low`, (row) => read(row)?.[0] ?? ""],
            [`${key}_high`, (row) => read(row)?.[1] ?? ""],
        ],
    });
    const sorted = (ends) => ends && extremes(ends);
    const columns = [
        { title: "Machine", text: (row) => row.name, csv: [["machine", (row) => row.name]] },
        pair("Time", "time", (row) => row.time, time),
        of("Speed-up", "speed_up", (scenario) => scenario.speedup, multiple),
        of("Instructions", "instruction_ratio", (scenario) => scenario.instruction_ratio, multiple),
        of("Dynamic power", "dynamic_power", (scenario) => scenario.dynamic_power, multiple),
        of("CPU power", "cpu_power", (scenario) => scenario.cpu_power, multiple),
        of("Server power", "server_power", (scenario) => scenario.server_power, multiple),
        of("Energy", "energy", (scenario) => scenario.energy, multiple),
        pair(
            "Cost of ownership",
            "cost",
            (row) => row.scenario?.cost.length && extremes(row.scenario.cost),
            multiple,
        ),
        ...references.flatMap((reference, at) => [
            pair(
                `Faster than ${reference.name}`,
                `faster_than_${reference.name}`,
                (row) => sorted(row.scenario?.against[at].faster),
                multiple,
            ),
            pair(
                `Dollars compared with ${reference.name}`,
                `dollars_beside_${reference.name}`,
                (row) => sorted(row.scenario?.against[at].dollars),
                multiple,
            ),
        ]),
    ];
    const show = () => {
        const shown = shows[state.shown];
        const kept = rows.filter((row) => shown.of(row)).slice(0, 2 * MOST_BARS);
        const series = (title, paint, hatched, belongs) => ({
            name: title,
            colour: paint,
            hatched,
            values: kept.map((row) => (belongs(row) ? extremes(shown.of(row))[1] : null)),
            intervals: kept.map((row) => {
                const ends = extremes(shown.of(row));
                return belongs(row) && ends[0] !== ends[1] ? ends : null;
            }),
        });
        const all = bases.map((base, at) =>
            series(base.name, machineColour(at), false, (row) => row.scenario?.base === at),
        );
        if (kept.some((row) => row.reference))
            all.push(series("compared with", "grey", true, (row) => row.reference));
        return {
            chart: {
                kind: "bar",
                stacked: true,
                labels: kept.map((row) => row.label),
                series: all,
                value: {
                    title: shown.title,
                    write: shown.write,
                    tick: inSeconds && state.shown === "time" ? secondsTick : tick,
                },
            },
            note: "Whiskers: between the bounds that are known or assumed; the bar ends at the upper one.",
            columns,
            rows,
        };
    };
    const choices = Object.entries(shows).map(([name, shown]) => [name, shown.choice]);
    return figure(projection.title, state, show, (state, set) => [
        choice("Shown as", choices, state.shown, (shown) => set({ shown })),
    ]);
}

function assumptionTable(projection) {
    const columns = [
        { title: "Assumption", text: (one) => one.name, csv: [["name", (one) => one.name]] },
        { title: "Meaning", text: (one) => one.meaning, csv: [["meaning", (one) => one.meaning]] },
        {
            title: "Value",
            number: true,
            text: (one) => one.values.map(number).join(" – ") || "none",
            csv: [["values", (one) => one.values.join(" ")]],
        },
        { title: "Source", text: (one) => one.source, csv: [["source", (one) => one.source]] },
    ];
    const title = `${projection.title}: assumptions`;
    return foldedTable(title, columns, projection.assumptions, `Assumptions, ${projection.assumptions.length}`);
}

function projectionSection(projection) {
    const notes = projection.notes.map((note) => element("li", { text: note }));
    return element(
        "article",
        { "aria-label": projection.title },
        element("h3", { text: projection.title }),
        element("p", {
            class: "note",
            text: `Inputs: ${projection.source}. None of this is measured: it follows from the assumptions below.`,
        }),
        notes.length ? element("ul", { class: "absences", "aria-label": "Notes" }, ...notes) : null,
        element("div", { class: "figures" }, projectionFigure(projection)),
        assumptionTable(projection),
    );
}
