// Numbers, quantities and elements. Strings enter the page as text only: nothing here parses HTML.

/** An element with attributes and children; `text` sets its text, and functions are event listeners. */
function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue;
        if (key === "text") made.textContent = value;
        else if (typeof value === "function") made.addEventListener(key, value);
        else made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
}

const UNKNOWN = "not measured";

/** Three significant digits; no exponent from 0.001 to a billion. */
function number(value) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e9 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
    if (size >= 1000) return Math.round(Number(value.toPrecision(4))).toLocaleString("en-GB");
    return value.toPrecision(3);
}

const LARGE = [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
    [1, ""],
    [1e-3, "m"],
    [1e-6, "µ"],
    [1e-9, "n"],
];

/** A value with an SI prefix before the unit: `4.56 M points/s`. */
function quantity(value, unit) {
    if (value === 0) return `0 ${unit}`;
    // 999.96 is 1.00 k.
    const size = Math.abs(Number(value.toPrecision(3)));
    const [factor, prefix] = LARGE.find(([factor]) => size >= factor) ?? LARGE.at(-1);
    const digits = Number((value / factor).toPrecision(3)) === 0 ? "0" : (value / factor).toPrecision(3);
    const short = digits.includes("e") ? number(value / factor) : digits;
    // A prefix is attached to short units ("ms") and separate from longer ones ("4.5 M points").
    return unit.length <= 2 ? `${short} ${prefix}${unit}` : `${short} ${prefix ? prefix + " " : ""}${unit}`;
}

/** The shortest text for the value of a tick. */
function tick(value, unit = "") {
    if (value === 0) return "0";
    const [factor, prefix] = LARGE.find(([factor]) => Math.abs(value) >= factor * 0.9999) ?? LARGE.at(-1);
    if (unit === "" && Math.abs(value) >= 0.001 && Math.abs(value) < 1000)
        return String(Number(value.toPrecision(4)));
    return `${Number((value / factor).toPrecision(4))} ${prefix}${unit}`.trim();
}

const secondsTick = (value) => tick(value, "s");

const seconds = (value) => quantity(value, "s");

/** A number without a unit: from 0.001 to a thousand in digits, others with a prefix. */
const short = (value) =>
    Math.abs(value) >= 1e-3 && Math.abs(value) < 1000 ? number(value) : quantity(value, "").trim();

const BINARY = [
    [2 ** 40, "TiB"],
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
];

function bytes(value) {
    const [factor, unit] = BINARY.find(([factor]) => value >= factor) ?? [1, "B"];
    const scaled = value / factor;
    return `${Number.isInteger(scaled) ? scaled : scaled.toPrecision(3)} ${unit}`;
}

const hertz = (value) => `${(value / 1e9).toFixed(2)} GHz`;
const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
const times = (ratio) => `${number(ratio)} ×`;
const moment = (timestamp) => (timestamp ? timestamp.slice(0, 16).replace("T", " ") + " UTC" : null);

const SUPERSCRIPT = { 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** Powers of two from 1024 on as powers, other numbers in digits. */
function sizeText(size) {
    const exponent = Math.log2(size);
    if (size >= 1024 && Number.isInteger(exponent)) {
        return "2" + String(exponent).replace(/\d/g, (digit) => SUPERSCRIPT[digit]);
    }
    return size.toLocaleString("en-GB");
}

/** `low – high`, each end formatted by `write`. */
const interval = (ends, write) => (ends ? `${write(ends[0])} – ${write(ends[1])}` : "too few samples");

/** The remark that a chart shows only the first of many rows. */
const firstOf = (kept, all) =>
    kept < all ? ` The chart shows the first ${kept} of ${all.toLocaleString("en-GB")}; the table has all.` : "";

const count = (n, one, many = one + "s") => `${n.toLocaleString("en-GB")} ${n === 1 ? one : many}`;
