// Files of the repository's examples, and what several tests need.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const repository = new URL("../../../", import.meta.url);

export const packageFolder = fileURLToPath(new URL("..", import.meta.url));
export const systems = ["groth16", "plonk", "fflonk"];

/** The path of a file of the repository. */
export const file = (name) => fileURLToPath(new URL(name, repository));

/** The path of a file of the small circuit. */
export const small = (name) => file(`examples/membership-small/${name}`);

/** The path of a file of the circuit whose proofs take longer. */
export const large = (name) => file(`examples/membership/${name}`);

export const bytes = (path) => new Uint8Array(readFileSync(path));
export const json = (path) => JSON.parse(readFileSync(path, "utf8"));
export const text = (path) => readFileSync(path, "utf8");

/** A logger that keeps what it is told. */
export function logger() {
    const lines = [];
    const keep = (level) => (message) => lines.push([level, message]);
    return { lines, debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") };
}

/** Makes sure that a promise is rejected by an Error of one line with this code and a message like the pattern. */
export async function refused(promise, code, pattern) {
    await assert.rejects(promise, (error) => {
        assert(error instanceof Error);
        assert.equal(error.code, code, error.message);
        assert.match(error.message, pattern);
        assert(!error.message.includes("\n"), error.message);
        return true;
    });
}
