// snarkjs's functions, with its arguments and results.
"use strict";

const util = require("node:util");
const { inputs, invalid, object, publicSignals, settings, source, target } = require("./arguments.js");
const native = require("./native.js");

// Waits for work; shows what a circuit printed and warnings; throws its error.
async function finished(work, logger) {
    const { error, kind, errno, lines, warnings, ...results } = await work;
    lines.forEach((line) => console.log(line));
    for (const warning of warnings) {
        if (logger) logger.warn(warning);
        else process.emitWarning(warning, "InsecureSetupWarning");
    }
    if (error === undefined) return results;
    if (kind === "Argument") throw invalid(error);
    if (errno === undefined) throw Object.assign(new Error(error), { code: kind });
    throw Object.assign(new Error(error), { code: util.getSystemErrorName(-errno), errno: -errno });
}

async function file(output, work, logger) {
    const results = await finished(work, logger);
    output.store(results.file);
    return results.hash;
}

// Whether something is valid, which the logger is told.
async function verdict(work, logger, valid, tell) {
    const { texts } = await finished(work, logger);
    if (texts.length === 0) logger?.info(valid);
    else tell(texts[0]);
    return texts.length === 0;
}

const parse = ({ texts }) => texts.map((text) => JSON.parse(text));

async function proved(work, logger) {
    const [proof, publicSignals] = parse(await finished(work, logger));
    return { proof, publicSignals };
}

function make(system) {
    return async (r1csName, ptauName, zkeyName, logger) => {
        const output = target("zkeyName", zkeyName);
        const [r1cs, ptau] = [source("r1csName", r1csName), source("ptauName", ptauName)];
        return file(output, native.setup(system, r1cs, ptau, output.path, settings()), logger);
    };
}

// The functions that the proof systems have in common; `log` has what snarkjs writes of a verdict.
function functions(system, log) {
    return {
        async prove(zkeyFileName, witnessFileName, logger, options) {
            const [key, witness] = [source("zkeyFileName", zkeyFileName), source("witnessFileName", witnessFileName)];
            return proved(native.prove(system, key, witness, settings(options)), logger);
        },
        async fullProve(input, wasmFile, zkeyFileName, logger, wtnsCalcOptions, proverOptions) {
            const [wasm, key] = [source("wasmFile", wasmFile), source("zkeyFileName", zkeyFileName)];
            return proved(native.fullProve(system, inputs(input), wasm, key, settings(proverOptions)), logger);
        },
        async verify(vkVerifier, signals, proof, logger, options) {
            const texts = [object("vkVerifier", vkVerifier), publicSignals(signals), object("proof", proof)];
            const work = native.verify(system, ...texts, settings(options));
            return verdict(work, logger, log.valid, (why) => logger?.[log.level](`${log.invalid}: ${why}`));
        },
    };
}

async function calldata(system, proof, signals) {
    const { texts } = await finished(native.calldata(system, publicSignals(signals), object("proof", proof)));
    return texts[0];
}

const groth16 = {
    ...functions("groth16", { valid: "OK!", level: "error", invalid: "Invalid proof" }),
    exportSolidityCallData: async (proof, signals) => calldata("groth16", proof, signals),
};

const plonk = {
    setup: make("plonk"),
    ...functions("plonk", { valid: "OK!", level: "warn", invalid: "Invalid Proof" }),
    exportSolidityCallData: async (proof, signals) => calldata("plonk", proof, signals),
};

const fflonk = {
    setup: make("fflonk"),
    ...functions("fflonk", { valid: "PROOF VERIFIED SUCCESSFULLY", level: "warn", invalid: "Invalid Proof" }),
    // A verification key, and the arguments in another order: as snarkjs.
    async exportSolidityVerifier(vk, templates, logger, options) {
        const key = Buffer.from(object("vk", vk));
        return (await finished(native.solidityVerifier(key, settings(options)), logger)).texts[0];
    },
    exportSolidityCallData: async (signals, proof) => calldata("fflonk", proof, signals),
};

// A contributor's name, if there is one.
const nameOf = (name) => (name == null ? undefined : String(name));

async function contributed(output, work, logger) {
    const hash = await file(output, work, logger);
    logger?.info(`Contribution Hash: ${Buffer.from(hash).toString("hex")}`);
    return hash;
}

const verified = (work, logger) => verdict(work, logger, "ZKey Ok!", (why) => logger?.error(`INVALID: ${why}`));

const zKey = {
    newZKey: make("groth16"),
    async exportVerificationKey(zkeyName, logger, options) {
        const work = native.verificationKey(source("zkeyName", zkeyName), settings(options));
        return parse(await finished(work, logger))[0];
    },
    async exportSolidityVerifier(zKeyName, templates, logger, options) {
        const work = native.solidityVerifier(source("zKeyName", zKeyName), settings(options));
        return (await finished(work, logger)).texts[0];
    },
    async contribute(zkeyNameOld, zkeyNameNew, name, entropy, logger) {
        const [key, output] = [source("zkeyNameOld", zkeyNameOld), target("zkeyNameNew", zkeyNameNew)];
        const work = native.contribute(key, output.path, nameOf(name), String(entropy ?? ""));
        return contributed(output, work, logger);
    },
    async beacon(zkeyNameOld, zkeyNameNew, name, beaconHashStr, numIterationsExp, logger) {
        const [key, output] = [source("zkeyNameOld", zkeyNameOld), target("zkeyNameNew", zkeyNameNew)];
        const digits = /^(?:0x)?((?:[0-9a-f]{2}){1,255})$/i.exec(beaconHashStr);
        if (digits === null) {
            logger?.error("Invalid Beacon Hash. (It must be 1 to 255 bytes in hexadecimal digits)");
            return false;
        }
        const iterations = Number(numIterationsExp);
        if (!(Number.isInteger(iterations) && iterations >= 10 && iterations <= 63)) {
            logger?.error("Invalid numIterationsExp. (Must be between 10 and 63)");
            return false;
        }
        const seed = Buffer.from(digits[1], "hex");
        return contributed(output, native.beacon(key, output.path, nameOf(name), seed, iterations), logger);
    },
    async verifyFromR1cs(r1csFileName, pTauFileName, zkeyFileName, logger, options) {
        const [r1cs, ptau] = [source("r1csFileName", r1csFileName), source("pTauFileName", pTauFileName)];
        const key = source("zkeyFileName", zkeyFileName);
        return verified(native.verifyKeyFromCircuit(r1cs, ptau, key, settings(options)), logger);
    },
    async verifyFromInit(initFileName, pTauFileName, zkeyFileName, logger, options) {
        const [initial, ptau] = [source("initFileName", initFileName), source("pTauFileName", pTauFileName)];
        const key = source("zkeyFileName", zkeyFileName);
        return verified(native.verifyKeyFromInitial(initial, ptau, key, settings(options)), logger);
    },
};

const wtns = {
    async calculate(input, wasmFileName, wtnsFileName, options) {
        const [wasm, output] = [source("wasmFileName", wasmFileName), target("wtnsFileName", wtnsFileName)];
        await file(output, native.calculateWitness(inputs(input), wasm, output.path));
    },
    async check(r1csFilename, wtnsFilename, logger) {
        const [r1cs, witness] = [source("r1csFilename", r1csFilename), source("wtnsFilename", wtnsFilename)];
        const invalid = (why) => logger?.warn(`WITNESS IS NOT CORRECT: ${why}`);
        return verdict(native.checkWitness(r1cs, witness), logger, "WITNESS IS CORRECT", invalid);
    },
    async exportJson(wtnsFileName) {
        const { texts } = await finished(native.witnessValues(source("wtnsFileName", wtnsFileName)));
        return texts.map(BigInt);
    },
};

const r1cs = {
    async info(r1csName, logger) {
        const [{ curve, counts }] = parse(await finished(native.describeCircuit(source("r1csName", r1csName)), logger));
        const count = Object.fromEntries(counts);
        const [nVars, nConstraints] = [count.wires, count.constraints];
        const [nOutputs, nPubInputs, nPrvInputs] = [count["public outputs"], count["public inputs"], count["private inputs"]];
        logger?.info(`Curve: ${curve}`);
        logger?.info(`# of Wires: ${nVars}`);
        logger?.info(`# of Constraints: ${nConstraints}`);
        logger?.info(`# of Private Inputs: ${nPrvInputs}`);
        logger?.info(`# of Public Inputs: ${nPubInputs}`);
        logger?.info(`# of Labels: ${count.labels}`);
        logger?.info(`# of Outputs: ${nOutputs}`);
        return { nVars, nOutputs, nPubInputs, nPrvInputs, nLabels: count.labels, nConstraints };
    },
};

module.exports = { groth16, plonk, fflonk, zKey, wtns, r1cs };
