// The data, and rates computed from them: per second, per watt, per dollar. Statistics are part of the data.

const DATA = JSON.parse(document.getElementById("data").textContent);

const measured = (row) => row.status === "measured";
const distinct = (values) => [...new Set(values)];
const sizeOf = (row) => (row.size === undefined || row.size === null ? "" : sizeText(row.size));
const workName = (row) => (sizeOf(row) ? `${row.benchmark} ${sizeOf(row)}` : row.benchmark);
const workKey = (row) => JSON.stringify([row.benchmark, row.size ?? null]);

/** Proofmill's levels from slowest to fastest, then other implementations by name. */
function byImplementation(left, right) {
    const place = (name) => (DATA.levels.includes(name) ? DATA.levels.indexOf(name) : DATA.levels.length);
    return place(left) - place(right) || left.localeCompare(right);
}

/** Units per second. */
const rate = (row) => row.figures.amount / row.figures.seconds.median;

/** The interval of the rate: the reciprocals of the ends, in reverse order. */
function rateInterval(row) {
    const ends = row.figures.seconds.interval;
    return ends ? [row.figures.amount / ends[1], row.figures.amount / ends[0]] : null;
}

/** Units per joule; null if watts were not measured. */
const perWatt = (row) => (row.figures.watts > 0 ? rate(row) / row.figures.watts : null);

const pricePerHour = (run) => DATA.runs[run].price?.dollars_per_hour ?? null;

/** Units per dollar of the whole machine; null if its price is unknown, or if the row leaves a part of it idle. */
function perDollar(row) {
    const price = pricePerHour(row.run);
    return price > 0 && row.threads === DATA.runs[row.run].machine.threads ? (rate(row) * 3600) / price : null;
}

/** Metrics for comparisons of machines: the rows, the factor of a rate (null: not measured), and the unit. */
const METRICS = {
    core: { title: "Per core", threads: "one", factor: () => 1, unit: (unit) => `${unit}/s`, lacks: "" },
    machine: { title: "Per machine", threads: "all", factor: () => 1, unit: (unit) => `${unit}/s`, lacks: "" },
    watt: {
        title: "Per watt",
        threads: "all",
        unit: (unit) => `${unit}/s per watt`,
        lacks: "watts not measured",
        factor: (row) => (row.figures.watts > 0 ? 1 / row.figures.watts : null),
    },
    dollar: {
        title: "Per dollar",
        threads: "all",
        unit: (unit) => `${unit} per dollar`,
        lacks: "price not given",
        factor: (row) => (pricePerHour(row.run) > 0 ? 3600 / pricePerHour(row.run) : null),
    },
};

/** A machine's figure in a comparison: `{value, ends, row}`, or `{lacks}` with the reason why there is none. */
function absolute(comparison, run, metric) {
    const at = comparison.rows[run];
    if (at === null) return { lacks: UNKNOWN };
    const row = DATA.rows[at];
    const factor = metric.factor(row);
    if (factor === null) return { lacks: metric.lacks, row };
    const ends = rateInterval(row);
    return { value: rate(row) * factor, ends: ends && ends.map((end) => end * factor), row };
}

/** The ratio to `base`: the ratio of times, scaled by the metric's factors. */
function relative(comparison, run, base, metric) {
    const [ours, theirs] = [absolute(comparison, run, metric), absolute(comparison, base, metric)];
    if (ours.lacks) return ours;
    if (theirs.lacks) return { lacks: `${theirs.lacks} on ${DATA.runs[base].name}`, row: ours.row };
    // Units, clocks or answers differ: not the same work.
    if (!comparison.ratios[base][run]) return { lacks: "not the same work", row: ours.row };
    const { ratio, interval } = comparison.ratios[base][run];
    const factor = metric.factor(ours.row) / metric.factor(theirs.row);
    return { value: ratio * factor, ends: interval && interval.map((end) => end * factor), row: ours.row };
}

/** The outcome of a row without figures. */
function outcome(row) {
    switch (row.status) {
        case "checked":
            return `answer right (${row.note}), not timed`;
        case "absent":
            return `not installed: ${row.note}`;
        case "failed":
            return `failed: ${row.note}`;
        default:
            return "measured";
    }
}
