//! The first phase: powers of tau, which do not depend on a circuit.
//!
//! A contribution multiplies tau, alpha and beta by secrets x, and so each point of the file by a product of powers of them. For each x there
//! is a proof of knowledge `(s, x s, x s')`. s is a random point of G1, and s' a hash to G2 of the previous challenge's hash, s and x s. The
//! *challenge* is the response's hash and all powers, uncompressed; the *response* to it is its hash, all new powers, compressed, and the
//! proofs of knowledge. Both may travel as files, in place of the `.ptau`, in the format of the Perpetual Powers of Tau. A file has the hash
//! of each challenge, and of each response the state of its hash before the proofs of knowledge, with which it can be completed.
//!
//! Sections are read, multiplied, hashed and written piece by piece, so that memory does not depend on the power.

mod challenge;
mod contribute;
mod prepare;
mod smaller;
mod verify;

pub use challenge::{contribute_to_challenge, export_challenge, import_response};
pub use contribute::{contribute, new};
pub use prepare::{convert, prepare};
pub use smaller::{truncate, truncated_powers};
pub use verify::{response_hash, verify};

use crate::{
    CeremonyError,
    encoding::{CeremonyCurve, Group, Member, PointEncoding, draw_point, encode, write_uncompressed},
    generator::Generator,
};
use blake2::{Blake2b512, Digest};
use proofmill_circom::{KnowledgeProof, PointCheck, Ptau, PtauContribution, PtauHeader, PtauPoints};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve};
use proofmill_field::Field;
use std::ops::Range;
use zeroize::Zeroizing;

/// Points of a section that are in memory at the same time.
const PIECE: usize = 1 << 18;

/// A function that is applied to each section of powers.
trait Sections<C: CeremonyCurve> {
    fn section<G: Member<C> + Curve<Scalar = C::Scalar>>(
        &mut self,
        section: PtauPoints,
        count: usize,
    ) -> Result<(), CeremonyError>;
}

/// Visits the sections of powers in the order of files, challenges and responses.
fn each_section<C: CeremonyCurve>(power: u32, visitor: &mut impl Sections<C>) -> Result<(), CeremonyError> {
    visitor.section::<C>(PtauPoints::TauG1, PtauPoints::TauG1.count(power))?;
    visitor.section::<C::G2>(PtauPoints::TauG2, PtauPoints::TauG2.count(power))?;
    visitor.section::<C>(PtauPoints::AlphaTauG1, PtauPoints::AlphaTauG1.count(power))?;
    visitor.section::<C>(PtauPoints::BetaTauG1, PtauPoints::BetaTauG1.count(power))?;
    visitor.section::<C::G2>(PtauPoints::BetaG2, PtauPoints::BetaG2.count(power))
}

/// Bytes of all powers: `2^(power + 1) - 1` points of tau in G1, `2^power` in G2, twice `2^power` in G1, and one in G2.
fn size_of_powers<C: CeremonyCurve>(form: PointEncoding, power: u32) -> usize {
    let n = 1 << power;
    (4 * n - 1) * form.size::<C>() + (n + 1) * form.size::<C::G2>()
}

/// The sections of a file of a whole ceremony, whose lengths are checked.
fn expect_whole<C: CeremonyCurve>(powers: &Ptau<C>) -> Result<u32, CeremonyError> {
    powers.expect_complete()?;
    let PtauHeader { power, ceremony_power } = *powers.header();
    if power == ceremony_power { Ok(power) } else { Err(CeremonyError::Reduced { power, ceremony_power }) }
}

/// Points of a file, each checked to be in its group and not infinity.
fn read<C: CeremonyCurve, G: Group>(
    level: Level,
    powers: &Ptau<C>,
    section: PtauPoints,
    range: Range<usize>,
) -> Result<Vec<Affine<G>>, CeremonyError> {
    let points = powers.points::<G>(section)?.slice(range.clone())?.decode(level, PointCheck::InSubgroup)?;
    match points.iter().position(Affine::is_infinity) {
        None => Ok(points),
        Some(at) => Err(wrong(section, format!("element {}: point is infinity", range.start + at))),
    }
}

fn wrong(section: PtauPoints, problem: impl Into<String>) -> CeremonyError {
    CeremonyError::Powers { section: section.section(), problem: problem.into() }
}

/// The secrets of a contribution.
struct Secrets<C: CeremonyCurve> {
    tau: Zeroizing<C::Scalar>,
    alpha: Zeroizing<C::Scalar>,
    beta: Zeroizing<C::Scalar>,
}

impl<C: CeremonyCurve> Secrets<C> {
    /// Draws secrets and makes their proofs of knowledge, for a challenge with this hash.
    fn new(
        generator: &mut Generator,
        challenge: &[u8; 64],
    ) -> Result<(Self, [KnowledgeProof<C>; 3]), CeremonyError> {
        let [tau, alpha, beta] =
            std::array::from_fn(|_| Zeroizing::new(generator.element::<C::ScalarPrime>()));
        let secrets = Self { tau, alpha, beta };
        // A zero secret would turn powers into infinity.
        if [&secrets.tau, &secrets.alpha, &secrets.beta].into_iter().any(|secret| secret.is_zero()) {
            return Err(CeremonyError::Beacon("one of its secrets is zero".to_owned()));
        }
        let mut proof = |which, secret: &C::Scalar| {
            // Bowe, Gabizon, Miers 2017/1050: s and x s commit to the secret x in G1; x s' answers
            // a base s' that depends on both and on the challenge, so no old proof can be reused.
            let s: Affine<C> = draw_point(generator);
            let sx = s.mul_vartime(secret).to_affine();
            let spx = base::<C>(which, challenge, &s, &sx).mul_vartime(secret).to_affine();
            KnowledgeProof { s, sx, spx }
        };
        let proofs = [proof(0, &secrets.tau), proof(1, &secrets.alpha), proof(2, &secrets.beta)];
        Ok((secrets, proofs))
    }

    /// The factor of a section's first point, and of each point's factor to the next one's.
    fn factors(&self, section: PtauPoints) -> [&C::Scalar; 2] {
        let first = match section {
            PtauPoints::AlphaTauG1 => &self.alpha,
            PtauPoints::BetaTauG1 | PtauPoints::BetaG2 => &self.beta,
            _ => const { &C::Scalar::ONE },
        };
        [first, &self.tau]
    }
}

/// The base in G2 of the proof of knowledge of tau (0), alpha (1) or beta (2).
fn base<C: CeremonyCurve>(which: u8, challenge: &[u8; 64], s: &Affine<C>, sx: &Affine<C>) -> Affine<C::G2> {
    // The first byte separates the three bases: a proof for tau is none for alpha or beta.
    let hash = Blake2b512::new_with_prefix([which]).chain_update(challenge);
    draw_point(&mut Generator::new(
        &hash.chain_update(encode(&[*s, *sx], PointEncoding::Uncompressed)).finalize(),
    ))
}

/// The hash of the challenge that has no contributions: of an empty response's hash and generators.
fn first_challenge<C: CeremonyCurve>(power: u32) -> Result<[u8; 64], CeremonyError> {
    let mut hash = Generators(Blake2b512::new_with_prefix(Blake2b512::digest([])));
    each_section::<C>(power, &mut hash)?;
    Ok(hash.0.finalize().into())
}

struct Generators(Blake2b512);

impl<C: CeremonyCurve> Sections<C> for Generators {
    fn section<G: Member<C> + Curve<Scalar = C::Scalar>>(
        &mut self,
        _: PtauPoints,
        count: usize,
    ) -> Result<(), CeremonyError> {
        const TOGETHER: usize = 1 << 10;
        let mut one = Vec::new();
        write_uncompressed(&G::GENERATOR, &mut one);
        let many = one.repeat(TOGETHER);
        (0..count / TOGETHER).for_each(|_| self.0.update(&many));
        (0..count % TOGETHER).for_each(|_| self.0.update(&one));
        Ok(())
    }
}

/// The hash of the challenge to the contributor after these contributions.
fn next_challenge<C: CeremonyCurve>(
    power: u32,
    contributions: &[PtauContribution<C>],
) -> Result<[u8; 64], CeremonyError> {
    match contributions.last() {
        Some(last) => Ok(last.next_challenge),
        None => first_challenge::<C>(power),
    }
}
