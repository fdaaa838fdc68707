// solc.mjs VERIFIER.sol: compiles a Solidity verifier with the optimiser, as users do. Prints the selector of its verifyProof
// and the code that deploys it, in hexadecimal. solc is found through NODE_PATH.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// Unlike `import`, `require` searches NODE_PATH.
const require = createRequire(import.meta.url);
const solc = require("solc");

const { contracts, errors = [] } = JSON.parse(
    solc.compile(
        JSON.stringify({
            language: "Solidity",
            sources: { verifier: { content: readFileSync(process.argv[2], "utf8") } },
            settings: {
                optimizer: { enabled: true },
                outputSelection: { "*": { "*": ["evm.bytecode.object", "evm.methodIdentifiers"] } },
            },
        }),
    ),
);
for (const { formattedMessage } of errors) console.error(formattedMessage);
const [{ evm: contract }] = Object.values(contracts.verifier);
const [[, selector]] = Object.entries(contract.methodIdentifiers).filter(([name]) => name.startsWith("verifyProof("));
console.log(`${selector}\n${contract.bytecode.object}`);
