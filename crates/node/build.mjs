// build.mjs [FOLDER]: puts the extension and the program for this platform next to this file: from a folder in which cargo has built them, such as
// target/debug, otherwise they are built now, with the profile `dist`.
import { spawnSync } from "node:child_process";
import { copyFileSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const libraries = { darwin: "libproofmill_node.dylib", win32: "proofmill_node.dll" };
const library = libraries[process.platform] ?? "libproofmill_node.so";
const program = process.platform === "win32" ? "proofmill.exe" : "proofmill";

// The folder of what cargo builds.
function build() {
    const packages = ["--package", "proofmill-node", "--package", "proofmill-cli"];
    const cargo = ["build", "--locked", "--profile", "dist", ...packages, "--message-format", "json-render-diagnostics"];
    const { status, stdout } = spawnSync("cargo", cargo, {
        cwd: folder,
        stdio: ["ignore", "pipe", "inherit"],
        maxBuffer: 1 << 28,
    });
    if (status !== 0) process.exit(status ?? 1);
    const messages = stdout.toString().trim().split("\n").map((line) => JSON.parse(line));
    return dirname(messages.find(({ executable }) => executable).executable);
}

const built = process.argv[2] ?? build();
for (const [name, kind] of [[library, "node"], [program, "program"]]) {
    const file = `${folder}proofmill.${process.platform}-${process.arch}.${kind}`;
    // A process may have loaded the file: it is replaced, not changed.
    copyFileSync(`${built}/${name}`, `${file}.new`);
    renameSync(`${file}.new`, file);
}
