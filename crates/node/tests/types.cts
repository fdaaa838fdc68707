// The same declarations are found by `require`.
import proofmill = require("proofmill");

export const prove: (key: string, witness: string) => Promise<{ publicSignals: string[] }> = proofmill.fflonk.prove;
