//! Groth16 for a chain of products, with a key whose secrets are known.
//!
//! Wires: the constant, the last product (public), then `x0`, `x1` and the products `x_(i+2) = x_(i+1) x_i`
//! except for the last. A domain of n points has n - 2 products; the other two points bind the constant and
//! the public signal.

use super::{
    adaptor::{KernelEntry, KernelFunctions, KernelLevels},
    encoding::encoded,
    inputs::{Rng, logarithm},
};
use proofmill_circom::{
    CircomError, Coefficient, Coordinate, Groth16Header, Groth16Points, Groth16Writer, Groth16Zkey, Matrix,
    public_text, write_witness,
};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve, FixedBase,
    bn254::{G1, G2},
};
use proofmill_field::{Algebra, Field, Invert, Packable, batch_invert_vartime, bn254::Fr};
use proofmill_groth16::{
    Progress, Proof, VerifyingKey, prove_with_rng, verify, verifying_key, verifying_key_text,
};
use proofmill_run::Run;
use std::{cell::RefCell, fmt::Display, fs, iter::successors, path::Path};
use tempfile::TempDir;

pub(crate) fn table() -> Vec<KernelEntry> {
    vec![proving(), verifying()]
}

fn text(error: impl Display) -> String {
    error.to_string()
}

/// A proof for a domain of `size` points, verified. The answer is the public signals, because peers use
/// different blinding.
fn proving() -> KernelEntry {
    KernelFunctions::new(
        Instance::new,
        |_, _| Ok(Vec::new()),
        |Instance { rng, key, witness, .. }, public, level, begin| {
            let begin = RefCell::new(begin);
            let observer = |phase| begin.borrow_mut()(phase);
            let progress = Progress::new(&observer);
            prove_with_rng(Run { progress, ..level.into() }, key, witness, &mut rng.clone()).map_err(text)?;
            *public = witness[PUBLIC].to_vec();
            Ok(())
        },
        |public| encoded(&public[..]),
    )
    .for_peers(|instance| instance.bytes().unwrap_or_default())
    .entry("groth16/prove", KernelLevels::PrimeFields)
}

/// The wires of public signals.
const PUBLIC: std::ops::Range<usize> = 1..2;

/// A proof for a small chain.
struct Claim {
    key: VerifyingKey,
    public: Vec<Fr>,
    proof: Proof,
    /// Key, public signals and proof as snarkjs's documents.
    text: String,
}

impl Claim {
    fn new(rng: &mut Rng, size: usize) -> Result<Self, String> {
        if size != 1 {
            return Err("expected 1".to_owned());
        }
        let level = Level::best();
        let Instance { key, witness, .. } = Instance::new(rng, 16)?;
        let proof = prove_with_rng(level.into(), &key, &witness, rng).map_err(text)?;
        let public = witness[PUBLIC].to_vec();
        let key = verifying_key(level, &key).map_err(text)?;
        let key_text = verifying_key_text(level, &key);
        let documents = format!(
            "{{\"verification_key\":{key_text},\"public\":{},\"proof\":{}}}",
            public_text(&public),
            proof.text()
        );
        Ok(Self { key, public, proof, text: documents })
    }
}

/// The verification of one proof.
fn verifying() -> KernelEntry {
    KernelFunctions::new(
        Claim::new,
        |_, _| Ok(()),
        |Claim { key, public, proof, .. }, (), level, _| verify(level, key, public, proof).map_err(text),
        |()| vec![1],
    )
    .for_peers(|claim| claim.text.clone().into_bytes())
    .entry("groth16/verify", KernelLevels::PrimeFields)
}

/// A key and a witness for a domain of `size` points, with the generator's state before they were made.
struct Instance {
    rng: Rng,
    size: usize,
    key: Groth16Zkey,
    witness: Vec<Fr>,
}

impl Instance {
    fn new(rng: &mut Rng, size: usize) -> Result<Self, String> {
        let log_n = logarithm(size, 2, 27)?;
        let before = rng.clone();
        // The key stays mapped after its folder is removed.
        let folder = tempfile::tempdir().map_err(text)?;
        let witness = write(rng, log_n, folder.path()).map_err(text)?;
        let key = Groth16Zkey::open(&folder.path().join(KEY)).map_err(text)?;
        Ok(Self { rng: before, size, key, witness })
    }

    /// The key's length in eight bytes, the key, the witness.
    fn bytes(&self) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
        let folder = TempDir::new()?;
        let witness = write(&mut self.rng.clone(), self.size.ilog2(), folder.path())?;
        write_witness(&folder.path().join(WITNESS), &witness)?;
        let read = |name| fs::read(folder.path().join(name));
        let key = read(KEY)?;
        Ok([&(key.len() as u64).to_le_bytes()[..], &key, &read(WITNESS)?].concat())
    }
}

const KEY: &str = "chain.zkey";
const WITNESS: &str = "chain.wtns";

/// Writes the key for a chain over a domain of `2^log_n` points; returns the witness.
fn write(rng: &mut Rng, log_n: u32, folder: &Path) -> Result<Vec<Fr>, CircomError> {
    let products = (1usize << log_n) - 2;
    let [tau, alpha, beta, gamma, delta] = [(); 5].map(|()| Fr::random(rng));
    let witness = witness(rng, products);
    let [a, b, c] = columns(products, &lagrange(log_n, tau));
    let combined = a.iter().zip(&b).zip(&c).map(|((a, b), c)| beta * *a + alpha * *b + *c);
    let combined: Vec<Fr> = combined.collect();
    let (public, private) = combined.split_at(PUBLIC.end);
    let [of_gamma, of_delta] = [gamma, delta].map(|secret| secret.invert_vartime().unwrap_or(Fr::ONE));
    let times =
        |scalars: &[Fr], factor: Fr| scalars.iter().map(|scalar| *scalar * factor).collect::<Vec<Fr>>();
    let odd: Vec<Fr> = lagrange(log_n + 1, tau).into_iter().skip(1).step_by(2).collect();

    let level = Level::best();
    let wires = a.len();
    let mut g1 = FixedBase::new(level, &G1::GENERATOR, 4 * wires);
    let mut g2 = FixedBase::new(level, &G2::GENERATOR, wires);
    let [alpha_1, beta_1, delta_1] = points(&mut g1, &[alpha, beta, delta])[..] else { unreachable!() };
    let [beta_2, gamma_2, delta_2] = points(&mut g2, &[beta, gamma, delta])[..] else { unreachable!() };
    let header = Groth16Header {
        wires: wires as u32,
        public: PUBLIC.len() as u32,
        domain_size: 1 << log_n,
        alpha_1,
        beta_1,
        beta_2,
        gamma_2,
        delta_1,
        delta_2,
    };
    let path = folder.join(KEY);
    let mut file = Groth16Writer::create(&path, &header)?;
    file.coefficients(2 * products as u32 + 2, coefficients(products))?;
    let mut of_g1 = |section, scalars: &[Fr]| {
        let points = points(&mut g1, scalars);
        file.points(section, |out| out.points(&points))
    };
    of_g1(Groth16Points::Ic, &times(public, of_gamma))?;
    of_g1(Groth16Points::H, &times(&odd, of_delta))?;
    of_g1(Groth16Points::C, &times(private, of_delta))?;
    of_g1(Groth16Points::A, &a)?;
    of_g1(Groth16Points::B1, &b)?;
    let b2 = points(&mut g2, &b);
    file.points(Groth16Points::B2, |out| out.points(&b2))?;
    file.contributions(&[0; 64], 0, &[])?;
    file.finish()?;
    Ok(witness)
}

/// The wire of `x_i`.
fn wire(i: usize, products: usize) -> usize {
    if i == products + 1 { PUBLIC.start } else { PUBLIC.end + i }
}

fn witness(rng: &mut Rng, products: usize) -> Vec<Fr> {
    let mut witness = vec![Fr::ONE; products + 3];
    let (mut before, mut last) = (Fr::random(rng), Fr::random(rng));
    witness[wire(0, products)] = before;
    for i in 1..=products + 1 {
        witness[wire(i, products)] = last;
        (before, last) = (last, last * before);
    }
    witness
}

/// The values at tau of the wires' polynomials in A, B and C, given the values of the domain's Lagrange
/// polynomials.
fn columns(products: usize, lagrange: &[Fr]) -> [Vec<Fr>; 3] {
    let mut columns = [(); 3].map(|()| vec![Fr::ZERO; products + 3]);
    let [a, b, c] = &mut columns;
    for (i, value) in lagrange[..products].iter().enumerate() {
        a[wire(i + 1, products)] += *value;
        b[wire(i, products)] += *value;
        c[wire(i + 2, products)] += *value;
    }
    for (column, value) in a.iter_mut().zip(&lagrange[products..]) {
        *column += *value;
    }
    columns
}

/// The matrices' coefficients as records, row by row.
fn coefficients(products: usize) -> impl Iterator<Item = Coefficient> {
    let record = |matrix, row: usize, wire: usize| Coefficient {
        matrix,
        row: row as u32,
        wire: wire as u32,
        value: Fr::ONE,
    };
    let chain = (0..products).flat_map(move |row| {
        [record(Matrix::A, row, wire(row + 1, products)), record(Matrix::B, row, wire(row, products))]
    });
    chain.chain((0..PUBLIC.end).map(move |wire| record(Matrix::A, products + wire, wire)))
}

/// The values at tau of the Lagrange polynomials of the domain of `n = 2^log_n` points: `(tau^n - 1)/n
/// w^i/(tau - w^i)`.
fn lagrange(log_n: u32, tau: Fr) -> Vec<Fr> {
    let root = Fr::root_of_unity(log_n).unwrap_or(Fr::ONE);
    let powers: Vec<Fr> = successors(Some(Fr::ONE), |power| Some(*power * root)).take(1 << log_n).collect();
    let vanishing = tau.pow_vartime(&[1 << log_n]) - Fr::ONE;
    let factor = vanishing * Fr::from(1u64 << log_n).invert_vartime().unwrap_or(Fr::ONE);
    let mut values: Vec<Fr> = powers.iter().map(|power| tau - *power).collect();
    batch_invert_vartime(&mut values);
    values.iter().zip(&powers).map(|(inverse, power)| factor * *power * *inverse).collect()
}

fn points<C: Curve<Scalar = Fr, Base: Packable + Coordinate>>(
    base: &mut FixedBase<C>,
    scalars: &[Fr],
) -> Vec<Affine<C>> {
    let mut points = vec![Affine::INFINITY; scalars.len()];
    base.multiply(scalars, &mut points);
    points
}
