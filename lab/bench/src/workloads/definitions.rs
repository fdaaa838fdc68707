//! The definitions, embedded in the program.

use proofmill_bench::{BenchError, definition::Family};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../lab/definitions/", $name, ".toml")))),*]
    };
}

/// Names and contents.
const FILES: [(&str, &str); 17] = files![
    "field",
    "goldilocks",
    "permutations",
    "bn254_hashes",
    "sha256",
    "merkle",
    "ntt",
    "goldilocks_transforms",
    "msm",
    "products",
    "pairing",
    "bls12_381",
    "bls",
    "groth16",
    "plonk",
    "plonk_workloads",
    "stark",
];

/// The families of `lab/definitions`, from fields to provers.
///
/// # Errors
/// An invalid definition, which the tests of this crate exclude.
pub(crate) fn definitions() -> Result<Vec<Family>, BenchError> {
    FILES.iter().map(|(name, text)| Family::parse(name, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_definition_is_embedded() -> Result<(), Box<dyn std::error::Error>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/definitions");
        for file in std::fs::read_dir(folder)? {
            let path = file?.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            assert!(FILES.iter().any(|(name, _)| Some(*name) == stem), "{}", path.display());
        }
        Ok(())
    }
}
