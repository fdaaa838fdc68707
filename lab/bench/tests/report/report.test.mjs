// report.test.mjs: tests the report in headless Chromium. PROOFMILL is the command under test, CHROMIUM a browser (default:
// Debian's), SHOTS a folder for screenshots, if wanted. playwright-core is found through NODE_PATH.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { runs } from "./runs.mjs";

// Unlike `import`, `require` searches NODE_PATH.
const require = createRequire(import.meta.url);
const { chromium } = require("playwright-core");

const folder = mkdtempSync(join(tmpdir(), "proofmill-report-"));
const machines = runs();
const [epyc, xeon, graviton] = machines;
let browser;

/** Makes a page of runs; returns its path. */
function report(name, wanted, ...options) {
    const files = wanted.map((run, at) => {
        const file = join(folder, `${name}-${at}.json`);
        writeFileSync(file, JSON.stringify({ format: 1, runs: [run] }));
        return file;
    });
    const out = join(folder, `${name}.html`);
    execFileSync(process.env.PROOFMILL, ["bench", "report", ...files, "--out", out, ...options], { stdio: "pipe" });
    return out;
}

/** Opens a page and draws all of it; checks that there are no errors and no requests other than for the page. */
async function visit(file, look, { width = 1280, colorScheme = "light" } = {}) {
    const context = await browser.newContext({
        viewport: { width, height: 900 },
        colorScheme,
        acceptDownloads: true,
    });
    const page = await context.newPage();
    const complaints = [];
    const address = pathToFileURL(file).href;
    page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => complaints.push(error.stack));
    page.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
    page.on("request", (request) => {
        if (request.url() !== address && !request.url().startsWith("blob:"))
            complaints.push(`asks for ${request.url()}`);
    });
    await page.goto(address);
    await page.evaluate(() => drawAll());
    await look(page);
    assert.deepEqual(complaints, []);
    await context.close();
}

before(async () => {
    browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
        args: ["--no-sandbox", "--disable-dev-shm-usage"],
    });
});

after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
});

/** The headings of figures whose canvas is blank. */
const blankFigures = (page) =>
    page.evaluate(() =>
        [...document.querySelectorAll("figure")]
            .filter((figure) => {
                const canvas = figure.querySelector(".chart canvas[role=img]");
                if (!canvas) return !figure.querySelector(".empty");
                const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                const colours = new Set();
                for (let at = 0; at < data.length; at += 4) {
                    if (data[at + 3] === 255) colours.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
                }
                return colours.size < 4;
            })
            .map((figure) => figure.querySelector("h4").textContent),
    );

const figureOf = (page, title, within = "main") =>
    page.locator(`${within} figure`).filter({ has: page.locator("h4", { hasText: new RegExp(`^${title}$`) }) });

/** Parses CSV (RFC 4180) into objects by column. */
function parsed(text) {
    const records = [[""]];
    let quoted = false;
    for (let at = 0; at < text.length; at += 1) {
        const letter = text[at];
        const record = records.at(-1);
        if (quoted && letter === '"' && text[at + 1] === '"') {
            record[record.length - 1] += '"';
            at += 1;
        } else if (letter === '"') quoted = !quoted;
        else if (!quoted && letter === ",") record.push("");
        else if (!quoted && letter === "\r" && text[at + 1] === "\n") {
            records.push([""]);
            at += 1;
        } else record[record.length - 1] += letter;
    }
    assert.deepEqual(records.pop(), [""], "the last line ends");
    const [heads, ...rows] = records;
    return rows.map((row) => {
        assert.equal(row.length, heads.length);
        return Object.fromEntries(heads.map((head, at) => [head, row[at]]));
    });
}

/** The contents of the file that the download button of a figure or an article saves. */
async function downloaded(page, place) {
    const details = place.locator("> details, > div > details").last();
    if (!(await details.evaluate((details) => details.open))) await details.locator("summary").click();
    const [download] = await Promise.all([
        page.waitForEvent("download"),
        details.getByRole("button", { name: /^Download CSV/ }).click(),
    ]);
    return { name: download.suggestedFilename(), rows: parsed(readFileSync(await download.path(), "utf8")) };
}

function median(values) {
    const sorted = values.toSorted((left, right) => left - right);
    const half = sorted.length / 2;
    return sorted.length % 2 ? sorted[Math.floor(half)] : (sorted[half - 1] + sorted[half]) / 2;
}

/** A run's measurement of a program. */
const program = (run, benchmark, threads) =>
    run.measurements.find(
        ({ row }) => row.suite === "platform" && row.benchmark === benchmark && row.threads === threads,
    ).outcome;

/** The speed-up of `other` over `base`. */
const faster = (base, other) => median(base.seconds.flatMap((slow) => other.seconds.map((fast) => slow / fast)));

function near(found, expected) {
    const value = Number(found);
    assert.ok(Math.abs(value / expected - 1) < 1e-9, `expected ${expected}, found ${found}`);
}

test("draws every chart, and names doubtful and missing figures", async () => {
    const file = report("three", machines);
    await visit(file, async (page) => {
        assert.deepEqual(await blankFigures(page), []);
        const titles = await page.locator("figure h4").allTextContents();
        for (const title of [
            "Levels and peers side by side",
            "Scaling with threads",
            "Time by size",
            "Where the time goes",
            "Time against memory",
        ]) {
            assert.ok(titles.includes(title), title);
        }
        const doubtful = await page.locator("#warnings").innerText();
        for (const warning of xeon.noise.warnings) assert.ok(doubtful.includes(`${xeon.label}: ${warning}`));
        const text = await page.locator("main").innerText();
        assert.ok(text.includes("gnark-crypto (bn254 2¹⁰): not installed: apt-get install golang"));
        assert.ok(text.includes("failed: the runner ended before it was ready"));
        assert.ok(text.includes("not installed: apt-get install luajit"));
        for (const machine of machines) assert.ok(text.includes(machine.machine.cpu));
    });
});

/** A machine's fastest proofs on all threads, by family and size. */
function proofs(run) {
    const fastest = new Map();
    for (const { row, outcome } of run.measurements) {
        if (row.suite !== "prover" || row.threads !== run.machine.threads) continue;
        const key = JSON.stringify([row.family, row.benchmark, row.size]);
        const known = fastest.get(key);
        if (!known || median(outcome.seconds) < median(known.seconds)) fastest.set(key, { ...outcome, family: row.family });
    }
    return fastest;
}

const geometricMean = (values) => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

/** The geometric mean of the speed-ups of `other` over `base` in a family of proofs. */
function familyMean(base, other, family) {
    const [slow, fast] = [proofs(base), proofs(other)];
    const keys = [...slow.keys()].filter((key) => slow.get(key).family === family);
    return geometricMean(keys.map((key) => faster(slow.get(key), fast.get(key))));
}

const card = (page, title) => page.locator("#answer article").filter({ has: page.locator("h3", { hasText: title }) });

test("answers the question of its title first", async () => {
    await visit(join(folder, "three.html"), async (page) => {
        assert.equal(await page.locator("h1").innerText(), "Which machine proves fastest and cheapest");
        assert.equal(await page.locator("main > section:not([hidden])").first().getAttribute("id"), "answer");
        const fastest = await card(page, "Fastest machine").innerText();
        const lead = geometricMean(["groth16", "plonk"].map((family) => familyMean(graviton, epyc, family)));
        assert.ok(fastest.includes(`${epyc.label} is surely the fastest: ${lead.toFixed(2)} times`), fastest);
        assert.ok(fastest.includes(`Not judged: ${xeon.label}: its run was noisy`), fastest);
        assert.equal(await card(page, "Fastest machine").locator(".certainty").innerText(), "sure");
        const dollars = await card(page, "Cheapest per dollar").innerText();
        const prices = graviton.price.dollars_per_hour / epyc.price.dollars_per_hour;
        assert.ok(dollars.includes(`${(lead * prices).toFixed(2)} times the work for a dollar of Graviton4`), dollars);
        // One run with watts is noisy, the other machine has none.
        const watts = await card(page, "Cheapest per watt").innerText();
        assert.ok(watts.includes("No verdict") && watts.includes("Graviton4 (watts not measured)"), watts);

        const table = async () => (await downloaded(page, page.locator("#answer .means"))).rows;
        let rows = await table();
        for (const [at, family] of ["groth16", "plonk"].entries()) {
            near(rows[at][graviton.label], familyMean(epyc, graviton, family));
            near(rows[at][epyc.label], 1);
            assert.deepEqual([rows[at].best, rows[at].certainty], [epyc.label, "sure"]);
        }
        assert.ok(Number(rows[0][`${graviton.label} low`]) <= rows[0][graviton.label]);
        await page.locator("#answer").getByText("Cheapest per dollar", { exact: true }).last().click();
        rows = await table();
        near(rows[0][graviton.label], familyMean(epyc, graviton, "groth16") / prices);
        // The definitions' targets are not part of the report.
        assert.ok(!(await page.locator("body").innerText()).includes("To be reached"));
    });
});

test("gives noisy runs no verdict", async () => {
    await visit(report("noisy", [epyc, xeon]), async (page) => {
        for (const title of ["Fastest machine", "Cheapest per dollar", "Cheapest per watt", "Fastest on one thread"]) {
            const text = await card(page, title).innerText();
            assert.ok(text.includes("No verdict") && text.includes(`The run of ${xeon.label} was noisy`), text);
            assert.ok(!text.includes("surely"), text);
        }
    });
});

test("names the fastest level of a single machine, and its cost", async () => {
    await visit(report("single-machine", [epyc]), async (page) => {
        assert.equal(await page.locator("h1").innerText(), "How fast this machine proves, and at what cost");
        const fastest = card(page, "Fastest level and number of threads");
        assert.equal(await fastest.locator(".best strong").innerText(), "avx512ifma with 96 threads");
        assert.equal(await fastest.locator(".certainty").innerText(), "sure");
        const { rows } = await downloaded(page, page.locator("#answer .costs"));
        const key = JSON.stringify(["groth16", "sha256-chain", 2 ** 18]);
        const { seconds, watts } = proofs(epyc).get(key);
        assert.deepEqual([rows[0].benchmark, rows[0].size], ["sha256-chain", String(2 ** 18)]);
        near(rows[0][`${epyc.label} seconds`], median(seconds));
        near(rows[0][`${epyc.label} joules`], median(seconds) * watts);
        near(rows[0][`${epyc.label} dollars`], (median(seconds) * epyc.price.dollars_per_hour) / 3600);
    });
});

test("switches show the calculated values", async () => {
    const file = join(folder, "three.html");
    await visit(file, async (page) => {
        const openssl = figureOf(page, "openssl.*|.*OpenSSL.*", "#compared");
        const shown = () =>
            openssl
                .locator(".chart canvas[role=img]")
                .evaluate((canvas) => Chart.getChart(canvas).data.datasets.map((one) => one.data[0]));
        const all = (run) => program(run, "rsa2048-sign", run.machine.threads);
        const one = (run) => program(run, "rsa2048-sign", 1);
        const table = async () =>
            (await downloaded(page, openssl)).rows.find((row) => row.benchmark === "rsa2048-sign");
        const choose = (name) => page.locator("#compared").getByText(name, { exact: true }).click();

        // Per machine, relative to the first.
        let row = await table();
        near(row[epyc.label], 1);
        near(row[xeon.label], faster(all(epyc), all(xeon)));
        near((await shown())[1], faster(all(epyc), all(xeon)));
        assert.ok(
            Number(row[`${xeon.label} low`]) < row[xeon.label] && row[xeon.label] < Number(row[`${xeon.label} high`]),
        );

        await choose("Per core");
        near((await table())[graviton.label], faster(one(epyc), one(graviton)));
        near((await shown())[2], faster(one(epyc), one(graviton)));

        await choose("Per watt");
        row = await table();
        near(row[xeon.label], (faster(all(epyc), all(xeon)) * all(epyc).watts) / all(xeon).watts);
        assert.equal(row[graviton.label], "watts not measured");
        // Machines without figures are not in the legend.
        assert.equal((await shown()).length, 2);
        const names = await openssl.locator(".legend button").allTextContents();
        assert.deepEqual(names, [epyc.label, xeon.label]);

        await choose("Per dollar");
        near(
            (await table())[graviton.label],
            (faster(all(epyc), all(graviton)) * epyc.price.dollars_per_hour) / graviton.price.dollars_per_hour,
        );

        await page.getByLabel("Normalised to").selectOption({ label: graviton.label });
        near(
            (await table())[epyc.label],
            (faster(all(graviton), all(epyc)) * graviton.price.dollars_per_hour) / epyc.price.dollars_per_hour,
        );
        await choose("Per watt");
        assert.equal((await table())[epyc.label], `watts not measured on ${graviton.label}`);
        assert.equal(await openssl.locator(".chart canvas[role=img]").count(), 0);

        await page.getByLabel("Normalised to").selectOption("none");
        await choose("Per machine");
        row = await table();
        near(row[epyc.label], all(epyc).amount / median(all(epyc).seconds));
        assert.equal(row.unit, "signatures/s");
        await choose("Per dollar");
        near(
            (await table())[xeon.label],
            ((all(xeon).amount / median(all(xeon).seconds)) * 3600) / xeon.price.dollars_per_hour,
        );
        await choose("Per watt");
        near((await table())[xeon.label], all(xeon).amount / median(all(xeon).seconds) / all(xeon).watts);
    });
});

test("downloads the figures that were measured", async () => {
    await visit(join(folder, "three.html"), async (page) => {
        const article = page
            .locator("#kernels article")
            .filter({ has: page.locator("h3", { hasText: /^msm|multi-scalar/i }) });
        const { name, rows } = await downloaded(page, article);
        assert.match(name, /^proofmill-[a-z0-9-]+\.csv$/);
        const measured = epyc.measurements.filter(({ row }) => row.family === "msm");
        assert.equal(rows.length, measured.length);
        for (const [at, { row, outcome }] of measured.entries()) {
            assert.equal(rows[at].benchmark, row.benchmark);
            assert.equal(rows[at].implementation, row.implementation);
            assert.equal(rows[at].threads, String(row.threads));
            assert.equal(rows[at].status, outcome.status);
            if (outcome.status === "measured") {
                near(rows[at].median_seconds, median(outcome.seconds));
                near(rows[at].min_seconds, Math.min(...outcome.seconds));
                assert.equal(rows[at].samples, String(outcome.seconds.length));
                // Values that were not measured are empty, not 0.
                assert.equal(rows[at].watts, outcome.watts === undefined ? "" : String(outcome.watts));
            } else {
                assert.equal(rows[at].note, outcome.reason);
                assert.equal(rows[at].median_seconds, "");
            }
        }
        const text = await article.locator("> details").innerText();
        assert.ok(text.includes("not measured"));
    });
});

test("shows one machine at a time, and rates or speed-ups", async () => {
    await visit(join(folder, "three.html"), async (page) => {
        await page.locator("#kernels").getByLabel("Machine").selectOption({ label: graviton.label });
        await page.evaluate(() => drawAll());
        assert.deepEqual(await blankFigures(page), []);
        const levels = page.locator("#kernels article").first().locator("figure").first();
        const series = () =>
            levels
                .locator(".chart canvas[role=img]")
                .evaluate((canvas) =>
                    Chart.getChart(canvas).data.datasets.map(({ label, data }) => [label, data[0]]),
                );
        const before = new Map(await series());
        assert.ok(before.has("sve2") && !before.has("avx2"));
        await levels.getByText("Speed-up", { exact: true }).click();
        const speedUps = new Map(await series());
        assert.equal(speedUps.get("portable"), 1);
        assert.ok(Math.abs(speedUps.get("sve2") / (before.get("sve2") / before.get("portable")) - 1) < 0.02);
        const button = levels.locator(".legend button").first();
        await button.click();
        assert.equal(await button.getAttribute("aria-pressed"), "false");
        assert.equal(
            await levels
                .locator(".chart canvas[role=img]")
                .evaluate((canvas) => Chart.getChart(canvas).isDatasetVisible(0)),
            false,
        );
    });
});

test("is reached and read by keyboard", async () => {
    await visit(join(folder, "single-machine.html"), async (page) => {
        const wanted = await page.evaluate(() => {
            // A group of radio buttons is one tab stop; elements in closed details are none.
            const groups = new Set();
            const all = document.querySelectorAll("a[href], button, select, input, summary, [tabindex='0']");
            return [...all].filter(
                (one) =>
                    one.checkVisibility() &&
                    (one.type !== "radio" || (!groups.has(one.name) && groups.add(one.name))),
            ).length;
        });
        await page.evaluate(() => {
            window.stops = new Set();
        });
        for (let at = 0; at < wanted + 2; at += 1) {
            await page.keyboard.press("Tab");
            const bad = await page.evaluate(() => {
                const one = document.activeElement;
                if (one === document.body) return null;
                window.stops.add(one.type === "radio" ? one.name : one);
                const shown = one.type === "radio" ? one.nextElementSibling : one;
                const style = getComputedStyle(shown);
                return style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2
                    ? one.outerHTML.slice(0, 200)
                    : null;
            });
            assert.equal(bad, null, "its focus is visible");
        }
        assert.equal(await page.evaluate(() => window.stops.size), wanted);

        const canvas = page.locator("#proofs .chart canvas[role=img]").first();
        await canvas.focus();
        await page.keyboard.press("ArrowRight");
        const first = await page.locator("#announcer").textContent();
        assert.match(first, /portable: .*95 %: .* – /);
        await page.keyboard.press("End");
        assert.notEqual(await page.locator("#announcer").textContent(), first);
        assert.match(await canvas.getAttribute("aria-label"), /the table below/);

        const summary = page.locator("#proofs figure summary").first();
        await summary.focus();
        await page.keyboard.press("Enter");
        await page.locator("#proofs figure").first().locator("td").first().waitFor();
        await page.locator("#compared input:checked").focus();
        await page.keyboard.press("ArrowRight");
        assert.equal(await page.locator("#compared input:checked").inputValue(), "watt");
    });
});

test("fits a phone", async () => {
    for (const colorScheme of ["light", "dark"]) {
        await visit(
            join(folder, "three.html"),
            async (page) => {
                const widest = () => page.evaluate(() => document.documentElement.scrollWidth);
                assert.equal(await widest(), 360);
                await page.evaluate(() =>
                    document.querySelectorAll("details").forEach((details) => (details.open = true)),
                );
                await page.waitForFunction(() =>
                    [...document.querySelectorAll("details > .scroll")].every((place) => place.childElementCount > 0),
                );
                assert.equal(await widest(), 360);
                // Tables fit the width: nothing is cut off at the side.
                const cut = await page.evaluate(() =>
                    [...document.querySelectorAll("table td, table tbody th")]
                        .filter((cell) => {
                            const { left, right, width } = cell.getBoundingClientRect();
                            return width > 0 && (left < 0 || right > 360 || cell.scrollWidth > cell.clientWidth + 1);
                        })
                        .map((cell) => cell.outerHTML.slice(0, 120)),
                );
                assert.deepEqual(cut, []);
                // Controls are large enough for fingers.
                const small = await page.evaluate(() =>
                    [...document.querySelectorAll("button, select, .switch span, summary")]
                        .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 24)
                        .map((one) => one.outerHTML.slice(0, 80)),
                );
                assert.deepEqual(small, []);
            },
            { width: 360, colorScheme },
        );
    }
});

test("is light or dark as the system or the reader chooses", async () => {
    const file = join(folder, "three.html");
    const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const ink = (page) =>
        page
            .locator("#proofs .chart canvas[role=img]")
            .first()
            .evaluate((canvas) => Chart.getChart(canvas).options.scales.y.ticks.color);
    const lightness = (colour) =>
        colour
            .match(/\d+/g)
            .slice(0, 3)
            .reduce((sum, part) => sum + Number(part), 0);
    await visit(file, async (page) => {
        assert.ok(lightness(await ground(page)) > 600);
        assert.ok(lightness(await ink(page)) < 300);
        await page.locator("#theme").click();
        assert.equal(await page.locator("#theme").innerText(), "Theme: light");
        await page.locator("#theme").click();
        assert.ok(lightness(await ground(page)) < 150);
        assert.ok(lightness(await ink(page)) > 450);
        await page.reload();
        assert.ok(lightness(await ground(page)) < 150, "it is remembered");
    });
    await visit(file, async (page) => assert.ok(lightness(await ground(page)) < 150), { colorScheme: "dark" });
});

test("prints with its tables open", async () => {
    await visit(join(folder, "single-machine.html"), async (page) => {
        const pdf = await page.pdf({ format: "A4" });
        assert.ok(pdf.length > 50000);
        await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
        assert.equal(await page.locator("figure details:not([open])").count(), 0);
        assert.ok(
            await page.evaluate(() =>
                [...document.querySelectorAll("figure table")].every((table) => table.rows.length > 1),
            ),
        );
        await page.evaluate(() => dispatchEvent(new Event("afterprint")));
        assert.equal(await page.locator("figure details[open]").count(), 0);
    });
});

test("shows hostile text as text", async () => {
    const hostile = `</script><img src=x onerror=alert(1)>"'&amp;{{script}}`;
    const run = structuredClone(epyc);
    run.label = hostile;
    run.machine.cpu = hostile;
    run.noise.warnings = [hostile];
    run.command = [hostile];
    run.measurements = run.measurements.slice(0, 40);
    for (const { row, outcome } of run.measurements) {
        row.benchmark += hostile;
        row.family = `=${hostile}`;
        if (row.implementation === "arkworks") row.implementation = hostile;
        outcome.unit = hostile;
    }
    run.measurements.push({
        row: { ...run.measurements[0].row, implementation: "=1+1" },
        ended: run.began,
        outcome: { status: "failed", reason: hostile },
    });
    await visit(report("hostile", [run, xeon]), async (page) => {
        assert.equal(await page.locator("img").count(), 0);
        assert.ok((await page.locator("#warnings").innerText()).includes(hostile));
        assert.deepEqual(await blankFigures(page), []);
        const { rows } = await downloaded(page, page.locator("#kernels article").first());
        assert.equal(rows.at(-1).note, hostile);
        assert.equal(rows.at(-1).implementation, "'=1+1", "no formula");
    });
});

test("handles no rows, one row and thousands", async () => {
    await visit(report("nothing", [{ ...epyc, measurements: [], ended: undefined }]), async (page) => {
        assert.equal(await page.locator("section:not(#model) figure").count(), 0);
        assert.ok((await page.locator("#lead").innerText()).startsWith("0 measured rows"));
        assert.ok((await page.locator("#warnings").innerText()).includes("did not end"));
    });
    const lone = structuredClone(epyc.measurements.find(({ row }) => row.implementation === "avx2"));
    lone.outcome.seconds = [0.25];
    await visit(report("lone", [{ ...epyc, measurements: [lone] }]), async (page) => {
        assert.deepEqual(await blankFigures(page), []);
        await page.locator("#kernels article > details summary").click();
        assert.ok((await page.locator("#kernels article > details table").innerText()).includes("too few samples"));
    });
    const many = Array.from({ length: 3000 }, (_, at) => {
        const measurement = structuredClone(lone);
        measurement.row.benchmark = `kernel-with-a-rather-long-name-${at}`;
        measurement.outcome.seconds = [1e-9, 1.1e-9].map((seconds) => seconds * (at + 1));
        return measurement;
    });
    await visit(
        report("many", [{ ...epyc, measurements: many }]),
        async (page) => {
            assert.deepEqual(await blankFigures(page), []);
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
            assert.ok((await page.locator("#kernels figure").first().innerText()).includes("the first 30 of 3,000"));
            assert.equal((await downloaded(page, page.locator("#kernels article").first())).rows.length, 3000);
        },
        { width: 360 },
    );
});

test("has screenshots", { skip: !process.env.SHOTS }, async () => {
    for (const colorScheme of ["light", "dark"]) {
        for (const width of [390, 1280]) {
            const shoot = (page) =>
                page.screenshot({ path: join(process.env.SHOTS, `${width}-${colorScheme}.png`), fullPage: true });
            await visit(join(folder, "three.html"), shoot, { width, colorScheme });
        }
    }
});
