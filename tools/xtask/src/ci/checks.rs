//! What is checked: each check is a script of bash, executed in the repository's root after what it needs has been installed.

/// One check.
pub(crate) struct Check {
    /// The group that it belongs to. A lane's checks, and all checks before it in this list, end before those after it begin.
    pub(crate) lane: &'static str,
    pub(crate) name: &'static str,
    /// What `.ci/install.sh` installs for it.
    pub(crate) needs: &'static [&'static str],
    pub(crate) script: &'static str,
    pub(crate) kind: Kind,
}

/// When a check is executed.
pub(crate) enum Kind {
    /// Always.
    Required,
    /// Unless there is a record of it on the same sources.
    Extended(Covered),
}

/// The sources that decide what an extended check finds. The lock file and the version of Rust always do.
pub(crate) struct Covered {
    /// Packages of the workspace: their folders, and those of all packages here that they depend on.
    pub(crate) packages: &'static [&'static str],
    /// Other files and folders.
    pub(crate) paths: &'static [&'static str],
}

const fn required(
    lane: &'static str,
    name: &'static str,
    needs: &'static [&'static str],
    script: &'static str,
) -> Check {
    Check { lane, name, needs, script, kind: Kind::Required }
}

const fn extended(
    name: &'static str,
    needs: &'static [&'static str],
    script: &'static str,
    packages: &'static [&'static str],
    paths: &'static [&'static str],
) -> Check {
    Check { lane: "extended", name, needs, script, kind: Kind::Extended(Covered { packages, paths }) }
}

/// All checks. Programs are built by the lanes that test them, and used by those after them.
pub(crate) const CHECKS: &[Check] = &[
    required(
        "style",
        "fmt",
        &[],
        "cargo fmt --all --check && cargo fmt --check --manifest-path crates/python/Cargo.toml",
    ),
    required("style", "scripts", &[], ".ci/scripts.sh"),
    required("style", "cycles", &[], ".ci/cycles.py"),
    required("style", "licences", &["licences"], "cargo deny --locked check licenses bans sources"),
    required("style", "book", &["book"], ".ci/book.py"),
    // README's command.
    required("engine", "engine", &[], "cargo test --locked --no-fail-fast"),
    required("rest", "rest", &["servers"], ".ci/rest.sh"),
    required("style", "clippy", &[], "cargo clippy --workspace --all-targets --locked -- -D warnings"),
    required(
        "style",
        "generated",
        &["header"],
        "cargo xtask generate --check && cargo xtask figures --check",
    ),
    required("bindings", "package", &[], ".ci/package.sh"),
    required(
        "circom",
        "snarkjs",
        &["npm"],
        ".ci/evm.sh && .ci/snarkjs.sh target/debug/proofmill target/evm/debug/evm",
    ),
    required("circom", "bls12-381", &["npm"], ".ci/bls12-381.sh target/debug/proofmill"),
    required(
        "circom",
        "solidity",
        &["npm"],
        ".ci/evm.sh && .ci/solidity.sh target/debug/proofmill target/evm/debug/evm",
    ),
    required(
        "circom",
        "circuits",
        &["npm"],
        ".ci/evm.sh && .ci/circom.sh target/debug/proofmill target/evm/debug/evm",
    ),
    required("laboratory", "bench", &[], ".ci/bench.sh target/debug/proofmill-bench"),
    required("laboratory", "report", &["npm", "chromium"], ".ci/report.sh target/debug/proofmill"),
    required(
        "service",
        "service",
        &["npm", "python", "chromium"],
        ".ci/service.sh target/debug/proofmill target/ci",
    ),
    required("bindings", "c", &["npm", "c", "header"], ".ci/c.sh target/debug"),
    required("bindings", "node", &["npm"], ".ci/node.sh target/debug"),
    required("bindings", "python", &["npm"], ".ci/python.sh target/ci"),
    required("security", "constant-time", &["valgrind"], ".ci/constant_time.sh"),
    required("security", "fuzz", &["c"], ".ci/fuzz.sh 30"),
    extended(
        "arm",
        &["arm"],
        ".ci/aarch64.sh",
        &[
            "proofmill-bls",
            "proofmill-circom",
            "proofmill-curve",
            "proofmill-field",
            "proofmill-groth16",
            "proofmill-hash",
            "proofmill-merkle",
            "proofmill-p3",
            "proofmill-pairing",
            "proofmill-pipeline",
            "proofmill-poly",
            "proofmill-sha256",
            "proofmill-stark",
        ],
        &[".ci/aarch64.sh", "examples"],
    ),
    extended(
        "arm-c",
        &["arm", "npm"],
        ".ci/c_aarch64.sh",
        &["proofmill-c"],
        &[".ci/c_aarch64.sh", "examples"],
    ),
    extended(
        "arm-types",
        &["arm"],
        "cargo check --quiet --locked --workspace --lib --bins --target aarch64-unknown-linux-gnu",
        &[
            "proofmill-cli",
            "proofmill-server",
            "proofmill-bench",
            "proofmill-node",
            "proofmill-c",
            "proofmill-p3",
        ],
        &[],
    ),
    extended(
        "wheels",
        &["arm"],
        ".ci/wheels.sh target/ci",
        &["proofmill"],
        &[".ci/wheels.sh", "crates/python", "scripts", "examples"],
    ),
    extended(
        "peers",
        &["c"],
        ".ci/peers.sh target/debug/proofmill-bench",
        &["proofmill-bench"],
        &[".ci/peers.sh", "benchmarks/peers"],
    ),
    extended(
        "platform",
        &[],
        ".ci/platform.sh target/debug/proofmill-bench",
        &[],
        &[".ci/platform.sh", "scripts/platform-deps.sh", "crates/bench/src"],
    ),
    extended(
        "fuzz-address",
        &["c", "nightly"],
        ".ci/fuzz.sh 120 address",
        &[
            "proofmill-bench",
            "proofmill-bls",
            "proofmill-ceremony",
            "proofmill-merkle",
            "proofmill-pipeline",
            "proofmill-plonk",
            "proofmill-srs",
            "proofmill-stark",
            "proofmill-witness",
        ],
        &[".ci/fuzz.sh", "fuzz"],
    ),
];
