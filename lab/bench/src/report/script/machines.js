// Facts about the machines, and their comparison.

const given = (value, write = String) =>
    value === null || value === undefined || value === "" ? null : write(value);

/** Facts with their names; null is shown as unknown. */
const FACTS = [
    ["CPU", ({ machine }) => given(machine.cpu)],
    ["Instance", ({ machine }) => given(machine.instance), true],
    [
        "Architecture",
        ({ machine }) => given([machine.architecture, machine.microarchitecture].filter(Boolean).join(", ")),
    ],
    [
        "Cores and threads",
        ({ machine }) =>
            [
                machine.sockets > 1 ? `${machine.sockets} packages` : null,
                machine.cores ? count(machine.cores, "core") : null,
                machine.threads ? count(machine.threads, "thread") : null,
                machine.threads_per_core ? `${machine.threads_per_core} per core` : null,
            ]
                .filter(Boolean)
                .join(", "),
    ],
    [
        "Frequency",
        ({ machine }) =>
            [
                machine.measured_hertz ? `${hertz(machine.measured_hertz)} measured on one core` : UNKNOWN,
                machine.advertised_hertz ? `${hertz(machine.advertised_hertz)} advertised` : null,
            ]
                .filter(Boolean)
                .join(", "),
    ],
    [
        "Caches",
        ({ machine }) =>
            given(
                machine.caches
                    .map(
                        (cache) =>
                            `L${cache.level}${cache.kind === "unified" ? "" : " " + cache.kind} ${bytes(cache.bytes)}${cache.shared_by > 1 ? `, shared by ${cache.shared_by} threads` : ""}`,
                    )
                    .join("; "),
            ),
    ],
    ["Memory", ({ machine }) => given(machine.memory, bytes)],
    ["Levels", ({ machine }) => given(machine.levels.join(", "))],
    ["Features", ({ machine }) => given(machine.features.join(" "))],
    ["System", ({ machine }) => given([machine.system, machine.kernel].filter(Boolean).join(", "))],
    ["Hypervisor", ({ machine }) => given(machine.hypervisor) ?? "none found"],
    ["Compiler", ({ machine }) => given(machine.compiler)],
    ["Proofmill", (run) => given(run.version)],
    ["Power", (run) => given(run.power_source) ?? UNKNOWN],
    ["Price", (run) => (run.price ? `$${run.price.dollars_per_hour} an hour (${run.price.source})` : "not given")],
    ["Taken by other guests", ({ noise }) => given(noise.steal, percent) ?? UNKNOWN],
    ["Used by other processes", ({ noise }) => given(noise.others, percent) ?? UNKNOWN],
    ["Frequency drop", ({ noise }) => given(noise.frequency_drop, percent) ?? UNKNOWN],
    ["Began", (run) => moment(run.began)],
    ["Ended", (run) => moment(run.ended) ?? "it did not end"],
    ["Command", (run) => given(run.command)],
    [
        "Rows",
        (run) => {
            const rows = DATA.rows.filter((row) => DATA.runs[row.run] === run);
            const words = {
                measured: "measured",
                checked: "checked only",
                absent: "not installed",
                failed: "failed",
            };
            return (
                Object.entries(words)
                    .map(([status, word]) => [rows.filter((row) => row.status === status).length, word])
                    .filter(([n]) => n > 0)
                    .map(([n, word]) => `${n.toLocaleString("en-GB")} ${word}`)
                    .join(", ") || "none"
            );
        },
    ],
];

function machineTable() {
    const line = ([name, read, optional]) => {
        const values = DATA.runs.map(read);
        if (optional && values.every((value) => value === null)) return null;
        const cell = (value, at) => {
            const attributes = { role: "cell", "data-title": DATA.runs.length > 1 ? DATA.runs[at].name : null };
            if (name !== "Features" || !value) return element("td", { ...attributes, text: value || "unknown" });
            return element(
                "td",
                attributes,
                element(
                    "details",
                    {},
                    element("summary", { text: count(value.split(" ").length, "feature") }),
                    value,
                ),
            );
        };
        return element(
            "tr",
            LINE,
            element("th", { scope: "row", role: "rowheader", text: name }),
            ...values.map(cell),
        );
    };
    const head = element(
        "tr",
        LINE,
        element("td", { role: "cell" }),
        ...DATA.runs.map((run) => element("th", { scope: "col", role: "columnheader", text: run.name })),
    );
    return element(
        "div",
        { class: "scroll", role: "region", "aria-label": "Table: machines", tabindex: "0" },
        element(
            "table",
            { class: "facts", ...TABLE },
            element("thead", GROUP, head),
            element("tbody", GROUP, ...FACTS.map(line).filter(Boolean)),
        ),
    );
}

/** All reasons to doubt figures, as [run, sentence]. */
function doubts() {
    const found = [];
    for (const run of DATA.runs) {
        for (const warning of run.noise.warnings) found.push([run.name, warning]);
        if (!run.ended) found.push([run.name, "the run did not end: rows may be missing"]);
    }
    const versions = distinct(DATA.runs.map((run) => run.version));
    if (versions.length > 1)
        found.push([
            "All",
            `the runs are of different versions of Proofmill (${versions.join(", ")}): they differ by more than their machines`,
        ]);
    const sources = distinct(
        DATA.runs
            .map((run) => run.power_source)
            .filter(Boolean)
            .map((source) => source.split(" ")[0]),
    );
    if (sources.length > 1)
        found.push(["All", `watts come from different sources (${sources.join(", ")}), which do not count the same`]);
    return found;
}

// Comparison of machines.

const comparisonName = (comparison) => {
    const program =
        comparison.implementation && comparison.implementation !== comparison.family
            ? `${comparison.implementation} `
            : "";
    return `${program}${comparison.benchmark}${comparison.size ? " " + sizeText(comparison.size) : ""}`;
};

/** For each of Proofmill's benchmarks, the largest of the sizes that the most machines have; all work of programs. */
function comparableWork(comparisons) {
    const groups = groupBy(comparisons, (one) =>
        JSON.stringify(one.suite === "platform" ? [one.benchmark, one.size, one.implementation] : [one.benchmark]),
    );
    const machines = (one) => one.rows.filter((row) => row !== null).length;
    return [...groups.values()].map(
        (same) => same.toSorted((a, b) => machines(b) - machines(a) || (b.size ?? 0) - (a.size ?? 0))[0],
    );
}

const comparedColumns = (cells, unitOf) => [
    { title: "Benchmark", text: (one) => one.name, csv: [["benchmark", (one) => one.name]] },
    { title: "Unit", text: unitOf, csv: [["unit", unitOf]] },
    ...DATA.runs.flatMap((run, at) => {
        const cell = (one) => cells(one, at);
        const low = (one) => cell(one).ends?.[0] ?? "";
        const high = (one) => cell(one).ends?.[1] ?? "";
        const write = (one) => {
            const { value, ends, lacks } = cell(one);
            return lacks ?? `${short(value)}${ends ? ` (${short(ends[0])} – ${short(ends[1])})` : ""}`;
        };
        const columns = [
            {
                title: run.name,
                number: true,
                text: write,
                csv: [
                    [run.name, (one) => cell(one).value ?? cell(one).lacks],
                    [`${run.name} low`, low],
                    [`${run.name} high`, high],
                ],
            },
        ];
        if (DATA.runs.length > 1)
            columns.push({
                title: "by",
                text: (one) => cell(one).row?.implementation ?? "",
                csv: [[`${run.name} by`, (one) => cell(one).row?.implementation ?? ""]],
            });
        return columns;
    }),
];

/** Work for which no machine has figures by this metric. */
function unmeasuredWork(comparisons, present) {
    const key = (one) => JSON.stringify([one.benchmark, one.implementation]);
    const known = new Set(present.map(key));
    const missing = new Map(comparisons.filter((one) => !known.has(key(one))).map((one) => [key(one), one]));
    return [...missing.values()].map((one) => ({
        ...one,
        rows: DATA.runs.map(() => null),
        unit: DATA.rows[one.rows.find((row) => row !== null)].figures.unit,
    }));
}

/** The comparison of machines in a family. `shared.metric` and `shared.base` (a run's index, or "none") are shared by all. */
function comparedFigure(title, comparisons, shared) {
    const show = () => {
        const metric = METRICS[shared.metric];
        const present = comparableWork(comparisons.filter((one) => one.threads === metric.threads));
        const chosen = [...present, ...unmeasuredWork(comparisons, present)].map((one) => ({
            ...one,
            name: comparisonName(one),
        }));
        const base = shared.base === "none" ? null : Number(shared.base);
        const cell = (one, run) => (base === null ? absolute(one, run, metric) : relative(one, run, base, metric));
        const unitOf = (one) =>
            base === null
                ? metric.unit(one.unit ?? DATA.rows[one.rows.find((row) => row !== null)].figures.unit)
                : `× ${DATA.runs[base].name}`;
        const shown = chosen.filter((one) => DATA.runs.some((_, run) => cell(one, run).value !== undefined));
        const kept = shown.slice(0, MOST_BARS);
        const series = DATA.runs.map((run, at) => {
            const cells = kept.map((one) => cell(one, at));
            return {
                name: run.name,
                colour: machineColour(at),
                values: cells.map((one) => one.value ?? null),
                intervals: cells.map((one) => one.ends ?? null),
                notes: cells.map(
                    (one) => one.row && `${one.row.implementation}, ${count(one.row.threads, "thread")}`,
                ),
            };
        });
        const units = distinct(shown.map(unitOf));
        const log = base === null && spread(series.flatMap((one) => one.values));
        const label = (one) => (base === null && units.length > 1 ? `${one.name} (${unitOf(one)})` : one.name);
        const lacking = distinct(
            chosen.flatMap((one) =>
                DATA.runs
                    .map((run, at) => [run, cell(one, at)])
                    .filter(([, found]) => found.lacks)
                    .map(([run, found]) => `${run.name}: ${found.lacks}`),
            ),
        );
        const empty = `${metric.title}: not measured. ${lacking.join("; ")}`;
        const reference =
            base === null
                ? units.length === 1
                    ? units[0]
                    : "each in its unit"
                : `${metric.title.toLowerCase()}, ${DATA.runs[base].name} = 1`;
        return {
            chart:
                kept.length === 0
                    ? empty
                    : {
                          kind: log ? "dots" : "bar",
                          labels: kept.map(label),
                          series,
                          unity: base !== null,
                          legend: DATA.runs.length > 1,
                          value: {
                              title: `${reference}${log ? ", log scale" : ""}; more is better`,
                              log,
                              write: short,
                              tick,
                          },
                      },
            note: [
                metric.threads === "one" ? "One thread." : "All threads.",
                firstOf(kept.length, shown.length).trim(),
                lacking.length && kept.length ? `Not measured in part: ${lacking.join("; ")}.` : "",
            ]
                .join(" ")
                .trim(),
            columns: comparedColumns(cell, unitOf),
            rows: chosen,
        };
    };
    return figure(title, shared, show);
}

/** The controls of all comparisons. */
function comparedControls(shared, redraw) {
    const metrics = Object.entries(METRICS).map(([name, metric]) => [name, metric.title]);
    const bases = [...DATA.runs.map((run, at) => [String(at), run.name]), ["none", "nothing: absolute figures"]];
    const set = (changes) => {
        Object.assign(shared, changes);
        redraw();
    };
    return element(
        "div",
        { class: "controls" },
        choice("Compared", metrics, shared.metric, (metric) => set({ metric })),
        DATA.runs.length > 1 ? selection("Normalised to", bases, shared.base, (base) => set({ base })) : null,
    );
}
