// The examples of the documentation run.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { file, packageFolder, small, text } from "./files.mjs";

const folder = mkdtempSync(join(tmpdir(), "proofmill-node-"));
after(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, "node_modules"));
symlinkSync(packageFolder, join(folder, "node_modules/proofmill"));
copyFileSync(small("groth16.zkey"), join(folder, "circuit.zkey"));
for (const name of ["circuit.r1cs", "circuit.wasm", "input.json", "pot8.ptau", "witness.wtns"]) {
    copyFileSync(small(name), join(folder, name));
}

for (const page of ["docs/node.md", "crates/node/README.md"]) {
    test(page, async () => {
        const examples = [...text(file(page)).matchAll(/^```js\n(.*?)^```/gms)].map((match) => match[1]);
        assert(examples.length > 0);
        const options = ["--input-type=module", "--eval", examples.join("")];
        const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: folder, timeout: 120_000 });
        assert.match(stdout, /^true\n/);
        if (page.startsWith("docs")) assert.match(stdout, /\nUnsatisfied an assertion /);
    });
}
