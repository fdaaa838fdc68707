// Tests of the page at `/` and of `/docs` in headless Chromium, against a server in a folder of its own. Environment: PROOFMILL, the program;
// proofmill-server lies next to it.
import assert from "node:assert";
import { spawn, execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { createRequire } from "node:module";

// Found by NODE_PATH, which import does not look at.
const { chromium } = createRequire(import.meta.url)("playwright-core");
const proofmill = process.env.PROOFMILL;
const example = path.resolve(import.meta.dirname, "../../../../examples/membership-small");
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "proofmill-page-"));
let server, browser, address, page;
const problems = [], outside = [];

function run(...words) {
  const options = { encoding: "utf8", env: { ...process.env, PROOFMILL_DATA: folder, PROOFMILL_SERVER: address } };
  return execFileSync(proofmill, words, options);
}

before(async () => {
  server = spawn(`${proofmill}-server`, ["serve", "--data", folder, "--listen", "127.0.0.1:0", "--price", "0.5"],
    { stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", piece => {
      const found = /http:\/\/[0-9.]+:[0-9]+/.exec(text += piece);
      if (found) resolve(found[0]);
    });
    server.on("exit", status => reject(new Error(`the server ended with status ${status}`)));
  });
  browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  page = await browser.newPage();
  page.on("pageerror", error => problems.push(error.message));
  page.on("console", message => { if (message.type() === "error") problems.push(message.text()); });
  page.on("request", request => { if (!request.url().startsWith(address)) outside.push(request.url()); });
});

after(async () => {
  await browser?.close();
  server?.kill("SIGTERM");
  fs.rmSync(folder, { recursive: true, force: true });
});

test("without a token the page shows nothing, with a wrong one it says so", async () => {
  await page.goto(address);
  assert(await page.locator("#enter").isVisible());
  assert(!await page.locator("main").isVisible());
  await page.fill("#token", `proofmill_${"0".repeat(64)}`);
  await page.click("#enter button");
  await page.getByText("the server does not know this token").waitFor();
  assert(!await page.locator("main").isVisible());
  // The browser reports the answers 401 to all three requests, some of them later.
  while (problems.length < 3) await page.waitForTimeout(20);
  for (const problem of problems.splice(0)) assert.match(problem, /401/);
});

test("the page shows worker, queue and jobs", async () => {
  run("keys", "add", path.join(example, "groth16.zkey"), "--name", "circuit");
  const token = fs.readFileSync(path.join(folder, "token"), "utf8").trim();
  await page.fill("#token", token);
  await page.click("#enter button");
  await page.locator("#workers tbody tr td").nth(3).waitFor();
  assert.match(await page.locator("#workers tbody tr").innerText(), /0\.5/);
  const submit = (...words) => run("jobs", "submit", "--key", "circuit", "--witness", path.join(example, "witness.wtns"), ...words);
  submit("--wait", "--out", folder);
  await page.locator("#jobs .state.done").first().waitFor();
  assert(await page.locator("#jobs .bar i").count() > 0, "phases");
  assert.match(await page.locator("#done").innerText(), /[1-9]/);
  assert.match(await page.locator("#dollar").innerText(), /[1-9]/);
  assert.match(await page.locator("#workers tbody tr td").nth(8).innerText(), /[1-9]/, "jobs per dollar of the worker");
  await page.selectOption("#state", "failed");
  await page.getByText("no jobs", { exact: true }).waitFor();
});

test("the token stays in the tab and can be forgotten", async () => {
  await page.reload();
  await page.locator("#jobs .state.done").first().waitFor();
  await page.click("#leave");
  assert(await page.locator("#enter").isVisible());
  await page.reload();
  assert(!await page.locator("main").isVisible());
});

test("the API's page shows the routes", async () => {
  await page.goto(`${address}/docs`);
  await page.getByText("/v1/jobs/{id}").first().waitFor();
});

test("nothing was asked elsewhere, and nothing went wrong", () => {
  assert.deepStrictEqual(outside, []);
  assert.deepStrictEqual(problems, []);
});
