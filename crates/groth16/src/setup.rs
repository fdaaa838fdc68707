//! Setup: a proving key without contributions, from a circuit and powers of tau.
//!
//! It uses no secrets and no randomness: the same constraints and powers of tau give the same key, with the bytes of
//! `snarkjs groth16 setup`. gamma and delta are 1, so the key is insecure without contributions to delta.

use crate::{
    Groth16Curve, Groth16Error, Progress, circuit_hash::CircuitHash, columns::SparseColumns,
    combination::combinations, past_powers::past_the_powers,
};
use proofmill_circom::{
    CircomCurve, Coefficient, Coordinate, Groth16Header, Groth16Points, Groth16Writer, Matrix, PointCheck,
    Points, Ptau, R1cs, R1csHeader, ScalarPrime, SparseMatrix,
};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, Jacobian, Msm};
use proofmill_field::{Field, Fp};
use proofmill_files::Target;
use proofmill_run::{Run, parallel};

/// The largest domain: H needs one twice as large, and powers of tau go up to 28, the two-adicity of BN254.
const LARGEST_LOG_N: u32 = 27;

/// Writes the proving key of the circuit for the powers of tau.
///
/// Runs on the ambient rayon pool. In addition to the circuit it needs 40 bytes for
/// each of its terms, 512 for each point of the domain, and the points of one section.
///
/// # Errors
/// [`Groth16Error::Unprepared`], [`Groth16Error::TooFewPowers`], [`Groth16Error::TooManyCoefficients`],
/// [`Groth16Error::File`].
///
/// # Panics
/// If the header of a circuit that was not read from a file contradicts its constraints.
pub fn setup<'a, C: Groth16Curve>(
    run: Run<'_>,
    r1cs: &R1cs<C::ScalarPrime>,
    ptau: &Ptau<C>,
    zkey: impl Into<Target<'a>>,
) -> Result<(), Groth16Error> {
    write(run, r1cs, ptau, zkey.into())
}

fn write<C: Groth16Curve>(
    run: Run<'_>,
    r1cs: &R1cs<C::ScalarPrime>,
    ptau: &Ptau<C>,
    zkey: Target<'_>,
) -> Result<(), Groth16Error> {
    let Run { level, progress, .. } = run;
    let log_n = log_domain(&r1cs.header, ptau)?;
    let n = 1 << log_n;
    progress.begin("read ptau");
    let alpha = ptau.lagrange_alpha_tau_g1(log_n)?.decode(level, PointCheck::OnCurve)?;
    let beta = ptau.lagrange_beta_tau_g1(log_n)?.decode(level, PointCheck::OnCurve)?;
    let tau = ptau.lagrange_tau_g1(log_n)?.decode(level, PointCheck::OnCurve)?;
    let header = Groth16Header {
        wires: r1cs.header.wires,
        public: r1cs.header.public(),
        domain_size: n as u32,
        alpha_1: first(level, ptau.alpha_tau_g1()?)?,
        beta_1: first(level, ptau.beta_tau_g1()?)?,
        beta_2: ptau.beta_g2()?,
        gamma_2: C::G2::GENERATOR,
        delta_1: C::GENERATOR,
        delta_2: C::G2::GENERATOR,
    };
    let coefficients = count(r1cs)?;
    let hash = CircuitHash::new(&header);
    let file = Groth16Writer::create(zkey, &header)?;
    let mut key = Setup { level, file, hash, progress };

    key.phase("write coefficients");
    key.file.coefficients(coefficients, all_coefficients(r1cs))?;
    let wires = header.wires as usize;
    let a = SparseColumns::new(wires, a_terms(r1cs));
    let b = SparseColumns::new(wires, terms(&r1cs.b, &r1cs.header));
    let c = SparseColumns::new(wires, terms(&r1cs.c, &r1cs.header));
    // The points of IC and C are `beta a_i + alpha b_i + c_i` at tau (section 3.2 of the paper),
    // without divisions because gamma and delta are 1.
    let parts = [(&a, &beta[..]), (&b, &alpha[..]), (&c, &tau[..])];
    // From here on, the order of the sections is the order in which snarkjs hashes them.
    let public = header.public as usize + 1;
    key.phase("points ic");
    key.points(Groth16Points::Ic, 0..public, &parts)?;
    key.phase("points h");
    key.h(ptau, log_n)?;
    key.phase("points c");
    key.points(Groth16Points::C, public..wires, &parts)?;
    drop((alpha, beta, c));
    key.phase("points a");
    key.points(Groth16Points::A, 0..wires, &[(&a, &tau)])?;
    key.phase("points b1");
    key.points(Groth16Points::B1, 0..wires, &[(&b, &tau)])?;
    drop((tau, a));
    key.phase("read ptau");
    let tau = ptau.lagrange_tau_g2(log_n)?.decode(level, PointCheck::OnCurve)?;
    key.phase("points b2");
    key.points::<C::G2>(Groth16Points::B2, 0..wires, &[(&b, &tau)])?;

    key.file.contributions(&key.hash.finish(), 0, &[])?;
    Ok(key.file.finish()?)
}

/// The rows of a circuit: one for each constraint, each public signal and the constant.
pub fn rows(circuit: &R1csHeader) -> u64 {
    u64::from(circuit.constraints) + u64::from(circuit.public()) + 1
}

/// The base-2 logarithm of the domain's size, which is at least two.
fn log_n(circuit: &R1csHeader) -> u32 {
    rows(circuit).max(2).next_power_of_two().trailing_zeros()
}

/// The power of the smallest file of powers of tau from which a circuit gets a key; `None` if no file is large enough.
pub fn power(circuit: &R1csHeader) -> Option<u32> {
    Some(log_n(circuit)).filter(|power| *power <= LARGEST_LOG_N)
}

/// [`log_n`], if the powers of tau suffice for it.
fn log_domain<C: Groth16Curve>(circuit: &R1csHeader, ptau: &Ptau<C>) -> Result<u32, Groth16Error> {
    let (rows, needed) = (rows(circuit), log_n(circuit));
    let found = ptau.header().power.min(LARGEST_LOG_N);
    if needed > found {
        return Err(Groth16Error::TooFewPowers { rows, needed, found });
    }
    if !ptau.is_prepared() {
        return Err(Groth16Error::Unprepared);
    }
    Ok(needed)
}

fn first<C: Groth16Curve>(level: Level, points: Points<'_, C>) -> Result<Affine<C>, Groth16Error> {
    let points = points.slice(0..1)?.decode(level, PointCheck::OnCurve)?;
    Ok(points.first().copied().unwrap_or(Affine::INFINITY))
}

/// The number of coefficients of A and B in the key.
fn count<P: ScalarPrime>(r1cs: &R1cs<P>) -> Result<u32, Groth16Error> {
    let found = (r1cs.a.terms() + r1cs.b.terms()) as u64 + u64::from(r1cs.header.public()) + 1;
    u32::try_from(found).map_err(|_| Groth16Error::TooManyCoefficients { found })
}

/// The terms (row, wire, coefficient) of the constraints.
fn terms<'a, P: ScalarPrime>(
    matrix: &'a SparseMatrix<P>,
    header: &R1csHeader,
) -> impl Iterator<Item = (u32, u32, Fp<P>)> + Clone + use<'a, P> {
    let row = |row| matrix.row(row as usize).map(move |(wire, coefficient)| (row, wire, coefficient));
    (0..header.constraints).flat_map(row)
}

/// The rows after the constraints: each has one public signal in A, the constant first. They make the polynomials of the
/// public signals linearly independent (since libsnark's implementation).
fn public_terms<P: ScalarPrime>(
    header: &R1csHeader,
) -> impl Iterator<Item = (u32, u32, Fp<P>)> + Clone + use<P> {
    let constraints = header.constraints;
    (0..=header.public()).map(move |wire| (constraints + wire, wire, Fp::ONE))
}

fn a_terms<P: ScalarPrime>(r1cs: &R1cs<P>) -> impl Iterator<Item = (u32, u32, Fp<P>)> + Clone {
    terms(&r1cs.a, &r1cs.header).chain(public_terms(&r1cs.header))
}

/// The coefficients of A and B row by row, then those of the public signals' rows.
fn all_coefficients<P: ScalarPrime>(r1cs: &R1cs<P>) -> impl Iterator<Item = Coefficient<P>> {
    let of = |matrix, row| move |(wire, value): (u32, Fp<P>)| Coefficient { matrix, row, wire, value };
    let rows = (0..r1cs.header.constraints).flat_map(move |row| {
        let a = r1cs.a.row(row as usize).map(of(Matrix::A, row));
        a.chain(r1cs.b.row(row as usize).map(of(Matrix::B, row)))
    });
    rows.chain(public_terms(&r1cs.header).map(move |(row, wire, value)| of(Matrix::A, row)((wire, value))))
}

/// Columns, and the points of their rows.
type Part<'a, C, G> = (&'a SparseColumns<<C as CircomCurve>::ScalarPrime>, &'a [Affine<G>]);

struct Setup<'a, C: Groth16Curve> {
    level: Level,
    file: Groth16Writer<'a, C>,
    hash: CircuitHash,
    progress: Progress<'a>,
}

impl<C: Groth16Curve> Setup<'_, C> {
    fn phase(&mut self, name: &'static str) {
        self.progress.begin(name);
    }

    /// Writes and hashes, for some wires, the sums over `parts` of columns times Lagrange points.
    #[allow(clippy::indexing_slicing)] // Rows are below the domain's size.
    fn points<G>(
        &mut self,
        section: Groth16Points,
        wires: std::ops::Range<usize>,
        parts: &[Part<'_, C, G>],
    ) -> Result<(), Groth16Error>
    where
        G: Msm<Scalar = C::Scalar, Base: Coordinate>,
    {
        let points = combinations::<G>(self.level, wires.len(), |index, list| {
            for (columns, lagrange) in parts {
                let column = columns.column(wires.start + index);
                list.extend(column.iter().map(|&(row, coefficient)| (lagrange[row as usize], coefficient)));
            }
        });
        self.hash.length(points.len());
        self.hash.points(&points);
        Ok(self.file.points(section, |out| out.points(&points))?)
    }

    /// Writes H's points, the odd half of the Lagrange points of the domain twice as large, and hashes the powers from which
    /// they come, `tau^i Z(tau)`.
    fn h(&mut self, ptau: &Ptau<C>, log_n: u32) -> Result<(), Groth16Error> {
        let points = ptau.lagrange_tau_g1(log_n + 1)?.decode(self.level, PointCheck::OnCurve)?;
        // The even points belong to the domain itself, where A B - C is zero.
        let odd: Vec<_> = points.into_iter().skip(1).step_by(2).collect();
        self.file.points(Groth16Points::H, |out| out.points(&odd))?;
        drop(odd);

        let n = 1 << log_n;
        self.hash.length(n - 1);
        let hashed = hashed_powers(n);
        let powers = ptau.tau_g1()?;
        let available = powers.len().min(n + hashed);
        let powers = powers.slice(0..available)?.decode(self.level, PointCheck::OnCurve)?;
        let (low, high) = powers.split_at_checked(n).ok_or(SHORT_POWERS)?;
        let mut differences = vec![Affine::INFINITY; high.len().min(low.len())];
        let blocks = differences.chunks_mut(1 << 10).zip(high.chunks(1 << 10)).zip(low.chunks(1 << 10));
        parallel::for_each(blocks, |((differences, high), low)| {
            let pairs = high.iter().zip(low);
            let sums = pairs.map(|(high, low)| Jacobian::from(*high).add_affine(&-*low));
            differences.copy_from_slice(&Jacobian::batch_to_affine(&sums.collect::<Vec<_>>()));
        });
        // The powers may end at tau^(2n-2). snarkjs then hashes what follows them in the file.
        if let Some(last) =
            low.get(differences.len()).filter(|_| differences.len() + 1 == hashed && hashed == n)
        {
            differences.push(past_the_powers(ptau, last)?.to_affine());
        }
        if differences.len() != hashed {
            return Err(SHORT_POWERS);
        }
        self.hash.points(&differences);
        Ok(())
    }
}

const SHORT_POWERS: Groth16Error =
    Groth16Error::Malformed("the powers of tau in G1 do not reach to twice the domain's size");

/// Powers that snarkjs hashes in one piece.
const HASHED_PIECE: usize = 1 << 14;

/// The number of differences `tau^(n+i) - tau^i` that snarkjs hashes: those for i below n - 1; if they are more than one piece,
/// whole pieces, which adds one difference.
fn hashed_powers(n: usize) -> usize {
    if n > HASHED_PIECE { n } else { n - 1 }
}
