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
    /// Of a check that is not executed if there is a record of it on the same sources.
    pub(crate) covered: Option<Covered>,
}

/// The sources that decide what a check finds, in lists separated by spaces. The lock file and the version of Rust always do.
pub(crate) struct Covered {
    /// Packages of the workspace, without `proofmill-`: their folders, and those of all packages here that they depend on.
    pub(crate) packages: &'static str,
    /// Other files and folders.
    pub(crate) paths: &'static str,
    /// Whether it executes kernels at all levels of the CPU: a record of a CPU with a lower level does not count.
    pub(crate) levels: bool,
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
        Self { covered: Some(Covered { packages, paths, levels: false }), ..self }
    }

    const fn covers_levels(self, packages: &'static str, paths: &'static str) -> Self {
        Self { covered: Some(Covered { packages, paths, levels: true }), ..self }
    }
}

/// All checks, in the order in which they are executed.
pub(crate) const CHECKS: &[Check] = &[
    check("style", "fmt", "cargo fmt --all --check"),
    check("style", "scripts", ".ci/scripts.sh").needs("python archives"),
    check("style", "cycles", ".ci/cycles.py"),
    check("style", "crates", "tools/xtask/scripts/crates.py --check"),
    check("style", "features", ".ci/features.py"),
    // What it reads of packages here is decided by the lock file.
    check("style", "licences", "cargo deny --locked check licenses bans sources")
        .needs("licences")
        .covers("", "deny.toml"),
    check("style", "book", ".ci/book.py").needs("book"),
    // README's command.
    check("engine", "engine", "cargo test --locked --no-fail-fast"),
    check("style", "tools", ".ci/tools.sh"),
    check("style", "clippy", "cargo clippy --workspace --all-targets --locked -- -D warnings"),
    check("rest", "rest", ".ci/rest.sh").covers_levels(
        "",
        ".ci/rest.sh .ci/packages.py .ci/servers.sh crates examples lab/bench lab/data lab/definitions lab/peers lab/pipeline lab/platform \
         lab/records/arm_instructions.csv service",
    ),
    check("circom", "snarkjs", ".ci/snarkjs.sh target/debug/proofmill target/evm/debug/evm")
        .needs("programs evm npm")
        .shares()
        .covers(
            "cli",
            ".ci/snarkjs.sh .ci/snarkjs_readme.sh .ci/constraints.mjs .ci/solc.mjs .ci/npm examples tools/evm",
        ),
    check("circom", "bls12-381", ".ci/bls12-381.sh target/debug/proofmill")
        .needs("programs npm")
        .shares()
        .covers("cli", ".ci/bls12-381.sh .ci/npm"),
    check("circom", "solidity", ".ci/solidity.sh target/debug/proofmill target/evm/debug/evm")
        .needs("programs evm npm")
        .shares()
        .covers("cli", ".ci/solidity.sh .ci/solc.mjs .ci/npm examples tools/evm"),
    check("circom", "circuits", ".ci/circom.sh target/debug/proofmill target/evm/debug/evm")
        .needs("programs evm npm")
        .shares()
        .covers("cli", ".ci/circom.sh .ci/circom .ci/solc.mjs .ci/npm examples tools/evm"),
    check("laboratory", "bench", ".ci/bench.sh target/debug/proofmill-bench")
        .needs("programs")
        .shares()
        .covers_levels("bench", ".ci/bench.sh lab/data lab/definitions lab/platform lab/records/arm_instructions.csv"),
    check("laboratory", "report", ".ci/report.sh target/debug/proofmill")
        .needs("programs npm chromium")
        .shares()
        .covers("bench cli", ".ci/report.sh .ci/npm"),
    check("server", "service", ".ci/service.sh target/debug/proofmill target/ci")
        .needs("programs npm python chromium")
        .shares()
        .covers("cli prover server", ".ci/service.sh .ci/service .ci/npm examples service"),
    check("bindings", "package", ".ci/package.sh").shares().covers("", ".ci/package.sh crates lab/pipeline"),
    check("bindings", "c", ".ci/c.sh target/debug")
        .needs("programs npm c header platforms")
        .shares()
        .covers("c cli", ".ci/c.sh .ci/npm examples tools/install-c.sh tools/xtask/scripts/header.sh"),
    check("bindings", "node", ".ci/node.sh target/debug")
        .needs("programs npm")
        .shares()
        .covers("cli node", ".ci/node.sh .ci/npm docs/node.md examples"),
    check("bindings", "python", ".ci/python.sh target/ci")
        .needs("programs npm")
        .shares()
        .covers(
            "bench cli python server",
            ".ci/python.sh .ci/npm docs/python.md docs/figures examples lab/records tools/xtask/scripts/gallery.py",
        ),
    check("security", "constant-time", ".ci/constant_time.sh")
        .needs("valgrind")
        .shares()
        .covers("bls", ".ci/constant_time.sh .ci/constant_time.supp"),
    check("security", "fuzz-address", ".ci/fuzz.sh 60 address").needs("c nightly").covers(
        "bench bls ceremony merkle pipeline plonk solidity srs stark witness",
        ".ci/fuzz.sh fuzz examples",
    ),
    check("aarch64", "arm", ".ci/aarch64.sh").needs("arm").covers(
        "bls circom curve field groth16 hash merkle ntt p3 pairing pipeline sha256 stark",
        ".ci/aarch64.sh examples",
    ),
    check("aarch64", "arm-c", ".ci/c_aarch64.sh").needs("arm npm").covers("c", ".ci/c_aarch64.sh examples"),
    check(
        "aarch64",
        "arm-types",
        "CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc-12 cargo check --quiet --locked --lib --bins --target aarch64-unknown-linux-gnu \
         -p proofmill-bench -p proofmill-c -p proofmill-cli -p proofmill-node -p proofmill-p3 -p proofmill-server",
    )
    .needs("arm")
    .covers("bench c cli node p3 server", ""),
    check("aarch64", "wheels", ".ci/wheels.sh target/ci")
        .needs("arm archives platforms")
        .covers("cli python", ".ci/wheels.sh tools/xtask/scripts examples"),
    check("laboratory", "peers", ".ci/peers.sh target/debug/proofmill-bench")
        .needs("programs c")
        .covers("bench", ".ci/peers.sh lab/peers"),
    // What it runs is not the engine's.
    check("laboratory", "platform", ".ci/platform.sh target/debug/proofmill-bench")
        .needs("programs")
        .covers("", ".ci/platform.sh lab/platform/install.sh lab/bench"),
    check("circom", "corpus", ".ci/corpus.sh target/debug/proofmill")
        .needs("programs npm")
        .covers("cli", ".ci/corpus.sh .ci/corpus docs/compatibility.md"),
    // Whether its proofs are right is for the checks above to say.
    check(
        "server",
        "campaign",
        "service/campaign.py --bin target/debug --jobs 600 --kills 30 --stops 8 --drains 3 --poison 4 --snarkjs",
    )
    .needs("programs npm")
    .covers("server", "service/campaign.py"),
];
