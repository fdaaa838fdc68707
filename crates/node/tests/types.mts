// Programs that were written for snarkjs compile: its functions have their types here, in those of DefinitelyTyped.
import * as proofmill from "proofmill";
import type * as snarkjs from "snarkjs";

export const groth16: typeof snarkjs.groth16 = proofmill.groth16;
// Bytes are no target, as they say that they are.
export const plonk: Omit<typeof snarkjs.plonk, "setup"> = proofmill.plonk;
export const fflonk: Omit<typeof snarkjs.fflonk, "setup"> = proofmill.fflonk;
export const wtns: Omit<typeof snarkjs.wtns, "debug"> = proofmill.wtns;
export const zKey: Pick<typeof snarkjs.zKey, keyof typeof proofmill.zKey> = proofmill.zKey;

async function program(input: proofmill.CircuitSignals): Promise<bigint> {
    const witness: proofmill.FileTarget = { type: "mem" };
    await proofmill.wtns.calculate({ ...input, a: [1, "2", 3n, [0]], bus: { x: 1 } }, "circuit.wasm", witness);
    const options: proofmill.Options = { threads: 2, allowInsecureSetup: true };
    const { proof, publicSignals } = await proofmill.groth16.prove(new Uint8Array(), witness, console, options);
    const key = await proofmill.zKey.exportVerificationKey("circuit.zkey");
    const valid: boolean = await proofmill.groth16.verify(key, publicSignals, proof);
    // @ts-expect-error: a number is no file
    await proofmill.plonk.prove(1, "witness.wtns");
    // @ts-expect-error: there is no such function
    proofmill.zKey.importBellman;
    return BigInt(valid ? publicSignals[0] ?? 0 : key.nPublic);
}

void program;
