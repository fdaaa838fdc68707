// Packages of the npm registry, in a folder that keeps them.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

export class Failure extends Error {}

export function run(program, words, options = {}) {
    const done = spawnSync(program, words, { encoding: "utf8", maxBuffer: 1 << 28, ...options });
    if (done.error) throw done.error;
    return { status: done.status, output: done.stdout + done.stderr };
}

export function succeed(program, ...words) {
    const { status, output } = run(program, words);
    if (status !== 0) throw new Failure(`${words.slice(0, 2).join(" ")}: ${summary(output)}`);
    return output;
}

// The first lines of a program's output, without colours.
export const summary = (output) => output.replaceAll(/\x1b\[[0-9;]*m/g, "").trim().split("\n").slice(0, 3).join(" ");

// A package's folder in the cache, beside those that were fetched before, or another one.
export function fetch(cache, specification, folder = undefined) {
    folder ??= join(cache, specification.replaceAll("/", "+"), "node_modules", specification.replace(/@[^@]*$/, ""));
    if (!existsSync(join(folder, "package.json"))) {
        mkdirSync(folder, { recursive: true });
        const archive = succeed("npm", "pack", specification, "--silent", "--pack-destination", cache).trim().split("\n").at(-1);
        succeed("tar", "xzf", join(cache, archive), "-C", folder, "--strip-components", "1");
        rmSync(join(cache, archive));
    }
    return folder;
}
