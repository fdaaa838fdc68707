// Assembles the page.

const section = (name) => document.getElementById(name);
const bodyOf = (name) => section(name).querySelector(".body");

function showDoubts() {
    const found = doubts();
    if (found.length === 0) return;
    const line = ([name, sentence]) => element("li", {}, element("strong", { text: name }), `: ${sentence}`);
    section("warnings")
        .querySelector("ul")
        .append(...found.map(line));
    section("warnings").hidden = false;
}

function showLead() {
    const timed = DATA.rows.filter(measured).length;
    const machines = count(DATA.runs.length, "run");
    section("lead").textContent =
        DATA.runs.length === 0
            ? "This report has no runs."
            : `${count(timed, "measured row")} of ${machines}: ${DATA.runs.map((run) => run.name).join(", ")}.`;
}

/** The comparisons of all families: programs always, Proofmill's work if there are several machines. */
function showComparisons() {
    const several = DATA.runs.length > 1;
    const shared = { metric: "machine", base: several ? String(DATA.baseline) : "none" };
    const wanted = DATA.comparisons.filter((one) => several || one.suite === "platform");
    if (wanted.length === 0) return;
    const place = bodyOf("compared");
    const figures = element("div");
    const redraw = () => {
        for (const one of figures.querySelectorAll("figure")) FIGURES.get(one)(true);
    };
    if (wanted.every((one) => one.threads === "one")) shared.metric = "core";
    for (const [suite, title] of [
        ["prover", "Proofs"],
        ["platform", "Programs"],
        ["kernel", "Kernels"],
    ]) {
        const group = element("div", { class: "figures" });
        for (const family of DATA.families) {
            const mine = wanted.filter((one) => one.suite === suite && one.family === family.name);
            if (mine.length) group.append(comparedFigure(family.title, mine, shared));
        }
        if (group.childElementCount) figures.append(element("h3", { text: title }), group);
    }
    const note = several
        ? "Each program has its own bar; for Proofmill's kernels and proofs each machine runs its fastest level."
        : "One machine: make a report of several runs to compare machines.";
    place.append(element("p", { class: "note", text: note }), comparedControls(shared, redraw), figures);
    section("compared").hidden = false;
    if (!several) section("compared-heading").textContent = "What the machine does";
}

/** The kernels or proofs of one machine at a time. */
function showSuite(name, suite) {
    const runs = distinct(DATA.rows.filter((row) => row.suite === suite).map((row) => row.run));
    if (runs.length === 0) return;
    const place = bodyOf(name);
    const list = element("div");
    const build = (run) => {
        forget(list);
        for (const family of DATA.families) {
            const rows = DATA.rows.filter(
                (row) => row.run === run && row.suite === suite && row.family === family.name,
            );
            if (rows.length) list.append(familySection(family, rows));
        }
    };
    const first = runs.includes(DATA.baseline) ? DATA.baseline : runs[0];
    const options = runs.map((run) => [String(run), DATA.runs[run].name]);
    if (runs.length > 1)
        place.append(
            element(
                "div",
                { class: "controls" },
                selection("Machine", options, first, (run) => build(Number(run))),
            ),
        );
    else if (DATA.runs.length > 1)
        place.append(element("p", { class: "note", text: `On ${DATA.runs[first].name}.` }));
    place.append(list);
    section(name).hidden = false;
    build(first);
}

/** Tables of each machine's programs; their charts are part of the comparison. */
function showPrograms() {
    const rows = DATA.rows.filter((row) => row.suite === "platform");
    if (rows.length === 0) return;
    for (const family of DATA.families) {
        const mine = rows.filter((row) => row.family === family.name);
        if (mine.length === 0) continue;
        const threads = DATA.runs.length === 1 ? threadsFigure(mine) : null;
        bodyOf("programs").append(
            element(
                "article",
                { "aria-label": family.title },
                element("h3", { text: family.title }),
                family.input ? element("p", { class: "note", text: `Input: ${family.input}.` }) : null,
                ...DATA.runs.flatMap((run, at) => {
                    const list = absences(mine.filter((row) => row.run === at));
                    return list
                        ? [DATA.runs.length > 1 ? element("p", { class: "note", text: run.name }) : null, list]
                        : [];
                }),
                threads ? element("div", { class: "figures" }, threads) : null,
                foldedTable(
                    `${family.title}: everything`,
                    DATA.runs.length > 1 ? [COLUMNS.machine, ...EVERYTHING] : EVERYTHING,
                    mine,
                ),
            ),
        );
    }
    section("programs").hidden = false;
}

function showContents() {
    for (const heading of document.querySelectorAll("main > section:not([hidden]) > h2")) {
        section("contents").append(
            element("li", {}, element("a", { href: `#${heading.parentElement.id}`, text: heading.textContent })),
        );
    }
}

// Light, dark, or the system's theme. The choice is stored if the browser allows that for a local file.

const THEMES = ["system", "light", "dark"];
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function remembered() {
    try {
        return localStorage.getItem("proofmill-theme");
    } catch {
        return null;
    }
}

let chosenTheme = THEMES.includes(remembered()) ? remembered() : "system";

function applyTheme(shown = chosenTheme) {
    document.documentElement.dataset.theme = shown === "system" ? (prefersDark.matches ? "dark" : "light") : shown;
    section("theme").textContent = `Theme: ${chosenTheme}`;
}

/** Draws visible charts in the new theme's colours; others are drawn when they come into view. */
function redrawDrawn() {
    for (const [whole, render] of FIGURES) if (whole.querySelector(".chart canvas, .chart .empty")) render(true);
}

applyTheme();
section("theme").addEventListener("click", () => {
    chosenTheme = THEMES[(THEMES.indexOf(chosenTheme) + 1) % THEMES.length];
    try {
        localStorage.setItem("proofmill-theme", chosenTheme);
    } catch {
        // The choice is not stored.
    }
    applyTheme();
    redrawDrawn();
});
prefersDark.addEventListener("change", () => {
    applyTheme();
    redrawDrawn();
});

// For printing: the light theme, all charts, and all tables open.
let opened = [];
addEventListener("beforeprint", () => {
    applyTheme("light");
    drawAll(true);
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const details of opened) {
        BUILDERS.get(details)?.();
        details.open = true;
    }
});
addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
    applyTheme();
    redrawDrawn();
});

showLead();
showAnswer();
showDoubts();
bodyOf("machines").append(DATA.runs.length ? machineTable() : element("p", { class: "empty", text: "No runs." }));
showComparisons();
showSuite("proofs", "prover");
showSuite("kernels", "kernel");
showPrograms();
for (const projection of DATA.projections) {
    bodyOf("model").append(projectionSection(projection));
    section("model").hidden = false;
}
showContents();
