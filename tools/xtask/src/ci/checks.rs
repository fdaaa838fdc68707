//! What is checked: each check is a script of bash, executed in the repository's root after what it needs has been installed.

/// One check.
pub(crate) struct Check {
    /// The group that it belongs to.
    pub(crate) lane: &'static str,
    pub(crate) name: &'static str,
    pub(crate) script: &'static str,
    /// What `.ci/install.sh` installs for it, separated by spaces.
    pub(crate) needs: &'static str,
    /// Whether it leaves cores idle for another such check.
    pub(crate) shares: bool,
    /// Of an extended check, which is not executed if there is a record of it on the same sources.
    pub(crate) covered: Option<Covered>,
}

/// The sources that decide what a check finds, in lists separated by spaces. The lock file and the version of Rust always do.
pub(crate) struct Covered {
    /// Packages of the workspace, without `proofmill-`: their folders, and those of all packages here that they depend on.
    pub(crate) packages: &'static str,
    /// Other files and folders.
    pub(crate) paths: &'static str,
}

const fn check(lane: &'static str, name: &'static str, script: &'static str) -> Check {
    Check { lane, name, script, needs: "", shares: false, covered: None }
}

impl Check {
    const fn needs(self, needs: &'static str) -> Self {
        Self { needs, ..self }
    }

    const fn shares(self) -> Self {
        Self { shares: true, ..self }
    }

    const fn covers(self, packages: &'static str, paths: &'static str) -> Self {
        Self { covered: Some(Covered { packages, paths }), ..self }
    }
}

/// The check that builds the programs and libraries that those after it use.
pub(crate) const PROGRAMS: &str = "programs";

/// All checks, in the order in which they are executed.
pub(crate) const CHECKS: &[Check] = &[
    check("style", "fmt", "cargo fmt --all --check"),
    check("style", "scripts", ".ci/scripts.sh").needs("python archives"),
    check("style", "cycles", ".ci/cycles.py"),
    check("style", "crates", "tools/xtask/scripts/crates.py --check"),
    check("style", "features", ".ci/features.py"),
    check("style", "licences", "cargo deny --locked check licenses bans sources").needs("licences"),
    check("style", "book", ".ci/book.py").needs("book"),
    // README's command.
    check("engine", "engine", "cargo test --locked --no-fail-fast"),
    check("rest", "rest", ".ci/rest.sh"),
    // With examples, because then features are those of the tests.
    check(
        PROGRAMS,
        PROGRAMS,
        "cargo build --workspace --lib --bins --examples --features proofmill-python/abi3 --locked --quiet",
    ),
    check("style", "clippy", "cargo clippy --workspace --all-targets --locked -- -D warnings"),
    // As `cargo xtask generate` and `figures`, by the programs that are there; `c` compares the header.
    check(
        "style",
        "generated",
        "target/debug/constgen --check && target/debug/protogen --check && target/debug/figures --check",
    ),
    check("circom", "evm", "cargo build --quiet --locked --manifest-path tools/evm/Cargo.toml --target-dir target/evm"),
    check("circom", "snarkjs", ".ci/snarkjs.sh target/debug/proofmill target/evm/debug/evm").needs("npm").shares(),
    check("circom", "bls12-381", ".ci/bls12-381.sh target/debug/proofmill").needs("npm").shares(),
    check("circom", "solidity", ".ci/solidity.sh target/debug/proofmill target/evm/debug/evm").needs("npm").shares(),
    check("circom", "circuits", ".ci/circom.sh target/debug/proofmill target/evm/debug/evm").needs("npm").shares(),
    check("laboratory", "bench", ".ci/bench.sh target/debug/proofmill-bench").shares(),
    check("laboratory", "report", ".ci/report.sh target/debug/proofmill").needs("npm chromium").shares(),
    check("service", "service", ".ci/service.sh target/debug/proofmill target/ci").needs("npm python chromium").shares(),
    check("bindings", "package", ".ci/package.sh").shares(),
    check("bindings", "c", ".ci/c.sh target/debug").needs("npm c header platforms").shares(),
    check("bindings", "node", ".ci/node.sh target/debug").needs("npm").shares(),
    check("bindings", "python", ".ci/python.sh target/ci").needs("npm").shares(),
    check("security", "constant-time", ".ci/constant_time.sh").needs("valgrind").shares(),
    check("security", "fuzz", ".ci/fuzz.sh 30").needs("c"),
    check("extended", "arm", ".ci/aarch64.sh").needs("arm").covers(
        "bls circom curve field groth16 hash merkle ntt p3 pairing pipeline sha256 stark",
        ".ci/aarch64.sh examples",
    ),
    check("extended", "arm-c", ".ci/c_aarch64.sh").needs("arm npm").covers("c", ".ci/c_aarch64.sh examples"),
    check(
        "extended",
        "arm-types",
        "CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc-12 cargo check --quiet --locked --lib --bins --target aarch64-unknown-linux-gnu \
         -p proofmill-bench -p proofmill-c -p proofmill-cli -p proofmill-node -p proofmill-p3 -p proofmill-server",
    )
    .needs("arm")
    .covers("bench c cli node p3 server", ""),
    check("extended", "wheels", ".ci/wheels.sh target/ci")
        .needs("arm archives platforms")
        .covers("cli python", ".ci/wheels.sh tools/xtask/scripts examples"),
    check("extended", "peers", ".ci/peers.sh target/debug/proofmill-bench")
        .needs("c")
        .covers("bench", ".ci/peers.sh lab/peers"),
    // What it runs is not the engine's.
    check("extended", "platform", ".ci/platform.sh target/debug/proofmill-bench")
        .covers("", ".ci/platform.sh lab/platform/install.sh lab/bench"),
    check("extended", "fuzz-address", ".ci/fuzz.sh 60 address").needs("c nightly").covers(
        "bench bls ceremony merkle pipeline plonk solidity srs stark witness",
        ".ci/fuzz.sh fuzz examples",
    ),
    check("extended", "corpus", ".ci/corpus.sh target/debug/proofmill")
        .needs("npm")
        .covers("cli", ".ci/corpus.sh .ci/corpus docs/compatibility.md"),
    // Whether its proofs are right is for the lanes above to say.
    check(
        "extended",
        "campaign",
        "service/campaign.py --bin target/debug --jobs 600 --kills 30 --stops 8 --drains 3 --poison 4 --snarkjs",
    )
    .needs("npm")
    .covers("server", "service/campaign.py"),
];
