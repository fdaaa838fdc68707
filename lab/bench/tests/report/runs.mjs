// Runs for the tests: synthetic, valid, and the same each time.

/** A generator of numbers in [0, 1): SplitMix32. */
function splitmix(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x9e3779b9) >>> 0;
        let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
        mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
        return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
    };
}

const CORE = { zen: 1, golden: 0.95, neoverse: 0.7 };

const MACHINES = [
    {
        id: "11111111111111111111111111111111",
        label: "EPYC 9R14",
        core: CORE.zen,
        levels: ["portable", "adx", "avx2", "avx512", "avx512ifma"],
        watts: 320,
        dollars: 9.8726,
        machine: {
            cpu: "AMD EPYC 9R14",
            architecture: "x86_64",
            microarchitecture: "Zen 4",
            threads: 96,
            cores: 96,
            sockets: 1,
            threads_per_core: 1,
            caches: [
                { level: 1, kind: "data", bytes: 32768, shared_by: 1 },
                { level: 2, kind: "unified", bytes: 1048576, shared_by: 1 },
                { level: 3, kind: "unified", bytes: 33554432, shared_by: 8 },
            ],
            features: ["bmi2", "adx", "avx2", "avx512f", "avx512ifma", "sha"],
            levels: ["portable", "adx", "avx2", "avx512", "avx512ifma"],
            measured_hertz: 3.7e9,
            advertised_hertz: 2.6e9,
            memory: 412316860416,
            system: "Ubuntu 24.04",
            kernel: "6.8.0",
            hypervisor: "none",
            instance: "c7a.metal-48xl",
            compiler: "rustc 1.95.0",
        },
        noise: { steal: 0, others: 0.002, frequency_drop: 0.01, warnings: [] },
        power_source: "rapl",
    },
    {
        id: "22222222222222222222222222222222",
        label: "Xeon 8488C",
        core: CORE.golden,
        levels: ["portable", "adx", "avx2", "avx512", "avx512ifma"],
        watts: 385,
        dollars: 8.568,
        machine: {
            cpu: "Intel(R) Xeon(R) Platinum 8488C",
            architecture: "x86_64",
            microarchitecture: "Golden Cove",
            threads: 96,
            cores: 48,
            sockets: 1,
            threads_per_core: 2,
            caches: [
                { level: 1, kind: "data", bytes: 49152, shared_by: 2 },
                { level: 2, kind: "unified", bytes: 2097152, shared_by: 2 },
            ],
            features: ["bmi2", "adx", "avx2", "avx512f", "avx512ifma", "sha"],
            levels: ["portable", "adx", "avx2", "avx512", "avx512ifma"],
            measured_hertz: 3.6e9,
            memory: 412316860416,
            system: "Ubuntu 24.04",
            kernel: "6.8.0",
            hypervisor: "KVM",
            instance: "c7i.24xlarge",
            compiler: "rustc 1.95.0",
        },
        noise: {
            steal: 0.031,
            others: 0.004,
            frequency_drop: 0.12,
            warnings: [
                "the hypervisor gave 3.1 % of the CPU time to other guests",
                "the frequency sank by 12 % during the run",
            ],
        },
        power_source: "rapl",
    },
    {
        id: "33333333333333333333333333333333",
        label: "Graviton4",
        core: CORE.neoverse,
        levels: ["portable", "neon", "sve2"],
        watts: null,
        dollars: 7.6579,
        machine: {
            cpu: "Neoverse-V2",
            architecture: "aarch64",
            microarchitecture: "Neoverse V2",
            threads: 96,
            cores: 96,
            sockets: 1,
            threads_per_core: 1,
            caches: [{ level: 1, kind: "data", bytes: 65536, shared_by: 1 }],
            features: ["neon", "sve", "sve2"],
            levels: ["portable", "neon", "sve2"],
            advertised_hertz: 2.8e9,
            memory: 206158430208,
            system: "Ubuntu 24.04",
            kernel: "6.8.0",
            hypervisor: "Nitro",
            instance: "c8g.24xlarge",
            compiler: "rustc 1.95.0",
        },
        noise: { steal: 0, warnings: [] },
    },
];

const GAIN = {
    portable: 1,
    adx: 1.45,
    avx2: 2.6,
    avx512: 3.9,
    avx512ifma: 5.2,
    neon: 1.2,
    sve2: 1.9,
    "gnark-crypto": 1.3,
    arkworks: 0.85,
    blst: 1.5,
};
const VERSIONS = { "gnark-crypto": "0.22", arkworks: "0.5", blst: "0.3" };

/** The measurements of a run. */
function measurementsOf(machine, seed) {
    const random = splitmix(seed);
    const measurements = [];
    const all = machine.machine.threads;
    const samples = (seconds, n = 15) =>
        Array.from({ length: n }, () => seconds * (1 + 0.02 * random() + (random() < 0.1 ? 0.05 * random() : 0)));
    const add = (row, seconds, amount, unit, more = {}, n = 15) => {
        const figures = {
            seconds: samples(seconds, n),
            clock: row.threads === 1 ? "cpu" : "wall",
            amount,
            unit,
            ...more,
        };
        if (machine.watts && row.threads === all) figures.watts = machine.watts * (0.9 + 0.1 * random());
        const version = VERSIONS[row.implementation] ?? (row.suite === "platform" ? "3.0" : undefined);
        measurements.push({
            row,
            version,
            ended: "2026-11-20T12:00:00Z",
            outcome: { status: "measured", ...figures },
        });
    };
    const without = (row, outcome) => measurements.push({ row, ended: "2026-11-20T12:00:00Z", outcome });
    const speedOn = (threads) =>
        (threads === 1
            ? 1
            : 0.86 * (threads > machine.machine.cores ? machine.machine.cores * 1.2 : threads) ** 0.985) *
        machine.core;
    const family = (suite, name, benchmarks, options) => {
        for (const [benchmark, sizes, cost, unit] of benchmarks) {
            for (const size of sizes) {
                for (const implementation of [...machine.levels, ...(options.peers ?? [])]) {
                    for (const threads of options.threads) {
                        const time =
                            (cost * size * (1 - 0.012 * Math.log2(size))) / GAIN[implementation] / speedOn(threads);
                        const more = options.more?.(time, size) ?? {};
                        const counters =
                            machine.label === "Graviton4" || threads > 1
                                ? {}
                                : { cycles: time * 3.6e9, instructions: time * 3.6e9 * 2.1 };
                        add({ suite, family: name, benchmark, size, implementation, threads }, time, size, unit, {
                            ...counters,
                            ...more,
                        });
                    }
                }
            }
        }
    };
    const threads = [1, 2, 8, 32, all];
    family(
        "kernel",
        "msm",
        [
            ["bn254-g1", [2 ** 12, 2 ** 14, 2 ** 16, 2 ** 18, 2 ** 20], 1.1e-5, "points"],
            ["bls12_381-g1", [2 ** 12, 2 ** 16], 2.2e-5, "points"],
        ],
        { threads: [1, all], peers: ["gnark-crypto", "arkworks"] },
    );
    family(
        "kernel",
        "ntt",
        [
            ["bn254", [2 ** 10, 2 ** 14, 2 ** 18, 2 ** 22], 2.1e-7, "elements"],
            ["goldilocks", [2 ** 10, 2 ** 14, 2 ** 18, 2 ** 22], 2.4e-8, "elements"],
        ],
        { threads, peers: ["arkworks"] },
    );
    family(
        "kernel",
        "field",
        [
            ["goldilocks-mul", [4096], 1.9e-9, "multiplications"],
            ["bn254-fr-mul", [4096], 1.6e-8, "multiplications"],
            ["bn254-fr-invert", [4096], 9e-7, "inversions"],
        ],
        { threads: [1] },
    );
    without(
        {
            suite: "kernel",
            family: "msm",
            benchmark: "bls12_381-g1",
            size: 65536,
            implementation: "blst",
            threads: 1,
        },
        { status: "failed", reason: "the runner ended before it was ready" },
    );
    without(
        {
            suite: "kernel",
            family: "ntt",
            benchmark: "bn254",
            size: 1024,
            implementation: "gnark-crypto",
            threads: 1,
        },
        { status: "absent", remedy: "apt-get install golang" },
    );
    without(
        {
            suite: "kernel",
            family: "field",
            benchmark: "bn254-fq-mul",
            size: 4096,
            implementation: "portable",
            threads: 1,
        },
        { status: "checked", answer: "00112233445566aa" },
    );
    const phases = {
        groth16: ["read", "witness", "ntt", "msm", "rest"],
        plonk: ["read", "round 1", "round 2", "round 3", "round 4", "round 5"],
    };
    const shares = { groth16: [0.03, 0.05, 0.17, 0.7, 0.03], plonk: [0.04, 0.2, 0.15, 0.4, 0.06, 0.1] };
    for (const protocol of ["groth16", "plonk"]) {
        family(
            "prover",
            protocol,
            [
                [
                    protocol === "groth16" ? "sha256-chain" : "turbo-range",
                    [2 ** 14, 2 ** 16, 2 ** 18],
                    protocol === "groth16" ? 5e-5 : 9e-5,
                    "constraints",
                ],
            ],
            {
                threads,
                more: (time, size) => ({
                    peak_memory: Math.round(size * 1500 + 4e7),
                    phases: phases[protocol].map((name, at) => ({ name, seconds: time * shares[protocol][at] })),
                }),
            },
        );
    }
    const program = (name, benchmark, persecond, amount, unit, more = {}) => {
        for (const threads of [1, all])
            add(
                {
                    suite: "platform",
                    family: name,
                    benchmark,
                    implementation: name === "compression" ? benchmark.split("-")[0] : name,
                    threads,
                },
                amount / persecond / speedOn(threads),
                amount,
                unit,
                more,
            );
    };
    program("openssl", "rsa2048-sign", 2100, 1, "signatures");
    program("openssl", "rsa2048-verify", 72000, 1, "verifications");
    program("openssl", "ecdsa-p256-sign", 46000, 1, "signatures");
    program("openssl", "aes-128-gcm", machine.label === "Graviton4" ? 3.1e9 : 6.4e9, 16384, "bytes");
    program("openssl", "chacha20-poly1305", machine.label === "Graviton4" ? 1.2e9 : 3.4e9, 16384, "bytes");
    for (const quality of [1, 5, 9])
        program("compression", `gzip-${quality}`, 1.6e8 / quality, 29329, "bytes", {
            bytes_out: 9500 - 150 * quality,
        });
    if (machine.label === "Graviton4") {
        without(
            { suite: "platform", family: "luajit", benchmark: "nbody", implementation: "luajit", threads: 1 },
            { status: "absent", remedy: "apt-get install luajit" },
        );
    } else {
        program("luajit", "nbody", 0.8, 1, "runs");
        program("luajit", "binary-trees", 0.3, 1, "runs");
    }
    return measurements;
}

/** Three machines; one has warnings, and one has no watts. */
export function runs() {
    return MACHINES.map((machine, at) => {
        const { id, label, noise, power_source } = machine;
        return {
            id,
            label,
            began: "2026-11-20T10:00:00Z",
            ended: "2026-11-20T12:30:00Z",
            command: ["proofmill", "bench", "run", "--level", "all"],
            version: "0.1.0",
            machine: machine.machine,
            noise,
            power_source,
            price: { dollars_per_hour: machine.dollars, source: `${machine.machine.instance}, list price` },
            measurements: measurementsOf(machine, at + 1),
        };
    });
}
