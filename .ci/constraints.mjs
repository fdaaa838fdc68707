// constraints.mjs CIRCUIT.json: prints the constraints in the JSON that snarkjs exports as `proofmill r1cs print` does.
import { readFileSync } from "node:fs";

const { prime, constraints } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const r = BigInt(prime);
const sum = (terms) =>
    Object.entries(terms)
        .map(([wire, text], index) => {
            const value = BigInt(text);
            const negative = value > r / 2n;
            const size = negative ? r - value : value;
            const term = wire === "0" ? `${size}` : size === 1n ? `w${wire}` : `${size} w${wire}`;
            const sign = negative ? (index === 0 ? "-" : " - ") : index === 0 ? "" : " + ";
            return sign + term;
        })
        .join("") || "0";
for (const [a, b, c] of constraints) console.log(`(${sum(a)}) * (${sum(b)}) = ${sum(c)}`);
