//! Setup: snarkjs's key, byte for byte.

use super::{FREE_ROWS, LOG_N, powers};
use crate::{
    PlonkError,
    arithmetisation::{
        permutation::multipliers,
        r1cs::{ZeroTerms, log_n},
    },
    setup::{FIXED_COLUMNS, FixedColumnSink, GateSetup, compile, tau_g2},
};
use proofmill_circom::{FflonkHeader, FflonkWriter, PointCheck, Ptau, PtauPoints, R1cs};
use proofmill_curve::{bn254::G1, msm};
use proofmill_field::{Field, bn254::Fr};
use proofmill_files::Target;
use proofmill_run::Run;

/// The place in C0 of each fixed column in PLONK's order (Qm, Ql, Qr, Qo, Qc, S1, S2, S3).
const PLACES: [usize; FIXED_COLUMNS] = [3, 0, 1, 2, 4, 5, 6, 7];

/// Writes the proving key of the circuit for these powers of tau. A domain of n points needs 9n + 18 of them. They
/// need not be prepared for phase 2.
///
/// Runs on the ambient rayon pool.
///
/// # Errors
/// [`PlonkError::NoConstraints`], [`PlonkError::TooLarge`], [`PlonkError::ShortReference`],
/// [`PlonkError::File`].
pub fn setup<'a>(
    run: Run<'_>,
    r1cs: &R1cs,
    ptau: &Ptau,
    zkey: impl Into<Target<'a>>,
) -> Result<(), PlonkError> {
    write(run, r1cs, ptau, zkey.into())
}

/// The power of the smallest file of powers of tau from which a circuit of so many rows gets a key; `None` if no file is large enough.
/// The rows are those with [`ZeroTerms::Dropped`].
pub fn power(rows: usize) -> Option<u32> {
    let log_n = Some(log_n(rows + FREE_ROWS)).filter(|log_n| rows > 0 && LOG_N.contains(log_n))?;
    Some(PtauPoints::TauG1.power_with(powers(1 << log_n)))
}

fn write(run: Run<'_>, r1cs: &R1cs, ptau: &Ptau, zkey: Target<'_>) -> Result<(), PlonkError> {
    let Run { level, progress, .. } = run;
    let circuit = compile(r1cs, ZeroTerms::Dropped, progress)?;
    let log_n = circuit.log_n(FREE_ROWS);
    if !LOG_N.contains(&log_n) {
        return Err(PlonkError::TooLarge);
    }
    let n = 1 << log_n;
    let (needed, available) = (powers(n), ptau.tau_g1()?);
    if needed > available.len() {
        return Err(PlonkError::ShortReference { needed, found: available.len() });
    }
    let x_2 = tau_g2(level, ptau)?;
    let mut file = FflonkWriter::create(zkey, ptau.insecurity().is_some())?;
    let setup = GateSetup::new(run, &circuit, FREE_ROWS)?;
    // C0 has coefficient i of column j at 8 i + j. It is written after the powers of tau.
    let mut c0 = Combined(vec![Fr::ZERO; FIXED_COLUMNS * n]);
    setup.write(&mut file, &mut c0)?;
    progress.begin("read ptau");
    let powers = available.slice(0..needed)?.decode(level, PointCheck::OnCurve)?;
    file.ptau(|out| out.points(&powers))?;
    file.c0(|out| out.montgomery(&c0.0))?;
    progress.begin("msm");
    let [_, k1, k2, _] = multipliers();
    let c0 = msm::<G1>(level, &powers[..c0.0.len()], &c0.0).to_affine();
    file.header(&FflonkHeader { counts: setup.counts(ptau.insecurity().is_some()), k1, k2, x_2, c0 })?;
    Ok(file.finish()?)
}

/// The coefficients of C0.
struct Combined(Vec<Fr>);

impl FixedColumnSink for Combined {
    fn coefficients(&mut self, place: usize, coefficients: &[Fr]) {
        for (combined, coefficient) in self.0.chunks_exact_mut(FIXED_COLUMNS).zip(coefficients) {
            combined[PLACES[place]] = *coefficient;
        }
    }
}
