// Inputs of circuits: random ones by their description, and those that need more.
import { createHash, createSign, generateKeyPairSync, randomBytes, randomInt } from "node:crypto";
import { createRequire } from "node:module";

const number = (bits) => BigInt(`0x${randomBytes(bits / 8).toString("hex")}`);
const kinds = { bit: () => BigInt(randomInt(2)), u16: () => number(16), u32: () => number(32), u128: () => number(128), uniform: () => number(248) };
const chunks = (value, bits, count) =>
    Array.from({ length: count }, (_, index) => String((value >> BigInt(bits * index)) & ((1n << BigInt(bits)) - 1n)));
const text = (words, length) => [...Buffer.concat([Buffer.from(words), Buffer.alloc(length)]).subarray(0, length)].map(String);

// A random value for each word of a description: a kind of number, a number itself, a list, or so many `times` the same.
function random(description) {
    if (Array.isArray(description)) return description.map(random);
    if (typeof description === "object") return Array.from({ length: description.times }, () => random(description.of));
    return String(kinds[description]?.() ?? description);
}

const special = {
    rsa() {
        const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048, publicExponent: 65537 });
        const message = randomBytes(40);
        const signature = createSign("sha256").update(message).sign(privateKey);
        const integer = (bytes) => chunks(BigInt(`0x${Buffer.from(bytes).toString("hex")}`), 121, 17);
        const modulus = Buffer.from(publicKey.export({ format: "jwk" }).n, "base64url");
        return { message: integer(createHash("sha256").update(message).digest()), signature: integer(signature), modulus: integer(modulus) };
    },
    base64: () => ({ in: text(randomBytes(32).toString("base64"), 44) }),
    bodyHash() {
        const hash = randomBytes(32).toString("base64");
        return { msg: text(`to:someone@example.org\r\ndkim-signature:v=1; a=rsa-sha256; c=relaxed; bh=${hash}; b=abc\r\n`, 256) };
    },
    async eddsaPoseidon(folder) {
        const eddsa = await createRequire(`${folder}/`)("circomlibjs").buildEddsa();
        const [secret, message] = [randomBytes(32), eddsa.F.e(number(248))];
        const [[Ax, Ay], { R8, S }] = [eddsa.prv2pub(secret), eddsa.signPoseidon(secret, message)];
        const [x, y, R8x, R8y, M] = [Ax, Ay, ...R8, message].map((value) => String(eddsa.F.toObject(value)));
        return { enabled: "1", Ax: x, Ay: y, R8x, R8y, S: String(S), M };
    },
};

// Inputs by the name of those above, or a description for each signal; `folder` has the packages of corpus/package.json.
export async function inputs(description, folder) {
    if (typeof description === "string") return special[description](folder);
    return Object.fromEntries(Object.entries(description).map(([signal, value]) => [signal, random(value)]));
}
