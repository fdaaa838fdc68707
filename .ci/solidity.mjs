// solidity.mjs VERIFIER.sol CALLDATA: deploys snarkjs's Solidity verifier in an EVM; it must accept the call and
// refuse the same with another last public signal. CALLDATA is what snarkjs exports: the words of the call, in
// order, in hexadecimal.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// Unlike `import`, it looks in NODE_PATH.
const require = createRequire(import.meta.url);
const solc = require("solc");
const { createEVM } = require("@ethereumjs/evm");

const [source, calldata] = process.argv.slice(2).map((file) => readFileSync(file, "utf8"));
const { contracts } = JSON.parse(
    solc.compile(
        JSON.stringify({
            language: "Solidity",
            sources: { verifier: { content: source } },
            settings: { outputSelection: { "*": { "*": ["evm.bytecode.object", "evm.methodIdentifiers"] } } },
        }),
    ),
);
const [{ evm: contract }] = Object.values(contracts.verifier);
const [[, selector]] = Object.entries(contract.methodIdentifiers).filter(([name]) => name.startsWith("verifyProof("));

const evm = await createEVM();
async function call(to, data) {
    const { createdAddress, execResult } = await evm.runCall({ to, data: Buffer.from(data, "hex"), gasLimit: 10n ** 8n });
    if (execResult.exceptionError) throw execResult.exceptionError;
    return { createdAddress, returned: Buffer.from(execResult.returnValue).toString("hex") };
}

const word = (value) => BigInt(value).toString(16).padStart(64, "0");
const { createdAddress } = await call(undefined, contract.bytecode.object);
const words = calldata.match(/0x[0-9a-f]+/g).map(word);
const last = words.pop();
for (const [signal, expected] of [[last, word(1)], [word(BigInt(`0x${last}`) ^ 1n), word(0)]]) {
    const { returned } = await call(createdAddress, [selector, ...words, signal].join(""));
    if (returned !== expected) throw new Error(`last public signal ${signal}: verifyProof gives ${returned}`);
}
