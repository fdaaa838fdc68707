// snarkjs 0.7.6's functions. What differs is marked.

/** A file to read: a path, its bytes, or an object that names or has them. A file at a path is mapped, bytes are copied. */
export type FileSource =
    | string
    | Uint8Array
    | { type: "file"; fileName: string }
    | { type: "mem"; data?: Uint8Array }
    | { type: "bigMem"; data?: Uint8Array[] };

/** A file to write: a path, at which it appears complete or not at all, or an object that receives its bytes as `data`. */
export type FileTarget =
    | string
    | { type: "file"; fileName: string }
    | { type: "mem"; data?: Uint8Array }
    | { type: "bigMem"; data?: Uint8Array[] };

/** An integer, also as a string of decimal digits, or of hexadecimal ones after `0x`. */
export type NumericString = string;

/** A field element, or nested arrays and objects (buses) of them. Negative and large ones are reduced modulo the field's prime. */
export type SignalValue = NumericString | number | bigint | boolean | SignalValue[] | { [name: string]: SignalValue };

/** The inputs of a circuit by their names. */
export interface CircuitSignals {
    [name: string]: SignalValue;
}

/** Public signals in decimal digits: outputs, then public inputs. */
export type PublicSignals = NumericString[];

export interface Groth16Proof {
    pi_a: NumericString[];
    pi_b: NumericString[][];
    pi_c: NumericString[];
    protocol: string;
    curve: string;
}

export interface PlonkProof {
    A: NumericString[];
    B: NumericString[];
    C: NumericString[];
    Z: NumericString[];
    T1: NumericString[];
    T2: NumericString[];
    T3: NumericString[];
    Wxi: NumericString[];
    Wxiw: NumericString[];
    eval_a: NumericString;
    eval_b: NumericString;
    eval_c: NumericString;
    eval_s1: NumericString;
    eval_s2: NumericString;
    eval_zw: NumericString;
    protocol: string;
    curve: string;
}

export interface FflonkProof {
    polynomials: Record<"C1" | "C2" | "W1" | "W2", NumericString[]>;
    evaluations: Record<
        "ql" | "qr" | "qm" | "qo" | "qc" | "s1" | "s2" | "s3" | "a" | "b" | "c" | "z" | "zw" | "t1w" | "t2w" | "inv",
        NumericString
    >;
    protocol: string;
    curve: string;
}

/** The object in a `verification_key.json`. */
export interface VerificationKey {
    protocol: string;
    curve: string;
    nPublic: number;
    [name: string]: unknown;
}

/** Receives messages, such as `console`. */
export interface Logger {
    debug(message: string): void;
    info(message: string): void;
    warn(message: string): void;
    error(message: string): void;
}

/** Options; all but `singleThread` are Proofmill's. */
export interface Options {
    /** The same as `threads: 1`. */
    singleThread?: boolean;
    /** The number of threads, from 1 to 4096; one per core by default. */
    threads?: number;
    /** The CPU features to use, a name that `proofmill cpu` prints; the best by default. */
    level?: string;
    /** Permits keys for which anyone can forge proofs, and warns of them. By default what the environment variable
     * `PROOFMILL_ALLOW_INSECURE_SETUP` says. */
    allowInsecureSetup?: boolean;
}

/**
 * Errors are of class `Error`, with a message of one line and a `code`: `Malformed`, `Mismatch`, `Unsatisfied`, `InsecureSetup`,
 * `System`, `Internal`; of files, Node's, such as `ENOENT`; of arguments, `ERR_INVALID_ARG_TYPE` and `ERR_INVALID_ARG_VALUE`.
 */
interface ProofSystem<Proof> {
    /** Proves. The proof is verified before it is returned. */
    prove(
        zkeyFileName: FileSource,
        witnessFileName: FileSource,
        logger?: Logger | null,
        options?: Options,
    ): Promise<{ proof: Proof; publicSignals: PublicSignals }>;
    /** Calculates the witness of the inputs, and proves. `wtnsCalcOptions` are ignored. */
    fullProve(
        input: CircuitSignals,
        wasmFile: FileSource,
        zkeyFileName: FileSource,
        logger?: Logger | null,
        wtnsCalcOptions?: object,
        proverOptions?: Options,
    ): Promise<{ proof: Proof; publicSignals: PublicSignals }>;
    /** Verifies: `true` only for a valid proof; `false` if anything is wrong with the proof or its signals, which the logger is told.
     * A key that cannot be used is an error. `options` are Proofmill's. */
    verify(
        vkVerifier: VerificationKey | object,
        publicSignals: readonly (NumericString | number | bigint)[],
        proof: Proof | object,
        logger?: Logger | null,
        options?: Options,
    ): Promise<boolean>;
}

interface Setup {
    /** Makes a key. Errors are thrown, where snarkjs writes them to the logger. */
    setup(r1csName: FileSource, ptauName: FileSource, zkeyName: FileTarget, logger?: Logger | null): Promise<void>;
}

/** Groth16. `zKey.newZKey` is its setup. */
export const groth16: ProofSystem<Groth16Proof> & {
    /** The arguments of the contract's `verifyProof`. */
    exportSolidityCallData(proof: Groth16Proof | object, pub: readonly (NumericString | bigint)[]): Promise<string>;
};

/** PLONK. */
export const plonk: ProofSystem<PlonkProof> &
    Setup & {
        /** The arguments of the contract's `verifyProof`. */
        exportSolidityCallData(proof: PlonkProof | object, pub: readonly (NumericString | bigint)[]): Promise<string>;
    };

/** fflonk. */
export const fflonk: ProofSystem<FflonkProof> &
    Setup & {
        /** A contract that verifies the key's proofs. It is Proofmill's: `templates` are ignored. `options` are Proofmill's. */
        exportSolidityVerifier(
            vk: VerificationKey | object,
            templates?: object,
            logger?: Logger | null,
            options?: Options,
        ): Promise<string>;
        /** The arguments of the contract's `verifyProof`. */
        exportSolidityCallData(pub: readonly (NumericString | bigint)[], proof: FflonkProof | object): Promise<string>;
    };

/** Keys and ceremonies. */
export const zKey: {
    /** Makes a key of Groth16, and returns the hash of its circuit. Anyone can forge proofs for it until somebody contributes.
     * Errors are thrown, where snarkjs writes them to the logger and returns -1. */
    newZKey(
        r1csName: FileSource,
        ptauName: FileSource,
        zkeyName: FileTarget,
        logger?: Logger | null,
    ): Promise<Uint8Array>;
    /** Contributes to a key of Groth16, and returns the contribution's hash. The secret is made of the operating system's randomness
     * and of `entropy`, which may be missing: nothing is asked for. */
    contribute(
        zkeyNameOld: FileSource,
        zkeyNameNew: FileTarget,
        name?: string | null,
        entropy?: string | null,
        logger?: Logger | null,
    ): Promise<Uint8Array>;
    /** Contributes a beacon's value; `false` for one that cannot be used, which the logger is told. */
    beacon(
        zkeyNameOld: FileSource,
        zkeyNameNew: FileTarget,
        name: string | null | undefined,
        beaconHashStr: string,
        numIterationsExp: number | string,
        logger?: Logger | null,
    ): Promise<Uint8Array | false>;
    /**
     * Whether a key of Groth16 is the circuit's, and all contributions to it are valid. Throws `InsecureSetup` if that is so, but anyone can
     * forge proofs: nobody contributed, or only beacons did. `options` are Proofmill's.
     */
    verifyFromR1cs(
        r1csFileName: FileSource,
        pTauFileName: FileSource,
        zkeyFileName: FileSource,
        logger?: Logger | null,
        options?: Options,
    ): Promise<boolean>;
    /** The same with the key that setup has made of the circuit. */
    verifyFromInit(
        initFileName: FileSource,
        pTauFileName: FileSource,
        zkeyFileName: FileSource,
        logger?: Logger | null,
        options?: Options,
    ): Promise<boolean>;
    /** The verification key of a key of any system. `options` are Proofmill's. */
    exportVerificationKey(zkeyName: FileSource, logger?: Logger | null, options?: Options): Promise<VerificationKey>;
    /** A contract that verifies the key's proofs. It is Proofmill's: `templates` are ignored. `options` are Proofmill's. */
    exportSolidityVerifier(
        zKeyName: FileSource,
        templates?: object,
        logger?: Logger | null,
        options?: Options,
    ): Promise<string>;
};

/** Witnesses. */
export const wtns: {
    /** Calculates the witness of the inputs. `options` are ignored. */
    calculate(input: CircuitSignals, wasmFileName: FileSource, wtnsFileName: FileTarget, options?: object): Promise<void>;
    /** Whether a witness satisfies a circuit. */
    check(r1csFilename: FileSource, wtnsFilename: FileSource, logger?: Logger | null): Promise<boolean>;
    /** The values of a witness. */
    exportJson(wtnsFileName: FileSource): Promise<bigint[]>;
};

/** Circuits. */
export const r1cs: {
    /** Counts of a circuit. snarkjs's objects for the curve, and the constraints, are not among them. */
    info(
        r1csName: FileSource,
        logger?: Logger | null,
    ): Promise<{
        nVars: number;
        nOutputs: number;
        nPubInputs: number;
        nPrvInputs: number;
        nLabels: number;
        nConstraints: number;
    }>;
};
