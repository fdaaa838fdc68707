#!/usr/bin/env node
// The command `proofmill`: the program for this platform, with the same arguments, streams and exit status.
const { spawnSync } = require("node:child_process");
const { constants } = require("node:os");
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const program = join(__dirname, `proofmill.${process.platform}-${process.arch}.program`);
if (!existsSync(program)) {
    console.error(`proofmill: this package has no program for ${process.platform} on ${process.arch}: build it by \`npm run build\` in crates/node`);
    process.exit(2);
}
// A signal of the terminal reaches the program, too, which then ends by itself.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (error) console.error(`proofmill: ${program}: ${error.message}`);
process.exitCode = status ?? (signal ? 128 + constants.signals[signal] : 2);
