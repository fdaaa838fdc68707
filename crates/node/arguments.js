// What snarkjs's functions accept, in the forms that the extension does.
"use strict";

// snarkjs's pages of a file of type "bigMem", in bytes.
const PAGE = 1 << 22;

// The error of an argument's value.
function invalid(message, options) {
    return Object.assign(new RangeError(message, options), { code: "ERR_INVALID_ARG_VALUE" });
}

// The error of an argument's type.
function wrong(name, expected, value) {
    const found = value === null ? "null" : Array.isArray(value) ? "an array" : typeof value;
    return Object.assign(new TypeError(`${name}: expected ${expected}, found ${found}`), { code: "ERR_INVALID_ARG_TYPE" });
}

// A file to read: its path or its bytes.
function source(name, file) {
    if (typeof file === "string" || file instanceof Uint8Array) return file;
    if (file?.type === "file" && typeof file.fileName === "string") return file.fileName;
    if (file?.type === "mem" && file.data instanceof Uint8Array) return file.data;
    if (file?.type === "bigMem" && Array.isArray(file.data) && file.data.every((page) => page instanceof Uint8Array)) {
        return Buffer.concat(file.data);
    }
    throw wrong(name, 'a path, a Uint8Array or { type: "mem", data: Uint8Array }', file);
}

// A file to write: its path, or a function that receives its bytes.
function target(name, file) {
    if (typeof file === "string") return { path: file, store: () => {} };
    if (file?.type === "file" && typeof file.fileName === "string") return { path: file.fileName, store: () => {} };
    if (file?.type === "mem") return { store: (bytes) => (file.data = bytes) };
    if (file?.type === "bigMem") {
        const pages = (bytes) =>
            Array.from({ length: Math.ceil(bytes.length / PAGE) }, (_, page) => bytes.slice(page * PAGE, (page + 1) * PAGE));
        return { store: (bytes) => (file.data = pages(bytes)) };
    }
    throw wrong(name, 'a path or { type: "mem" }', file);
}

// The text of a value whose leaves are replaced. Values are taken from their objects: a `toJSON` of bigints is not asked.
function text(name, value, leaf) {
    if (value === null || typeof value !== "object") throw wrong(name, "an object", value);
    try {
        return JSON.stringify(value, function (key) {
            return leaf(this[key]);
        });
    } catch (error) {
        throw invalid(`${name}: ${error.message.split("\n", 1)[0]}`, { cause: error });
    }
}

// The inputs of a circuit.
function inputs(values) {
    return text("input", values, (value) => {
        if (typeof value === "bigint" || Number.isInteger(value)) return BigInt(value).toString();
        if (ArrayBuffer.isView(value)) return Array.from(value);
        // Not left out: the error names the signal.
        return ["undefined", "function", "symbol"].includes(typeof value) ? null : value;
    });
}

function decimal(value) {
    const integer = typeof value === "bigint" || (typeof value === "string" && /^0x[0-9a-f]+$/i.test(value));
    return integer ? BigInt(value).toString() : value;
}

// A proof or a verification key.
const object = (name, value) => text(name, value, decimal);

function publicSignals(signals) {
    if (!Array.isArray(signals)) throw wrong("publicSignals", "an array", signals);
    return text("publicSignals", signals, (value) => (Number.isInteger(value) ? String(BigInt(value)) : decimal(value)));
}

// Options of a call: snarkjs's `singleThread`, and Proofmill's own.
function settings(options) {
    const { singleThread, threads = singleThread ? 1 : undefined, level, allowInsecureSetup } = options ?? {};
    if (threads !== undefined && !(Number.isInteger(threads) && threads >= 1 && threads <= 4096)) {
        throw invalid("options.threads: expected an integer from 1 to 4096");
    }
    return { threads, level, allowInsecureSetup: allowInsecureSetup ?? allowedByEnvironment() };
}

// As the command's option that this variable sets.
function allowedByEnvironment() {
    const value = process.env.PROOFMILL_ALLOW_INSECURE_SETUP ?? "";
    return !["", "n", "no", "f", "false", "off", "0"].includes(value.toLowerCase());
}

module.exports = { inputs, invalid, object, publicSignals, settings, source, target };
