// The extension for this platform, which `npm run build` makes.
"use strict";

const file = `./proofmill.${process.platform}-${process.arch}.node`;

try {
    module.exports = require(file);
} catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    throw new Error(`proofmill: ${file} is missing; "npm run build" in the package's folder makes it`, { cause: error });
}
