// The names that `import` finds, as in snarkjs.
import proofmill from "./index.js";

export const { groth16, plonk, fflonk, zKey, wtns, r1cs } = proofmill;
