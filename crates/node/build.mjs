// build.mjs [FILE]: puts the extension for this platform next to this file: a shared library that cargo has built, otherwise one that is
// built now, with the profile `dist`.
import { spawnSync } from "node:child_process";
import { copyFileSync, renameSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));

function build() {
    const cargo = ["build", "--locked", "--profile", "dist", "--message-format", "json-render-diagnostics"];
    const { status, stdout } = spawnSync("cargo", cargo, {
        cwd: folder,
        stdio: ["ignore", "pipe", "inherit"],
        maxBuffer: 1 << 28,
    });
    if (status !== 0) process.exit(status ?? 1);
    const messages = stdout.toString().trim().split("\n").map((line) => JSON.parse(line));
    const artifact = ({ reason, target }) => reason === "compiler-artifact" && target.name === "proofmill_node";
    return messages.find(artifact).filenames[0];
}

const library = process.argv[2] ?? build();
const file = `${folder}proofmill.${process.platform}-${process.arch}.node`;
// A process may have loaded the file: it is replaced, not changed.
copyFileSync(library, `${file}.new`);
renameSync(`${file}.new`, file);
