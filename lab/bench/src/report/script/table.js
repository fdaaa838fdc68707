// Tables, and their export as CSV.

// A column has a title, a function for the text of a cell, and for CSV a name and the bare value.
const timed = (write) => (row) => (measured(row) ? write(row.figures) : "");
const bare = (read) => (row) => (measured(row) ? (read(row.figures) ?? "") : "");
const optional = (read, write) => (row) =>
    measured(row) ? (read(row) === null || read(row) === undefined ? UNKNOWN : write(read(row))) : "";

const COLUMNS = {
    machine: {
        title: "Machine",
        text: (row) => DATA.runs[row.run].name,
        csv: [["machine", (row) => DATA.runs[row.run].name]],
    },
    benchmark: { title: "Benchmark", text: (row) => row.benchmark, csv: [["benchmark", (row) => row.benchmark]] },
    size: { title: "Size", number: true, text: sizeOf, csv: [["size", (row) => row.size ?? ""]] },
    implementation: {
        title: "Implementation",
        text: (row) => (row.version ? `${row.implementation} ${row.version}` : row.implementation),
        csv: [
            ["implementation", (row) => row.implementation],
            ["version", (row) => row.version ?? ""],
        ],
    },
    threads: {
        title: "Threads",
        number: true,
        text: (row) => String(row.threads),
        csv: [["threads", (row) => row.threads]],
    },
    median: {
        title: "Median",
        number: true,
        text: (row) => (measured(row) ? seconds(row.figures.seconds.median) : outcome(row)),
        csv: [
            ["status", (row) => row.status],
            ["note", (row) => row.note],
            ["median_seconds", bare((figures) => figures.seconds.median)],
        ],
    },
    interval: {
        title: `${Math.round(100 * DATA.confidence)} % interval`,
        number: true,
        text: timed((figures) => interval(figures.seconds.interval, seconds)),
        csv: [
            ["low_seconds", bare((figures) => figures.seconds.interval?.[0])],
            ["high_seconds", bare((figures) => figures.seconds.interval?.[1])],
        ],
    },
    mad: {
        title: "MAD",
        number: true,
        text: timed((figures) => seconds(figures.seconds.mad)),
        csv: [["mad_seconds", bare((figures) => figures.seconds.mad)]],
    },
    min: {
        title: "Min",
        number: true,
        text: timed((figures) => seconds(figures.seconds.min)),
        csv: [["min_seconds", bare((figures) => figures.seconds.min)]],
    },
    samples: {
        title: "n",
        number: true,
        text: timed((figures) => String(figures.seconds.count)),
        csv: [["samples", bare((figures) => figures.seconds.count)]],
    },
    clock: {
        title: "Clock",
        text: timed((figures) => (figures.clock === "cpu" ? "CPU" : "wall")),
        csv: [["clock", bare((figures) => figures.clock)]],
    },
    rate: {
        title: "Rate",
        number: true,
        text: (row) => (measured(row) ? quantity(rate(row), `${row.figures.unit}/s`) : ""),
        csv: [
            ["units_per_second", (row) => (measured(row) ? rate(row) : "")],
            ["unit", bare((figures) => figures.unit)],
        ],
    },
    watts: {
        title: "Watts",
        number: true,
        text: optional((row) => row.figures.watts, number),
        csv: [["watts", bare((figures) => figures.watts)]],
    },
    perWatt: {
        title: "Per watt",
        number: true,
        text: optional(perWatt, (value) => quantity(value, "/J")),
        csv: [["units_per_joule", (row) => (measured(row) ? (perWatt(row) ?? "") : "")]],
    },
    perDollar: {
        title: "Per dollar",
        number: true,
        text: optional(perDollar, (value) => quantity(value, "/$")),
        csv: [["units_per_dollar", (row) => (measured(row) ? (perDollar(row) ?? "") : "")]],
    },
    cycles: {
        title: "Cycles",
        number: true,
        text: optional(
            (row) => row.figures.cycles,
            (value) => quantity(value, ""),
        ),
        csv: [["cycles", bare((figures) => figures.cycles)]],
    },
    instructions: {
        title: "Instructions",
        number: true,
        text: optional(
            (row) => row.figures.instructions,
            (value) => quantity(value, ""),
        ),
        csv: [["instructions", bare((figures) => figures.instructions)]],
    },
    memory: {
        title: "Peak memory",
        number: true,
        text: optional((row) => row.figures.peak_memory, bytes),
        csv: [["peak_memory_bytes", bare((figures) => figures.peak_memory)]],
    },
    bytesOut: {
        title: "Bytes out",
        number: true,
        text: timed((figures) => (figures.bytes_out ?? "").toLocaleString("en-GB")),
        csv: [["bytes_out", bare((figures) => figures.bytes_out)]],
    },
};

const WORK = ["benchmark", "size", "implementation", "threads"].map((name) => COLUMNS[name]);
const TIMES = ["median", "interval", "mad", "min", "samples", "clock"].map((name) => COLUMNS[name]);
const EVERYTHING = [
    ...WORK,
    ...TIMES,
    ...["rate", "watts", "perWatt", "perDollar", "cycles", "instructions", "memory", "bytesOut"].map(
        (name) => COLUMNS[name],
    ),
];

/** A column with a ratio and its interval; `read` returns `{ratio, interval}` or nothing. */
function ratioColumn(title, name, read) {
    const write = (ratio) =>
        ratio
            ? times(ratio.ratio) +
              (ratio.interval ? ` (${number(ratio.interval[0])} – ${number(ratio.interval[1])})` : "")
            : "";
    return {
        title,
        number: true,
        text: (row) => write(read(row)),
        csv: [
            [name, (row) => read(row)?.ratio ?? ""],
            [`${name}_low`, (row) => read(row)?.interval?.[0] ?? ""],
            [`${name}_high`, (row) => read(row)?.interval?.[1] ?? ""],
        ],
    };
}

/** CSV (RFC 4180). An apostrophe precedes text that a spreadsheet would take for a formula. */
function csv(columns, rows) {
    const cell = (value) => {
        const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
        return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const fields = columns.flatMap((column) => column.csv);
    const lines = [fields.map(([name]) => name), ...rows.map((row) => fields.map(([, read]) => read(row)))];
    return lines.map((line) => line.map(cell).join(",") + "\r\n").join("");
}

function download(name, text) {
    const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    const link = element("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    // Some browsers read the address after the click has returned.
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

const fileName = (title) =>
    `proofmill ${title}`
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-|-$/g, "") + ".csv";

// Narrow windows show a row as a block with a heading for each cell; roles keep it accessible as a table.
const TABLE = { role: "table" };
const LINE = { role: "row" };
const GROUP = { role: "rowgroup" };

function tableElement(title, columns, rows) {
    const heads = columns.map((column) =>
        element("th", {
            scope: "col",
            role: "columnheader",
            text: column.title,
            class: column.number ? "number" : null,
        }),
    );
    const line = (row) =>
        element(
            "tr",
            LINE,
            ...columns.map((column) => {
                const unmeasured = column === COLUMNS.median && !measured(row);
                return element("td", {
                    role: "cell",
                    "data-title": column.title,
                    text: column.text(row),
                    class: unmeasured ? row.status : column.number ? "number" : null,
                });
            }),
        );
    const body = element("tbody", GROUP, ...rows.map(line));
    return element(
        "table",
        TABLE,
        element("caption", { text: title }),
        element("thead", GROUP, element("tr", LINE, ...heads)),
        body,
    );
}

/** Functions that fill folded tables; used for printing. */
const BUILDERS = new WeakMap();

/** A folded table with a download button. It is built when it is first opened or printed: there may be thousands of rows. */
function foldedTable(title, columns, rows, words = `Table, ${count(rows.length, "row")}`) {
    const place = element("div", {
        class: rows.length > 14 ? "scroll tall" : "scroll",
        role: "region",
        "aria-label": `Table: ${title}`,
        tabindex: "0",
    });
    const build = () => place.childElementCount === 0 && place.append(tableElement(title, columns, rows));
    const details = element(
        "details",
        { toggle: () => details.open && build() },
        element("summary", { text: words }),
        element(
            "p",
            { class: "download" },
            element("button", {
                type: "button",
                text: "Download CSV",
                "aria-label": `Download CSV: ${title}`,
                click: () => download(fileName(title), csv(columns, rows)),
            }),
        ),
        place,
    );
    BUILDERS.set(details, build);
    return details;
}
