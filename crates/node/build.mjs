// build.mjs [CARGO_OPTION...]: builds the extension for this platform, with cargo's release profile if there are no options, and puts
// it next to this file.
import { spawnSync } from "node:child_process";
import { copyFileSync, renameSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const options = process.argv.length > 2 ? process.argv.slice(2) : ["--release"];
const cargo = ["build", "--locked", "--message-format", "json-render-diagnostics", ...options];
const { status, stdout } = spawnSync("cargo", cargo, {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 1 << 28,
});
if (status !== 0) process.exit(status ?? 1);

const messages = stdout.toString().trim().split("\n").map((line) => JSON.parse(line));
const library = messages.find(({ reason, target }) => reason === "compiler-artifact" && target.name === "proofmill_node");
const file = `${folder}proofmill.${process.platform}-${process.arch}.node`;
// A process may have loaded the file: it is replaced, not changed.
copyFileSync(library.filenames[0], `${file}.new`);
renameSync(`${file}.new`, file);
