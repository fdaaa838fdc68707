// The figures of a family of kernels or proofs on one machine.

// With more bars, bars are too small to read and the canvas is too large to draw.
const MOST_BARS = 30;

const medianOf = (row) => row.figures.seconds.median;

/** The distinct works of rows, in order. */
function works(rows) {
    const found = new Map();
    for (const row of rows) if (!found.has(workKey(row))) found.set(workKey(row), row);
    return [...found.values()];
}

function groupBy(values, key) {
    const groups = new Map();
    for (const value of values) {
        const name = key(value);
        if (!groups.has(name)) groups.set(name, []);
        groups.get(name).push(value);
    }
    return groups;
}

/** For each benchmark, the rows of one size: the largest of the sizes at which the most implementations were measured. */
function comparableSizes(rows) {
    const kept = [];
    for (const same of groupBy(rows, (row) => row.benchmark).values()) {
        const sizes = [...groupBy(same, (row) => row.size ?? 0)];
        sizes.sort((left, right) => right[1].length - left[1].length || right[0] - left[0]);
        kept.push(...sizes[0][1]);
    }
    return kept;
}

/** Whether small values would be invisible on a linear axis. */
function spread(values) {
    const known = values.filter((value) => value > 0);
    return known.length > 0 && Math.max(...known) / Math.min(...known) > 30;
}

const threadChoices = (rows) => distinct(rows.map((row) => row.threads)).sort((a, b) => a - b);

function threadSelection(rows, state, set) {
    const options = threadChoices(rows);
    return options.length < 2
        ? []
        : [
              choice(
                  "Threads",
                  options.map((n) => [String(n), String(n)]),
                  String(state.threads),
                  (n) => set({ threads: Number(n) }),
              ),
          ];
}

const implementations = (rows) => distinct(rows.map((row) => row.implementation)).sort(byImplementation);

/** A series for an implementation: Proofmill's levels plain, peers hatched. */
function implementationSeries(name, rest) {
    const ours = DATA.levels.includes(name);
    return { name, colour: implementationColour(name), hatched: !ours, ...rest };
}

const detail = (row) => `${workName(row)}, ${count(row.threads, "thread")}, n = ${row.figures.seconds.count}`;

function oneUnit(rows) {
    const units = distinct(rows.map((row) => row.figures.unit));
    return units.length === 1 ? units[0] : "units";
}

// Comparison of levels and peers.

const overLevel = ratioColumn("Speed-up over the slowest level", "speed_up", (row) =>
    measured(row) ? row.figures.over_level : null,
);
const oursOverIt = ratioColumn("Proofmill is faster than it by", "ours_faster_by", (row) =>
    measured(row) ? row.figures.ours_over_it : null,
);

function levelsFigure(title, rows) {
    const usable = rows.filter(measured);
    if (usable.length === 0) return null;
    const threads = threadChoices(usable);
    const state = { threads: threads[0], as: "rate" };
    const many = implementations(usable).length > 1;
    const speedUps = usable.some((row) => row.figures.over_level);
    const show = () => {
        const chosen = comparableSizes(usable.filter((row) => row.threads === state.threads));
        const all = works(chosen);
        const kept = all.slice(0, MOST_BARS);
        const names = implementations(chosen);
        const find = (work, name) =>
            chosen.find((row) => workKey(row) === workKey(work) && row.implementation === name);
        const units = distinct(chosen.map((row) => row.figures.unit));
        const label = (row) =>
            state.as === "rate" && units.length > 1 ? `${workName(row)} (${row.figures.unit})` : workName(row);
        // The slowest level is 1 by definition. A peer has no speed-up if no level was measured.
        const base = (row) =>
            chosen.some(
                (other) =>
                    workKey(other) === workKey(row) &&
                    other.figures.over_level?.implementation === row.implementation,
            );
        const speed = (row) => row.figures.over_level?.ratio ?? (base(row) ? 1 : null);
        const value = (row) => (!row ? null : state.as === "rate" ? rate(row) : speed(row));
        const ends = (row) =>
            !row ? null : state.as === "rate" ? rateInterval(row) : (row.figures.over_level?.interval ?? null);
        const series = names.map((name) => {
            const found = kept.map((work) => find(work, name));
            return implementationSeries(name, {
                values: found.map(value),
                intervals: found.map(ends),
                notes: found.map((row) => row && detail(row)),
            });
        });
        const log = state.as === "rate" && spread(series.flatMap((one) => one.values));
        const unit = units.length === 1 ? units[0] : "units";
        const axis =
            state.as === "rate"
                ? { title: `${unit} per second${log ? ", log scale" : ""}; more is better`, log, write: short, tick }
                : { title: "times faster than the slowest level", write: number, tick };
        const cut = firstOf(kept.length, all.length);
        const sized = chosen.some((row) => row.size) ? " Each at the largest size that most implementations were measured at." : "";
        return {
            chart: {
                kind: log ? "dots" : "bar",
                labels: kept.map(label),
                series,
                value: axis,
                unity: state.as !== "rate",
                legend: true,
            },
            note: `On ${count(state.threads, "thread")}.${sized}${cut}`,
            columns: [...WORK, ...TIMES, COLUMNS.rate, overLevel, oursOverIt],
            rows: chosen,
        };
    };
    return figure(title, state, show, (state, set) => [
        ...(many && speedUps
            ? [
                  choice(
                      "Shown as",
                      [
                          ["rate", "Rate"],
                          ["speed", "Speed-up"],
                      ],
                      state.as,
                      (as) => set({ as }),
                  ),
              ]
            : []),
        ...threadSelection(usable, state, set),
    ]);
}

// Scaling with threads.

const overOne = ratioColumn("Speed-up over one thread", "scaling", (row) =>
    measured(row) ? (row.threads === 1 ? { ratio: 1 } : row.figures.over_one_thread) : null,
);
const efficiency = {
    title: "Per thread",
    number: true,
    text: (row) =>
        measured(row) && row.figures.over_one_thread ? percent(row.figures.over_one_thread.ratio / row.threads) : "",
    csv: [
        [
            "efficiency",
            (row) =>
                measured(row) && row.figures.over_one_thread ? row.figures.over_one_thread.ratio / row.threads : "",
        ],
    ],
};

function threadsFigure(rows) {
    const scaled = rows.filter((row) => measured(row) && row.figures.over_one_thread);
    if (scaled.length === 0) return null;
    const names = implementations(scaled);
    const fastest = names.findLast((name) => DATA.levels.includes(name)) ?? names[0];
    const state = { implementation: fastest };
    const show = () => {
        const mine = rows.filter((row) => measured(row) && row.implementation === state.implementation);
        const curves = [...groupBy(mine, workKey).values()].filter((curve) =>
            curve.some((row) => row.figures.over_one_thread),
        );
        // The largest size of each benchmark.
        const largest = [...groupBy(curves, (curve) => curve[0].benchmark).values()].map(
            (same) => same.toSorted((a, b) => (b[0].size ?? 0) - (a[0].size ?? 0))[0],
        );
        const kept = largest.slice(0, MACHINE_COLOURS.length);
        const series = kept.map((curve, at) => {
            const points = curve
                .filter((row) => row.threads === 1 || row.figures.over_one_thread)
                .toSorted((a, b) => a.threads - b.threads);
            return {
                name: workName(curve[0]),
                colour: MACHINE_COLOURS[at],
                values: points.map((row) => ({
                    x: row.threads,
                    y: row.threads === 1 ? 1 : row.figures.over_one_thread.ratio,
                })),
                intervals: points.map((row) => row.figures.over_one_thread?.interval ?? null),
                notes: points.map(detail),
            };
        });
        const ticks = distinct(series.flatMap((one) => one.values.map((point) => point.x))).sort((a, b) => a - b);
        series.push({
            name: "ideal",
            colour: "grey",
            dashed: true,
            values: [1, ticks.at(-1)].map((n) => ({ x: n, y: n })),
        });
        const cut = firstOf(kept.length, largest.length);
        return {
            chart: {
                kind: "line",
                series,
                value: { title: "times faster than one thread", log: true, write: number, tick },
                other: { title: "threads", log: true, write: String, ticks, point: (n) => count(n, "thread") },
            },
            note: `${state.implementation}; each benchmark at its largest size.${cut}`,
            columns: [...WORK, ...TIMES, overOne, efficiency],
            rows: curves.flat(),
        };
    };
    return figure("Scaling with threads", state, show, (state, set) =>
        names.length < 2
            ? []
            : [
                  selection(
                      "Implementation",
                      names.map((name) => [name, name]),
                      state.implementation,
                      (implementation) => set({ implementation }),
                  ),
              ],
    );
}

// Size curves.

function sizesFigure(rows) {
    const usable = rows.filter((row) => measured(row) && row.size > 0);
    const byBenchmark = [...groupBy(usable, (row) => row.benchmark)].filter(
        ([, same]) => distinct(same.map((row) => row.size)).length > 1,
    );
    if (byBenchmark.length === 0) return null;
    const named = new Map(byBenchmark);
    const state = { benchmark: byBenchmark[0][0], threads: threadChoices(byBenchmark[0][1])[0], as: "time" };
    const show = () => {
        const same = named.get(state.benchmark);
        const choices = threadChoices(same);
        const threads = choices.includes(state.threads) ? state.threads : choices[0];
        const chosen = same.filter((row) => row.threads === threads);
        const per = (row) => (state.as === "unit" ? row.figures.amount : 1);
        const unit = oneUnit(chosen);
        const series = implementations(chosen).map((name) => {
            const points = chosen.filter((row) => row.implementation === name).toSorted((a, b) => a.size - b.size);
            return implementationSeries(name, {
                values: points.map((row) => ({ x: row.size, y: medianOf(row) / per(row) })),
                intervals: points.map((row) => row.figures.seconds.interval?.map((end) => end / per(row)) ?? null),
                notes: points.map(detail),
            });
        });
        const ticks = distinct(chosen.map((row) => row.size)).sort((a, b) => a - b);
        return {
            chart: {
                kind: "line",
                series,
                legend: true,
                value: {
                    title: state.as === "unit" ? `seconds by ${unit}, log scale` : "seconds, log scale",
                    log: true,
                    write: seconds,
                    tick: secondsTick,
                },
                other: {
                    title: `${unit}, log scale`,
                    log: true,
                    write: sizeText,
                    ticks,
                    point: (size) => `${sizeText(size)} ${unit}`,
                },
            },
            note: `${state.benchmark} on ${count(threads, "thread")}; less is better.`,
            columns: [...WORK, ...TIMES, COLUMNS.rate],
            rows: chosen,
        };
    };
    return figure("Time by size", state, show, (state, set) => [
        ...(byBenchmark.length < 2
            ? []
            : [
                  selection(
                      "Benchmark",
                      byBenchmark.map(([name]) => [name, name]),
                      state.benchmark,
                      (benchmark) => set({ benchmark }),
                  ),
              ]),
        choice(
            "Shown as",
            [
                ["time", "Time"],
                ["unit", "Time per unit"],
            ],
            state.as,
            (as) => set({ as }),
        ),
        ...threadSelection(usable, state, set),
    ]);
}

// Phases of a proof.

const PHASE_COLOURS = [
    "blue",
    "orange",
    "teal",
    "rose",
    "sand",
    "indigo",
    "green",
    "purple",
    "cyan",
    "wine",
    "olive",
];

function phasesFigure(rows) {
    const usable = rows.filter((row) => measured(row) && row.figures.phases.length > 0);
    if (usable.length === 0) return null;
    const all = works(usable);
    const largest = all.toSorted((a, b) => (b.size ?? 0) - (a.size ?? 0))[0];
    const state = { threads: threadChoices(usable).at(-1), as: "time", work: workKey(largest) };
    const names = distinct(usable.flatMap((row) => row.figures.phases.map((phase) => phase.name)));
    const phase = (row, name) => {
        const named = row.figures.phases.filter((phase) => phase.name === name);
        return named.length ? named.reduce((sum, phase) => sum + phase.seconds, 0) : null;
    };
    const inPhases = (row) => row.figures.phases.reduce((sum, phase) => sum + phase.seconds, 0);
    // Medians of phases need not add up to the median of the whole; a remainder beyond the scatter is shown.
    const rest = (row) => Math.max(medianOf(row) - inPhases(row), 0);
    const column = (name) => ({
        title: name,
        number: true,
        text: (row) => (phase(row, name) === null ? "" : seconds(phase(row, name))),
        csv: [[`${name}_seconds`, (row) => phase(row, name) ?? ""]],
    });
    const show = () => {
        const every = state.work === "all";
        const chosen = usable.filter(
            (row) => row.threads === state.threads && (every || workKey(row) === state.work),
        );
        const kept = chosen.slice(0, MOST_BARS);
        const whole = (row) => (state.as === "share" ? Math.max(medianOf(row), inPhases(row)) / 100 : 1);
        const series = names.map((name, at) => ({
            name,
            colour: PHASE_COLOURS[at % PHASE_COLOURS.length],
            values: kept.map((row) => (phase(row, name) === null ? null : phase(row, name) / whole(row))),
            notes: kept.map(detail),
        }));
        if (kept.some((row) => rest(row) > 0.01 * medianOf(row))) {
            series.push({
                name: "outside of phases",
                colour: "grey",
                hatched: true,
                values: kept.map((row) => rest(row) / whole(row)),
                notes: kept.map(detail),
            });
        }
        const label = (row) => (every ? `${workName(row)} · ${row.implementation}` : row.implementation);
        const axis =
            state.as === "share"
                ? { title: "% of the whole", write: number, tick }
                : { title: "seconds", write: seconds, tick: secondsTick };
        return {
            chart:
                kept.length === 0
                    ? "Not measured with this number of threads."
                    : { kind: "bar", stacked: true, labels: kept.map(label), series, value: axis },
            note: `On ${count(state.threads, "thread")}; medians of each phase.${firstOf(kept.length, chosen.length)}`,
            columns: [...WORK, COLUMNS.median, ...names.map(column)],
            rows: chosen,
        };
    };
    return figure("Where the time goes", state, show, (state, set) => [
        ...(all.length < 2
            ? []
            : [
                  selection(
                      "Benchmark",
                      [...all.map((row) => [workKey(row), workName(row)]), ["all", "all"]],
                      state.work,
                      (work) => set({ work }),
                  ),
              ]),
        choice(
            "Shown as",
            [
                ["time", "Time"],
                ["share", "Share"],
            ],
            state.as,
            (as) => set({ as }),
        ),
        ...threadSelection(usable, state, set),
    ]);
}

// Time against memory.

function memoryFigure(rows) {
    const usable = rows.filter((row) => measured(row) && row.figures.peak_memory > 0);
    if (usable.length === 0) return null;
    const state = { threads: threadChoices(usable).at(-1) };
    const show = () => {
        const chosen = usable.filter((row) => row.threads === state.threads);
        const series = implementations(chosen).map((name) => {
            const points = chosen.filter((row) => row.implementation === name);
            return implementationSeries(name, {
                values: points.map((row) => ({ x: medianOf(row), y: row.figures.peak_memory })),
                notes: points.map(detail),
            });
        });
        return {
            chart: {
                kind: "scatter",
                series,
                legend: true,
                value: { title: "peak memory, log scale", log: true, binary: true, write: bytes },
                other: { title: "seconds, log scale", log: true, write: seconds, tick: secondsTick, point: seconds },
            },
            note: `On ${count(state.threads, "thread")}. Memory beyond what the process held before; the lower left is best.`,
            columns: [...WORK, COLUMNS.median, COLUMNS.interval, COLUMNS.memory],
            rows: chosen,
        };
    };
    return figure("Time against memory", state, show, (state, set) => threadSelection(usable, state, set));
}

/** Rows without figures, grouped by the reason. */
function absences(rows) {
    const without = rows.filter((row) => row.status === "absent" || row.status === "failed");
    if (without.length === 0) return null;
    const groups = groupBy(without, (row) => JSON.stringify([row.implementation, outcome(row)]));
    const line = (same) => {
        const names = distinct(same.map(workName));
        const shown =
            names.length > 4 ? `${names.slice(0, 4).join(", ")} and ${names.length - 4} more` : names.join(", ");
        return element(
            "li",
            {},
            element("strong", { text: same[0].implementation }),
            ` (${shown}): ${outcome(same[0])}`,
        );
    };
    return element("ul", { class: "absences", "aria-label": "Not measured" }, ...[...groups.values()].map(line));
}

const PLAIN = [
    (rows) => levelsFigure("Levels and peers side by side", rows),
    threadsFigure,
    sizesFigure,
    phasesFigure,
    memoryFigure,
];

/** The heading and figures of a family on one machine. */
function familySection(family, rows) {
    const figures = PLAIN.map((make) => make(rows)).filter(Boolean);
    return element(
        "article",
        { "aria-label": family.title },
        element("h3", { text: family.title }),
        family.input ? element("p", { class: "note", text: `Input: ${family.input}.` }) : null,
        absences(rows),
        figures.length
            ? element("div", { class: "figures" }, ...figures)
            : element("p", { class: "empty", text: "Nothing of this family was timed." }),
        foldedTable(`${family.title}: everything`, EVERYTHING, rows),
    );
}
