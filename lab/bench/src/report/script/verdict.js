// The answer at the top of the page: which machine proves fastest and cheapest, and how sure that is.

const CERTAINTY = { sure: "sure", undecided: "not decided", none: "no verdict" };

const TIMES_AS = {
    machine: "How many times as fast as",
    core: "How many times as fast as",
    dollar: "How many times the work for a dollar of",
    watt: "How many times the work for a joule of",
};

/** Names as alternatives, shortened if there are many. */
function either(names) {
    const kept = names.length > 4 ? [...names.slice(0, 3), `${names.length - 3} others`] : names;
    return kept.length < 2 ? (kept[0] ?? "") : `${kept.slice(0, -1).join(", ")} or ${kept.at(-1)}`;
}

function answerCard({ title, best, certainty, reasons }) {
    const [first, ...rest] = reasons;
    return element(
        "article",
        { class: `answer ${certainty}`, "aria-label": title },
        element("h3", { text: title }),
        element(
            "p",
            { class: "best" },
            element("strong", { text: best.length ? either(best) : "No verdict" }),
            best.length ? element("span", { class: "certainty", text: CERTAINTY[certainty] }) : null,
        ),
        first ? element("p", { text: first.replace(/^No verdict: (.)/, (_, letter) => letter.toUpperCase()) }) : null,
        ...(DATA.runs.length === 1 ? rest : [rest.join(" ")])
            .filter(Boolean)
            .map((text) => element("p", { class: DATA.runs.length === 1 ? null : "note", text })),
    );
}

/** A mean with its interval; the base's own mean is 1. */
function meanText(family, run) {
    const mean = family.means[run];
    if (!mean) return UNKNOWN;
    if (run === family.base) return "1";
    return number(mean.ratio) + (mean.interval ? ` (${interval(mean.interval, number)})` : "");
}

const noisy = (run) => run.noise.warnings.length > 0 || !run.ended;

function meanColumns(question) {
    const plain = (title, name, read, more = {}) => ({ title, text: read, csv: [[name, read]], ...more });
    const machines = question.families.some((family) => family.means.length);
    return [
        plain("Family", "family", (family) => family.title),
        plain("Of", "of", (family) => (family.suite === "prover" ? "proofs" : "kernels")),
        plain("Rows", "rows", (family) => String(family.rows), { number: true }),
        ...(machines ? DATA.runs : []).map((run, at) => ({
            title: run.name + (noisy(run) ? " (noisy run)" : ""),
            number: true,
            text: (family) => meanText(family, at),
            csv: [
                [run.name, (family) => family.means[at]?.ratio ?? ""],
                [`${run.name} low`, (family) => family.means[at]?.interval?.[0] ?? ""],
                [`${run.name} high`, (family) => family.means[at]?.interval?.[1] ?? ""],
            ],
        })),
        plain("Best", "best", (family) => either(family.best) || "no verdict"),
        plain("How sure", "certainty", (family) => CERTAINTY[family.certainty]),
        plain("Lead over the next", "lead", (family) => family.lead),
    ];
}

/** Tables of the geometric means by family, for the question that the reader selects. */
function meanTables(questions) {
    const usable = questions.filter((question) => question.families.length);
    if (usable.length === 0) return [];
    const place = element("div", { class: "means" });
    const build = (metric) => {
        const question = usable.find((one) => one.metric === metric);
        const title = `${question.title}: geometric means by family`;
        const base = question.families[0].base;
        const words =
            base === null || base === undefined
                ? ""
                : `${TIMES_AS[metric]} ${DATA.runs[base].name}, with ${Math.round(100 * DATA.confidence)} % intervals; more is better.`;
        const table = foldedTable(title, meanColumns(question), question.families);
        BUILDERS.get(table)();
        table.open = true;
        place.replaceChildren(element("p", { class: "note", text: words }), table);
    };
    const titles = usable.map((question) => [question.metric, question.title]);
    build(usable[0].metric);
    return [
        element("h3", { text: "Family by family" }),
        usable.length > 1
            ? element("div", { class: "controls" }, choice("Compared", titles, usable[0].metric, build))
            : null,
        place,
    ];
}

/** An amount of dollars, for as many proofs as give a readable number. */
function dollars(value) {
    const amounts = [
        [1, ""],
        [1e3, " a thousand"],
        [1e6, " a million"],
        [1e9, " a billion"],
    ];
    const [factor, word] = amounts.find(([factor]) => value * factor >= 0.01) ?? amounts.at(-1);
    return `$${number(value * factor)}${word}`;
}

/** The cost of the largest works on each machine. */
function costTable(costs) {
    if (costs.length === 0) return [];
    const write = (price) =>
        [
            seconds(price.seconds),
            price.joules ? quantity(price.joules, "J") : null,
            price.dollars ? dollars(price.dollars) : null,
            price.by || null,
        ]
            .filter(Boolean)
            .join(", ");
    const columns = [
        { title: "Family", text: (cost) => cost.title, csv: [["family", (cost) => cost.title]] },
        COLUMNS.benchmark,
        COLUMNS.size,
        ...DATA.runs.map((run, at) => ({
            title: run.name,
            text: (cost) => (cost.by[at] ? write(cost.by[at]) : UNKNOWN),
            csv: [
                [`${run.name} seconds`, (cost) => cost.by[at]?.seconds ?? ""],
                [`${run.name} joules`, (cost) => cost.by[at]?.joules ?? ""],
                [`${run.name} dollars`, (cost) => cost.by[at]?.dollars ?? ""],
            ],
        })),
    ];
    const lacks = distinct(
        DATA.runs.flatMap((run, at) => {
            const known = costs.map((cost) => cost.by[at]).filter(Boolean);
            if (known.length === 0) return [];
            return [
                known.every((price) => price.joules) ? null : `watts of ${run.name}`,
                known.every((price) => price.dollars) ? null : `price of ${run.name}`,
            ].filter(Boolean);
        }),
    );
    const table = foldedTable("What it costs", columns, costs);
    BUILDERS.get(table)();
    table.open = true;
    const note = `The largest work of each family, done once with all threads: time, energy, price.${lacks.length ? ` Not known: ${lacks.join(", ")}.` : ""}`;
    return [element("h3", { text: "What it costs" }), element("p", { class: "note", text: note }), element("div", { class: "costs" }, table)];
}

function showAnswer() {
    const { questions, costs } = DATA.answer;
    if (questions.length === 0) return;
    bodyOf("answer").append(
        element("div", { class: "answers" }, ...questions.map(answerCard)),
        ...[...meanTables(questions), ...costTable(costs)].filter(Boolean),
    );
    section("answer").hidden = false;
    if (DATA.runs.length === 1)
        document.querySelector("h1").textContent = "How fast this machine proves, and at what cost";
}
