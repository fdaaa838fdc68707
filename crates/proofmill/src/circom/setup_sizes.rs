//! What the keys of a circuit need.

use super::{PairingCurve, ScalarPrime, curve_of};
use crate::Result;
use proofmill_circom::{CircomCurve, CircomError, R1csFile, over_curve};
use proofmill_field::bn254::FrParams;
use proofmill_plonk::{RowCount, ZeroTerms, fflonk};
use std::path::Path;

/// The sizes for a circuit's key of one proof system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetupSize {
    /// Rows: gates of PLONK and fflonk; for Groth16 constraints, public signals and the constant.
    pub rows: u64,
    /// The power of the smallest powers of tau from which `setup` makes the key; `None` if the circuit has no rows, or too many.
    pub power: Option<u32>,
}

/// What the keys of a circuit need.
///
/// ```
/// use proofmill::circom::SetupSizes;
///
/// # fn main() -> proofmill::Result<()> {
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
/// # std::env::set_current_dir(folder).expect("the example");
/// let sizes = SetupSizes::of("circuit.r1cs")?;
/// assert_eq!(sizes.groth16.power, Some(8));
/// assert_eq!(sizes.fflonk.and_then(|size| size.power), Some(11));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetupSizes {
    /// The sizes for Groth16.
    pub groth16: SetupSize,
    /// The sizes for PLONK in the standard arithmetisation; `None` for curves other than BN254.
    pub plonk: Option<SetupSize>,
    /// The sizes for fflonk; `None` for curves other than BN254.
    pub fflonk: Option<SetupSize>,
}

impl SetupSizes {
    /// The sizes for an `.r1cs` file over any curve's scalar field. Memory is that of one constraint.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), and [`Error::Malformed`](crate::Error::Malformed) for anything but constraints.
    pub fn of(circuit: impl AsRef<Path>) -> Result<Self> {
        let path = circuit.as_ref();
        match curve_of(path)?.unwrap_or(PairingCurve::Bn254) {
            PairingCurve::Bn254 => Self::of_bn254(&R1csFile::open(path)?),
            curve => over_curve!(curve, C => {
                let circuit = R1csFile::<<C as CircomCurve>::ScalarPrime>::open(path)?;
                Ok(Self { groth16: groth16(&circuit), plonk: None, fflonk: None })
            }),
        }
    }

    fn of_bn254(circuit: &R1csFile<FrParams>) -> Result<Self> {
        let of = |zero_terms| RowCount::new(circuit.header().public(), zero_terms);
        let (mut plonk, mut fflonk) = (of(ZeroTerms::Kept), of(ZeroTerms::Dropped));
        circuit.each(|terms| {
            for count in [&mut plonk, &mut fflonk] {
                count.constrain(terms.map(|terms| terms.iter().copied()));
            }
            Ok::<_, CircomError>(())
        })?;
        let (plonk, fflonk) = (plonk.rows(), fflonk.rows());
        Ok(Self {
            groth16: groth16(circuit),
            plonk: Some(SetupSize { rows: plonk as u64, power: proofmill_plonk::power(plonk) }),
            fflonk: Some(SetupSize { rows: fflonk as u64, power: fflonk::power(fflonk) }),
        })
    }
}

fn groth16<P: ScalarPrime>(circuit: &R1csFile<P>) -> SetupSize {
    let header = circuit.header();
    SetupSize { rows: proofmill_groth16::rows(header), power: proofmill_groth16::power(header) }
}
