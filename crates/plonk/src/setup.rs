//! Setup: the proving key of a circuit and a reference string.
//!
//! Setup is deterministic and has no secrets. The same constraints and the same powers of tau give the same
//! key, byte for byte the one of `snarkjs plonk setup`. One polynomial is in memory at a time, in addition to
//! the circuit, the labels of the permutation (3n scalars) and the n Lagrange points.

use crate::{
    Decomposition, PlonkError, Progress,
    layout::LOG_N,
    permutation::{self, multipliers},
};
use proofmill_circom::{
    CircomError, Column, PlonkHeader, PlonkWriter, PointCheck, Ptau, R1cs, SectionWriter, Selector, Target,
};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, bn254::G1, msm};
use proofmill_field::{
    Field,
    bn254::{Fr, FrParams},
};
use proofmill_poly::Domain;

/// Writes the proving key of the circuit for these powers of tau.
///
/// `progress` receives the name of each phase. Runs on the ambient rayon pool.
///
/// # Errors
/// [`PlonkError::NoConstraints`], [`PlonkError::TooLarge`], [`PlonkError::TooFewPowers`],
/// [`PlonkError::File`].
pub fn setup<'a>(
    level: Level,
    r1cs: &R1cs,
    ptau: &Ptau,
    zkey: impl Into<Target<'a>>,
    progress: Progress<'_>,
) -> Result<(), PlonkError> {
    write(level, r1cs, ptau, zkey.into(), progress)
}

fn write(
    level: Level,
    r1cs: &R1cs,
    ptau: &Ptau,
    zkey: Target<'_>,
    progress: Progress<'_>,
) -> Result<(), PlonkError> {
    progress.begin("compile");
    let circuit = Decomposition::of(r1cs)?;
    let (gates, log_n) = (circuit.rows.len(), circuit.log_n());
    if gates == 0 {
        return Err(PlonkError::NoConstraints);
    }
    let available = ptau.header().power.min(*LOG_N.end());
    if log_n > available {
        return Err(PlonkError::TooFewPowers { gates, needed: log_n, found: available });
    }
    progress.begin("read ptau");
    let lagrange_points = ptau.lagrange_tau_g1(log_n)?.decode(level, PointCheck::OnCurve)?;
    let (Some(domain), Some(extended)) = (Domain::new(log_n), Domain::new(log_n + 2)) else {
        return Err(PlonkError::TooFewPowers { gates, needed: log_n, found: *LOG_N.end() });
    };
    let mut writer = Setup { level, domain, extended, lagrange_points, progress };
    let mut file = PlonkWriter::create(zkey, ptau.is_insecure())?;
    writer.write(&circuit, ptau, &mut file)?;
    Ok(file.finish()?)
}

struct Setup<'a> {
    level: Level,
    domain: Domain<FrParams>,
    /// The domain of four times the size.
    extended: Domain<FrParams>,
    lagrange_points: Vec<Affine<G1>>,
    progress: Progress<'a>,
}

impl Setup<'_> {
    /// Writes all sections, in snarkjs's order.
    fn write(
        &mut self,
        circuit: &Decomposition,
        ptau: &Ptau,
        file: &mut PlonkWriter<'_>,
    ) -> Result<(), PlonkError> {
        let n = self.domain.len();
        file.additions(circuit.additions.iter().copied())?;
        for (wire, column) in Column::ALL.into_iter().enumerate() {
            file.wire_map(column, circuit.rows.iter().map(|row| row.wires[wire]))?;
        }

        let mut selectors = Vec::new();
        for (index, selector) in Selector::ALL.into_iter().enumerate() {
            let mut values: Vec<Fr> = circuit.rows.iter().map(|row| row.selectors[index]).collect();
            values.resize(n, Fr::ZERO);
            selectors.push(self.commit(&values));
            file.selector(selector, |out| self.polynomial(values, out))?;
        }

        let [_, k1, k2, _] = multipliers();
        self.progress.begin("permutation");
        let variables_of: Vec<Vec<u32>> =
            (0..3).map(|wire| circuit.rows.iter().map(|row| row.wires[wire]).collect()).collect();
        let positions = permutation::sigma(&variables_of, circuit.variables, n);
        let roots = permutation::powers(self.domain.root(), n);
        let labels = permutation::labels(&positions, &roots);
        let sigma: Vec<_> = labels.chunks(n).map(|labels| self.commit(labels)).collect();
        file.sigma(|out| labels.chunks(n).try_for_each(|labels| self.polynomial(labels.to_vec(), out)))?;

        file.lagrange(|out| {
            (0..circuit.public.max(1) as usize).try_for_each(|row| {
                let mut values = vec![Fr::ZERO; n];
                values[row] = Fr::ONE;
                self.polynomial(values, out)
            })
        })?;
        self.progress.begin("read ptau");
        let powers = ptau.tau_g1()?.slice(0..n + 6)?.decode(self.level, PointCheck::OnCurve)?;
        file.ptau(|out| out.points(&powers))?;
        let tau = ptau.tau_g2()?.slice(1..2)?.decode(self.level, PointCheck::InSubgroup)?;

        file.header(&PlonkHeader {
            wires: circuit.variables,
            public: circuit.public,
            domain_size: n as u32,
            additions: circuit.additions.len() as u32,
            constraints: circuit.rows.len() as u32,
            k1,
            k2,
            selectors: std::array::from_fn(|i| selectors[i]),
            sigma: std::array::from_fn(|i| sigma[i]),
            x_2: tau[0],
            insecure_setup: ptau.is_insecure(),
        })?;
        Ok(())
    }

    /// The commitment to the polynomial with these values on the domain.
    fn commit(&mut self, values: &[Fr]) -> Affine<G1> {
        self.progress.begin("msm");
        msm::<G1>(self.level, &self.lagrange_points, values).to_affine()
    }

    /// Writes the polynomial with these values on the domain: its coefficients, then its values on the
    /// extended domain.
    fn polynomial(&mut self, mut values: Vec<Fr>, out: &mut SectionWriter<'_>) -> Result<(), CircomError> {
        self.progress.begin("ntt");
        self.domain.intt(self.level, &mut values);
        out.montgomery(&values)?;
        values.resize(self.extended.len(), Fr::ZERO);
        self.extended.ntt(self.level, &mut values);
        out.montgomery(&values)
    }
}
