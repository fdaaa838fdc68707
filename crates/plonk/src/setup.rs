//! Setup: the proving key of a circuit and a reference string.
//!
//! Setup is deterministic and has no secrets. The same constraints and the same powers of tau give the same
//! key, byte for byte the one of `snarkjs plonk setup`. One polynomial is in memory at a time, in addition to
//! the circuit, the labels of the permutation (3n scalars) and the n Lagrange points.

use crate::{
    Decomposition, PlonkError, Progress,
    arithmetisation::{
        layout::LOG_N,
        permutation::{self, multipliers},
        r1cs::{ZeroTerms, log_n},
    },
};
use proofmill_circom::{
    CircomError, Column, GateCounts, GateHeader, GateWriter, PlonkHeader, PlonkWriter, PointCheck, Ptau,
    R1cs, SectionWriter, Selector,
};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
    msm,
};
use proofmill_field::{
    Field,
    bn254::{Fr, FrParams},
};
use proofmill_files::Target;
use proofmill_ntt::Domain;
use proofmill_run::Run;

/// Writes the proving key of the circuit for these powers of tau.
///
/// Runs on the ambient rayon pool.
///
/// # Errors
/// [`PlonkError::NoConstraints`], [`PlonkError::TooLarge`], [`PlonkError::TooFewPowers`], [`PlonkError::Unprepared`],
/// [`PlonkError::File`].
pub fn setup<'a>(
    run: Run<'_>,
    r1cs: &R1cs,
    ptau: &Ptau,
    zkey: impl Into<Target<'a>>,
) -> Result<(), PlonkError> {
    write(run, r1cs, ptau, zkey.into())
}

fn write(run: Run<'_>, r1cs: &R1cs, ptau: &Ptau, zkey: Target<'_>) -> Result<(), PlonkError> {
    let Run { level, progress, .. } = run;
    let circuit = compile(r1cs, ZeroTerms::Kept, progress)?;
    let (gates, log_n) = (circuit.rows.len(), circuit.log_n(0));
    let available = ptau.header().power.min(*LOG_N.end());
    if log_n > available {
        return Err(PlonkError::TooFewPowers { gates, needed: log_n, found: available });
    }
    if !ptau.is_prepared() {
        return Err(PlonkError::Unprepared);
    }
    progress.begin("read ptau");
    let lagrange_points = ptau.lagrange_tau_g1(log_n)?.decode(level, PointCheck::OnCurve)?;
    let mut commitments =
        Commitments { level, progress, lagrange_points, points: [Affine::INFINITY; FIXED_COLUMNS] };
    let mut file = PlonkWriter::create(zkey, ptau.insecurity().is_some())?;
    let setup = GateSetup::new(run, &circuit, 0)?;
    let counts = setup.counts(ptau.insecurity().is_some());
    // tau^0 to tau^(n+5), as in the paper: the last part of the blinded t has n + 6 coefficients.
    let powers = ptau.tau_g1()?.slice(0..counts.domain_size as usize + 6)?;
    setup.write(&mut file, &mut commitments)?;
    progress.begin("read ptau");
    let powers = powers.decode(level, PointCheck::OnCurve)?;
    file.ptau(|out| out.points(&powers))?;
    let [qm, ql, qr, qo, qc, s1, s2, s3] = commitments.points;
    let [_, k1, k2, _] = multipliers();
    file.header(&PlonkHeader {
        counts,
        k1,
        k2,
        selectors: [qm, ql, qr, qo, qc],
        sigma: [s1, s2, s3],
        x_2: tau_g2(level, ptau)?,
    })?;
    Ok(file.finish()?)
}

/// The power of the smallest file of powers of tau from which a circuit of so many rows gets a key; `None` if no file is large enough.
/// The rows are those with [`ZeroTerms::Kept`].
pub fn power(rows: usize) -> Option<u32> {
    Some(log_n(rows)).filter(|log_n| rows > 0 && LOG_N.contains(log_n))
}

/// The rows of a circuit.
pub(crate) fn compile(
    r1cs: &R1cs,
    zero_terms: ZeroTerms,
    progress: Progress<'_>,
) -> Result<Decomposition, PlonkError> {
    progress.begin("compile");
    let circuit = Decomposition::of(r1cs, zero_terms)?;
    if circuit.rows.is_empty() {
        return Err(PlonkError::NoConstraints);
    }
    Ok(circuit)
}

/// tau in G2.
pub(crate) fn tau_g2(level: Level, ptau: &Ptau) -> Result<Affine<G2>, PlonkError> {
    let tau = ptau.tau_g2()?.slice(1..2)?.decode(level, PointCheck::InSubgroup)?;
    Ok(tau.first().copied().unwrap_or(Affine::INFINITY))
}

/// Fixed columns of the standard arithmetisation: selectors, then the permutation.
pub(crate) const FIXED_COLUMNS: usize = Selector::ALL.len() + Column::ALL.len();

/// Receives each fixed column while a key is written.
pub(crate) trait FixedColumnSink {
    /// The n values of fixed column `place`, in the order of `System::standard`.
    fn values(&mut self, _place: usize, _values: &[Fr]) {}

    /// The column's n coefficients.
    fn coefficients(&mut self, _place: usize, _coefficients: &[Fr]) {}
}

/// Commits to each fixed column.
struct Commitments<'a> {
    level: Level,
    progress: Progress<'a>,
    lagrange_points: Vec<Affine<G1>>,
    points: [Affine<G1>; FIXED_COLUMNS],
}

impl FixedColumnSink for Commitments<'_> {
    fn values(&mut self, place: usize, values: &[Fr]) {
        self.progress.begin("msm");
        self.points[place] = msm::<G1>(self.level, &self.lagrange_points, values).to_affine();
    }
}

/// Writes the sections that the keys of PLONK and fflonk have in common.
pub(crate) struct GateSetup<'a> {
    level: Level,
    circuit: &'a Decomposition,
    /// Rows at the end of the domain without gates and copy constraints.
    free_rows: usize,
    domain: Domain<FrParams>,
    /// The domain of four times the size.
    extended: Domain<FrParams>,
    progress: Progress<'a>,
}

impl<'a> GateSetup<'a> {
    pub(crate) fn new(
        run: Run<'a>,
        circuit: &'a Decomposition,
        free_rows: usize,
    ) -> Result<Self, PlonkError> {
        let Run { level, progress, .. } = run;
        let log_n = circuit.log_n(free_rows);
        match (Domain::new(log_n), Domain::new(log_n + 2)) {
            (Some(domain), Some(extended)) => {
                Ok(Self { level, circuit, free_rows, domain, extended, progress })
            }
            _ => Err(PlonkError::TooLarge),
        }
    }

    /// The counts of the header.
    pub(crate) fn counts(&self, insecure_setup: bool) -> GateCounts {
        GateCounts {
            wires: self.circuit.variables,
            public: self.circuit.public,
            domain_size: self.domain.len() as u32,
            additions: self.circuit.additions.len() as u32,
            constraints: self.circuit.rows.len() as u32,
            insecure_setup,
        }
    }

    /// Writes the sections before the powers of tau, in snarkjs's order.
    pub(crate) fn write<H: GateHeader>(
        &self,
        file: &mut GateWriter<'_, H>,
        sink: &mut dyn FixedColumnSink,
    ) -> Result<(), PlonkError> {
        let (circuit, n) = (self.circuit, self.domain.len());
        file.additions(circuit.additions.iter().copied())?;
        for (wire, column) in Column::ALL.into_iter().enumerate() {
            file.wire_map(column, circuit.rows.iter().map(|row| row.wires[wire]))?;
        }
        for selector in GateWriter::<H>::SELECTORS {
            let place = Selector::ALL.iter().position(|each| *each == selector).unwrap_or_default();
            // Rows beyond the circuit have no gate: their selectors are zero.
            let mut values: Vec<Fr> = circuit.rows.iter().map(|row| row.selectors[place]).collect();
            values.resize(n, Fr::ZERO);
            file.selector(selector, |out| self.fixed_column(place, values, sink, out))?;
        }

        self.progress.begin("permutation");
        let variables_of: Vec<Vec<u32>> =
            (0..3).map(|wire| circuit.rows.iter().map(|row| row.wires[wire]).collect()).collect();
        // S_sigma1 to S_sigma3 of the paper: the labels that the permutation gives the positions.
        let positions = permutation::sigma(&variables_of, circuit.variables, n, self.free_rows);
        let roots = permutation::powers(self.domain.root(), n);
        let labels = permutation::labels(&positions, &roots);
        let mut columns = (Selector::ALL.len()..).zip(labels.chunks(n));
        file.sigma(|_, out| {
            columns
                .next()
                .map_or(Ok(()), |(place, labels)| self.fixed_column(place, labels.to_vec(), sink, out))
        })?;

        file.lagrange(|out| {
            // L_1 is there even without public inputs: the permutation argument uses it.
            (0..circuit.public.max(1) as usize).try_for_each(|row| {
                let mut values = vec![Fr::ZERO; n];
                values[row] = Fr::ONE;
                self.polynomial(values, out, |_| ())
            })
        })?;
        Ok(())
    }

    fn fixed_column(
        &self,
        place: usize,
        values: Vec<Fr>,
        sink: &mut dyn FixedColumnSink,
        out: &mut SectionWriter<'_>,
    ) -> Result<(), CircomError> {
        sink.values(place, &values);
        self.polynomial(values, out, |coefficients| sink.coefficients(place, coefficients))
    }

    /// Writes the polynomial with these values on the domain: its coefficients, then its values on the
    /// extended domain.
    fn polynomial(
        &self,
        mut values: Vec<Fr>,
        out: &mut SectionWriter<'_>,
        coefficients: impl FnOnce(&[Fr]),
    ) -> Result<(), CircomError> {
        self.progress.begin("ntt");
        self.domain.intt(self.level, &mut values);
        coefficients(&values);
        out.montgomery(&values)?;
        values.resize(self.extended.len(), Fr::ZERO);
        self.extended.ntt(self.level, &mut values);
        out.montgomery(&values)
    }
}
