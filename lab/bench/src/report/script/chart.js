// Code shared by all charts. A chart is described by
//   { kind: "bar" | "dots" | "line" | "scatter", labels, series, value: {title, log, write, tick}, other: {title, log, write, ticks} }
// `value` is the axis of the values; its `write` formats a value, and `tick` a round one. A series is
//   { name, values, intervals, notes, colour, hatched, dashed }

/** Colours that people with colour blindness can distinguish (Paul Tol's schemes), lighter on a dark page. */
const PALETTE = {
    light: {
        grey: "#8a8f94",
        sand: "#c3a93b",
        cyan: "#3aa6cf",
        blue: "#3d6fa8",
        indigo: "#332288",
        green: "#228833",
        teal: "#2b9d8f",
        olive: "#7d7a1e",
        rose: "#d9576a",
        wine: "#882255",
        orange: "#dd7722",
        purple: "#a04a9c",
    },
    dark: {
        grey: "#9aa1a8",
        sand: "#d8c45c",
        cyan: "#66ccee",
        blue: "#6d9fdc",
        indigo: "#a79cf0",
        green: "#5fbf6b",
        teal: "#5fd0c0",
        olive: "#b5b04a",
        rose: "#f08a98",
        wine: "#d0709a",
        orange: "#f0a060",
        purple: "#cc88c8",
    },
};
const LEVEL_COLOURS = {
    portable: "grey",
    adx: "sand",
    avx2: "cyan",
    avx512: "blue",
    avx512ifma: "indigo",
    neon: "green",
    sve: "teal",
    sve2: "olive",
};
const PEER_COLOURS = ["rose", "orange", "purple", "wine", "green", "sand", "teal", "olive"];
const MACHINE_COLOURS = [
    "blue",
    "orange",
    "teal",
    "rose",
    "indigo",
    "sand",
    "purple",
    "green",
    "wine",
    "cyan",
    "olive",
    "grey",
];
const POINTS = ["circle", "rect", "triangle", "rectRot", "star", "crossRot"];

const PEERS = distinct(
    DATA.rows.filter((row) => !row.ours && row.suite !== "platform").map((row) => row.implementation),
).sort();

/** The name of an implementation's colour: the same in all charts of the page. */
function implementationColour(name) {
    return LEVEL_COLOURS[name] ?? PEER_COLOURS[Math.max(PEERS.indexOf(name), 0) % PEER_COLOURS.length];
}
const machineColour = (run) => MACHINE_COLOURS[run % MACHINE_COLOURS.length];

const theme = () => document.documentElement.dataset.theme;
const colour = (name) => PALETTE[theme()][name];

/** The value of a colour variable of the style sheet in the current theme. */
function property(name) {
    const probe = document.getElementById("announcer");
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
}

/** Diagonal lines that mark peers, for readers who cannot distinguish the colours. Proofmill's bars are plain. */
function hatch(paint) {
    const tile = element("canvas", { width: "6", height: "6" });
    const context = tile.getContext("2d");
    context.fillStyle = paint;
    context.globalAlpha = 0.35;
    context.fillRect(0, 0, 6, 6);
    context.globalAlpha = 1;
    context.strokeStyle = paint;
    context.lineWidth = 1.6;
    for (const shift of [-6, 0, 6]) {
        context.beginPath();
        context.moveTo(shift - 1, 7);
        context.lineTo(shift + 7, -1);
        context.stroke();
    }
    return context.createPattern(tile, "repeat");
}

/** Draws intervals as whiskers along the value axis. */
const whiskers = {
    id: "whiskers",
    afterDatasetsDraw(chart) {
        const { ctx: context, chartArea: area } = chart;
        const across = chart.options.indexAxis === "y";
        const scale = across ? chart.scales.x : chart.scales.y;
        context.save();
        context.beginPath();
        context.rect(area.left, area.top, area.width, area.height);
        context.clip();
        context.strokeStyle = property("--ink");
        context.lineWidth = 1.25;
        chart.data.datasets.forEach((dataset, at) => {
            if (!chart.isDatasetVisible(at) || !dataset.intervals) return;
            chart.getDatasetMeta(at).data.forEach((point, index) => {
                const ends = dataset.intervals[index];
                if (!ends || point.skip) return;
                const [low, high] = ends.map((end) => scale.getPixelForValue(end));
                const middle = across ? point.y : point.x;
                const cap = 3;
                const line = (from, to) => {
                    context.moveTo(...(across ? from : from.toReversed()));
                    context.lineTo(...(across ? to : to.toReversed()));
                };
                context.beginPath();
                line([low, middle], [high, middle]);
                line([low, middle - cap], [low, middle + cap]);
                line([high, middle - cap], [high, middle + cap]);
                context.stroke();
            });
        });
        context.restore();
    },
};

/** Draws a line at the value 1, which means no difference from the base. */
const unity = {
    id: "unity",
    beforeDatasetsDraw(chart) {
        if (!chart.options.plugins.unity?.on) return;
        const { ctx: context, chartArea: area, scales } = chart;
        const x = scales.x.getPixelForValue(1);
        context.save();
        context.strokeStyle = property("--soft");
        context.setLineDash([4, 3]);
        context.beginPath();
        context.moveTo(x, area.top);
        context.lineTo(x, area.bottom);
        context.stroke();
        context.restore();
    },
};

Chart.register(whiskers, unity);
Chart.defaults.animation = false;
Chart.defaults.responsive = true;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.plugins.legend.display = false;

function dataset(series, kind, stacked) {
    const paint = colour(series.colour);
    const fill = series.hatched ? hatch(paint) : paint;
    return {
        label: series.name,
        data: series.values,
        intervals: series.intervals,
        notes: series.notes,
        backgroundColor: kind === "line" || kind === "scatter" || kind === "dots" ? paint : fill,
        // A line between the parts of a stack, for readers who cannot distinguish the colours.
        borderColor: stacked ? property("--panel") : paint,
        borderWidth: stacked ? { right: 1.5 } : kind === "bar" ? (series.hatched ? 1 : 0) : 2,
        borderDash: series.dashed ? [6, 4] : [],
        pointStyle: series.dashed ? false : series.mark,
        pointRadius: 4.5,
        pointHoverRadius: 7,
        showLine: kind === "line",
        spanGaps: true,
        barPercentage: 0.92,
        categoryPercentage: 0.8,
        maxBarThickness: 26,
    };
}

function axis(wanted) {
    const made = {
        type: wanted.category ? "category" : wanted.log ? "logarithmic" : "linear",
        title: { display: Boolean(wanted.title), text: wanted.title, color: property("--soft") },
        grid: { color: property("--grid"), display: !wanted.category },
        border: { color: property("--line") },
        stacked: wanted.stacked,
        ticks: { color: property("--soft"), maxRotation: 0, autoSkip: !wanted.category, autoSkipPadding: 12 },
    };
    if (wanted.category) {
        made.ticks.color = property("--ink");
        // Charts of points need the margin that bar charts have by default.
        made.offset = true;
        made.ticks.callback = function (value) {
            return wrapped(this.getLabelForValue(value), this.chart.width < 480 ? 15 : 26);
        };
        return made;
    }
    if (!wanted.log) made.beginAtZero = true;
    if (wanted.range) [made.min, made.max] = wanted.range;
    made.ticks.callback = (value) => (wanted.tick ?? wanted.write)(value);
    if (wanted.log && !wanted.ticks) {
        made.afterBuildTicks = (scale) => {
            scale.ticks = (wanted.binary ? powersOfTwo : decades)(scale.min, scale.max);
        };
    }
    if (wanted.ticks)
        made.afterBuildTicks = (scale) => {
            scale.ticks = thinned(wanted.ticks, 8).map((value) => ({ value }));
        };
    return made;
}

/** Powers of ten; if there are few, also 2 and 5 times these. */
function decades(min, max) {
    const [from, to] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
    const steps = to - from <= 2 ? [1, 2, 5] : [1];
    const values = [];
    for (let power = from; power <= to; power += 1) {
        for (const step of steps) values.push(Number(`${step}e${power}`));
    }
    return thinned(
        values.filter((value) => value >= min && value <= max),
        9,
    ).map((value) => ({ value }));
}

function powersOfTwo(min, max) {
    const values = [];
    for (let value = 2 ** Math.ceil(Math.log2(min)); value <= max; value *= 2) values.push({ value });
    return thinned(values, 8);
}

function thinned(values, most) {
    const step = Math.ceil(values.length / most);
    return values.filter((_, at) => at % step === 0);
}

/** Splits a long label into several lines. */
function wrapped(text, width) {
    const lines = [""];
    for (const word of text.split(/(?<=[-_/ ])/)) {
        if (lines.at(-1) && (lines.at(-1) + word).trim().length > width) lines.push("");
        lines[lines.length - 1] += word;
    }
    const kept = lines.map((line) => (line.length > width + 4 ? line.slice(0, width + 3) + "…" : line.trim()));
    return kept.length > 3 ? [...kept.slice(0, 2), kept[2] + "…"] : kept;
}

/** The range of values and their intervals for a logarithmic axis, with a margin. */
function logRange(series, pick = (value) => value) {
    const all = series.flatMap((one) => [
        ...one.values.map(pick),
        ...(one.intervals ?? []).flatMap((ends) => ends ?? []),
    ]);
    const positive = all.filter((value) => value > 0);
    return [Math.min(...positive) / 1.3, Math.max(...positive) * 1.3];
}

/** The configuration of a chart for Chart.js. */
function configuration(described) {
    const { kind, labels, series, value, other, stacked } = described;
    const across = kind === "bar" || kind === "dots";
    const valued = { ...value, stacked };
    if (value.log) valued.range = logRange(series, across ? undefined : (point) => point.y);
    const index = across ? { category: true, stacked, title: "" } : { ...other };
    if (!across && other.log) {
        const xs = series.flatMap((one) => one.values.map((point) => point.x)).filter((x) => x > 0);
        index.range = [Math.min(...xs) / 1.15, Math.max(...xs) * 1.15];
    }
    const [x, y] = across ? [axis(valued), axis(index)] : [axis(index), axis(valued)];
    const say = (context) => {
        const { dataset, dataIndex: at } = context;
        const ends = dataset.intervals?.[at];
        const read = across ? dataset.data[at] : context.parsed.y;
        return [
            `${dataset.label}: ${value.write(read)}`,
            ends ? `${Math.round(100 * DATA.confidence)} %: ${interval(ends, value.write)}` : null,
            dataset.notes?.[at] ?? null,
        ].filter(Boolean);
    };
    return {
        type: { bar: "bar", dots: "line", line: "line", scatter: "scatter" }[kind],
        data: { labels, datasets: series.map((one) => dataset(one, kind, stacked)) },
        options: {
            indexAxis: across ? "y" : "x",
            interaction: { mode: "nearest", intersect: false },
            scales: { x, y },
            plugins: {
                unity: { on: described.unity },
                tooltip: {
                    callbacks: {
                        label: say,
                        title: (items) =>
                            across ? (items[0]?.label ?? "") : (other.point?.(items[0]?.parsed.x ?? 0) ?? ""),
                    },
                },
            },
        },
    };
}

/** The legend: each series' mark with a button that hides the series. */
function legend(chart, series, kind) {
    const mark = (one) => {
        const canvas = element("canvas", { width: "32", height: "24", "aria-hidden": "true" });
        const context = canvas.getContext("2d");
        context.scale(2, 2);
        const paint = colour(one.colour);
        context.strokeStyle = paint;
        context.fillStyle = one.hatched && kind === "bar" ? hatch(paint) : paint;
        context.lineWidth = 2;
        if (kind === "bar") {
            context.fillRect(1, 1, 14, 10);
        } else {
            if (kind === "line") {
                context.setLineDash(one.dashed ? [4, 2] : []);
                context.beginPath();
                context.moveTo(0, 6);
                context.lineTo(16, 6);
                context.stroke();
                context.setLineDash([]);
            }
            if (!one.dashed)
                Chart.helpers.drawPoint(
                    context,
                    { pointStyle: one.mark, radius: 4, borderWidth: 2 },
                    8,
                    6,
                );
        }
        return canvas;
    };
    const button = (one, at) => {
        const made = element(
            "button",
            { type: "button", "aria-pressed": "true", title: "Show or hide" },
            mark(one),
            one.name,
        );
        made.addEventListener("click", () => {
            const shown = !chart.isDatasetVisible(at);
            chart.setDatasetVisibility(at, shown);
            chart.update();
            made.setAttribute("aria-pressed", String(shown));
        });
        return element("li", {}, made);
    };
    return element("ul", { class: "legend", "aria-label": "Series" }, ...series.map(button));
}

/** Makes arrow keys move through the points; the current point's value is shown and announced. */
function walkable(canvas, chart) {
    let at = -1;
    const points = () =>
        chart.data.datasets.flatMap((dataset, datasetIndex) =>
            chart.isDatasetVisible(datasetIndex)
                ? dataset.data
                      .map((value, index) => ({ datasetIndex, index, value }))
                      .filter((point) => point.value !== null)
                : [],
        );
    const activate = (active) => {
        const place = active[0] && chart.getDatasetMeta(active[0].datasetIndex).data[active[0].index];
        chart.setActiveElements(active);
        chart.tooltip.setActiveElements(active, place ? { x: place.x, y: place.y } : { x: 0, y: 0 });
        chart.update();
    };
    canvas.addEventListener("keydown", (event) => {
        const all = points();
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (event.key === "Escape") at = -1;
        else if (event.key === "Home") at = 0;
        else if (event.key === "End") at = all.length - 1;
        else if (step) at = Math.min(Math.max(at + step, 0), all.length - 1);
        else return;
        event.preventDefault();
        activate(all[at] ? [{ datasetIndex: all[at].datasetIndex, index: all[at].index }] : []);
        const { title = [], body = [] } = chart.tooltip ?? {};
        const words = all[at] ? [...title, ...body.flatMap((part) => part.lines)].join(", ") : "";
        document.getElementById("announcer").textContent = words;
    });
    canvas.addEventListener("blur", () => {
        at = -1;
        activate([]);
    });
}

/** The series that have values. Each keeps its mark among all series. */
function shownSeries(series) {
    const known = (value) => value !== null && value !== undefined;
    return series
        .map((one, at) => ({ ...one, mark: POINTS[at % POINTS.length] }))
        .filter((one) => one.values.some(known));
}

/** Draws a chart and its legend into `place`. */
function draw(place, wanted, title) {
    const described = { ...wanted, series: shownSeries(wanted.series) };
    const names = described.legend ? `${described.series.map((one) => one.name).join(", ")}. ` : "";
    const canvas = element("canvas", {
        tabindex: "0",
        role: "img",
        "aria-label": `${title}. ${names}Arrow keys walk through the points; the table below has the same figures.`,
    });
    const frame = element("div", { class: "canvas" }, canvas);
    if (described.kind === "bar" || described.kind === "dots") {
        const bars = described.stacked || described.kind === "dots" ? 1.4 : described.series.length;
        frame.style.height = `${Math.max(9, 4.2 + described.labels.length * (0.7 + Math.max(bars * 0.85, 1.3)))}rem`;
    }
    place.replaceChildren(frame);
    const chart = new Chart(canvas, configuration(described));
    walkable(canvas, chart);
    if (described.series.length > 1 || described.legend)
        place.append(legend(chart, described.series, described.kind));
    return chart;
}

// Charts are drawn when they come near the window, and again when the theme changes.
const FIGURES = new Map();
const near = new IntersectionObserver(
    (entries) => {
        for (const entry of entries) if (entry.isIntersecting) FIGURES.get(entry.target)?.();
    },
    { rootMargin: "800px" },
);

/** Draws all charts that have not been drawn yet; with `anew`, all charts. */
function drawAll(anew) {
    for (const render of [...FIGURES.values()]) render(anew);
}

let identifiers = 0;

/** Radio buttons that look like a switch. */
function choice(label, options, chosen, change) {
    const name = `choice-${(identifiers += 1)}`;
    const option = ([value, text]) =>
        element(
            "label",
            {},
            element("input", { type: "radio", name, value, checked: value === chosen, change: () => change(value) }),
            element("span", { text }),
        );
    return element(
        "fieldset",
        {},
        element("legend", { text: label }),
        element("div", { class: "switch" }, ...options.map(option)),
    );
}

/** A `select` element with its label. */
function selection(label, options, chosen, change) {
    const option = ([value, text]) => element("option", { value, text, selected: String(value) === String(chosen) });
    const select = element("select", {}, ...options.map(option));
    select.addEventListener("change", () => change(select.value));
    return element("label", {}, label, element("br"), select);
}

/**
* A figure. `state` holds the values of its controls. `show(state)` returns `{ chart, columns, rows, note }`, where `chart`
* may be a sentence that explains why there is no chart. `controls(state, set)` returns elements.
*/
function figure(title, state, show, controls = () => []) {
    const note = element("p", { class: "note" });
    const place = element("div", { class: "chart" }, element("div", { class: "canvas" }));
    const table = element("div");
    const heading = element("h4", { text: title });
    let drawn = null;
    const render = (anew) => {
        if (drawn && !anew) return;
        drawn?.destroy?.();
        const shown = show(state);
        note.textContent = shown.note ?? "";
        if (typeof shown.chart === "string") {
            place.replaceChildren(element("p", { class: "empty", text: shown.chart }));
            drawn = {};
        } else {
            drawn = draw(place, shown.chart, title);
        }
        const open = table.querySelector("details")?.open;
        table.replaceChildren(foldedTable(title, shown.columns, shown.rows));
        if (open) table.querySelector("details").open = true;
    };
    const set = (changes) => {
        Object.assign(state, changes);
        render(true);
    };
    const made = controls(state, set);
    const whole = element(
        "figure",
        {},
        element("figcaption", {}, heading, note),
        made.length ? element("div", { class: "controls" }, ...made) : null,
        place,
        table,
    );
    FIGURES.set(whole, render);
    near.observe(whole);
    return whole;
}

/** Removes the figures of a part of the page that is rebuilt. */
function forget(part) {
    for (const [whole] of [...FIGURES]) {
        if (part.contains(whole)) {
            near.unobserve(whole);
            FIGURES.delete(whole);
        }
    }
    part.replaceChildren();
}
