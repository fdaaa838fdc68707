//! Section 7: the contributions to the powers.
//!
//! A count, then each contribution: the first powers after it (tau in G1 and G2, alpha and beta in G1, beta in G2); its key, which is s and
//! s x in G1 for each x of tau, alpha and beta, then s' x in G2 for each; 216 bytes of the state of a BLAKE2b-512; 64 bytes of hash; its
//! [type and parameters](crate::parameters). The format is that of snarkjs's `powersoftau_utils.js`.

use crate::{
    binfile::Cursor,
    curve::CircomCurve,
    decode::Points,
    error::CircomError,
    parameters::{self, Beacon},
    zkey::{take_point, write_montgomery, write_uncompressed},
};
use proofmill_curve::{Affine, Curve, bn254::G1};

/// Bytes of the state of a response's hash.
const PARTIAL_HASH: usize = 216;
/// Bytes of a challenge's hash.
const CHALLENGE: usize = 64;

/// The points that a contribution multiplies by its secrets. All other points are powers of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstPowers<C: CircomCurve = G1> {
    /// tau in G1.
    pub tau_g1: Affine<C>,
    /// tau in G2.
    pub tau_g2: Affine<C::G2>,
    /// alpha in G1.
    pub alpha_g1: Affine<C>,
    /// beta in G1.
    pub beta_g1: Affine<C>,
    /// beta in G2.
    pub beta_g2: Affine<C::G2>,
}

impl<C: CircomCurve> FirstPowers<C> {
    /// The powers before any contribution: tau, alpha and beta are 1.
    pub const INITIAL: Self = Self {
        tau_g1: C::GENERATOR,
        tau_g2: C::G2::GENERATOR,
        alpha_g1: C::GENERATOR,
        beta_g1: C::GENERATOR,
        beta_g2: C::G2::GENERATOR,
    };
}

/// A proof of knowledge of a secret x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnowledgeProof<C: CircomCurve = G1> {
    /// The base s, chosen by the contributor.
    pub s: Affine<C>,
    /// The secret times s.
    pub sx: Affine<C>,
    /// The secret times the base in G2, which is a hash to the curve.
    pub spx: Affine<C::G2>,
}

/// A contribution to powers of tau, which multiplied tau, alpha and beta by secrets. Decoding does not check the proofs of knowledge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtauContribution<C: CircomCurve = G1> {
    /// The participant's name, up to 255 bytes; bytes that are not UTF-8 are replaced, control characters are kept.
    pub name: Option<String>,
    /// The beacon's parameters if the secrets came from a beacon, `None` for a participant's.
    pub beacon: Option<Beacon>,
    /// The first powers after the contribution.
    pub powers: FirstPowers<C>,
    /// The proofs of knowledge of the factors of tau, alpha and beta.
    pub proofs: [KnowledgeProof<C>; 3],
    /// The state of the BLAKE2b-512 of the contribution's response, before its last 768 bytes, which are [`Self::key`]. It is a buffer
    /// of 128 bytes, eight words of state, the number of bytes hashed, the number of bytes in the buffer, and a word of zero. Words
    /// have 64 bits, little-endian.
    pub partial_hash: [u8; PARTIAL_HASH],
    /// The BLAKE2b-512 hash of the challenge to the next contributor: of the response's hash and all powers.
    pub next_challenge: [u8; CHALLENGE],
}

impl<C: CircomCurve> PtauContribution<C> {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, CircomError> {
        let powers = FirstPowers {
            tau_g1: take_point(cursor, "tau in G1 after a contribution")?,
            tau_g2: take_point(cursor, "tau in G2 after a contribution")?,
            alpha_g1: take_point(cursor, "alpha in G1 after a contribution")?,
            beta_g1: take_point(cursor, "beta in G1 after a contribution")?,
            beta_g2: take_point(cursor, "beta in G2 after a contribution")?,
        };
        let mut in_g1 =
            || Ok((take_point(cursor, "a contribution's s")?, take_point(cursor, "a contribution's s x")?));
        let in_g1 = [in_g1()?, in_g1()?, in_g1()?];
        let mut in_g2 = || take_point(cursor, "a contribution's s' x");
        let in_g2 = [in_g2()?, in_g2()?, in_g2()?];
        let proof = |((s, sx), spx)| KnowledgeProof { s, sx, spx };
        let [tau, alpha, beta] = in_g1;
        let [tau_2, alpha_2, beta_2] = in_g2;
        let proofs = [(tau, tau_2), (alpha, alpha_2), (beta, beta_2)].map(proof);
        let partial_hash = parameters::bytes(cursor, "a contribution's partial hash")?;
        let next_challenge = parameters::bytes(cursor, "a contribution's next challenge")?;
        let (name, beacon) = parameters::read(cursor)?;
        Ok(Self { name, beacon, powers, proofs, partial_hash, next_challenge })
    }

    /// Reads the beacon, if it is one's, and no point.
    pub(super) fn read_beacon(cursor: &mut Cursor<'_>) -> Result<Option<Beacon>, CircomError> {
        let points = 9 * Points::<C>::BYTES + 5 * Points::<C::G2>::BYTES;
        cursor.take(points + PARTIAL_HASH + CHALLENGE, "a contribution")?;
        Ok(parameters::read(cursor)?.1)
    }

    /// The proofs of knowledge as they end a response: s and s x of tau, alpha and beta, then their s' x, as [`Affine::to_evm`] encodes
    /// points.
    pub fn key(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for proof in &self.proofs {
            write_uncompressed(&proof.s, &mut bytes);
            write_uncompressed(&proof.sx, &mut bytes);
        }
        self.proofs.iter().for_each(|proof| write_uncompressed(&proof.spx, &mut bytes));
        bytes
    }

    /// The encoding in the section; `None` for a name or a seed of more than 255 bytes.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let FirstPowers { tau_g1, tau_g2, alpha_g1, beta_g1, beta_g2 } = &self.powers;
        let mut bytes = Vec::new();
        write_montgomery(tau_g1, &mut bytes);
        write_montgomery(tau_g2, &mut bytes);
        write_montgomery(alpha_g1, &mut bytes);
        write_montgomery(beta_g1, &mut bytes);
        write_montgomery(beta_g2, &mut bytes);
        for proof in &self.proofs {
            write_montgomery(&proof.s, &mut bytes);
            write_montgomery(&proof.sx, &mut bytes);
        }
        self.proofs.iter().for_each(|proof| write_montgomery(&proof.spx, &mut bytes));
        bytes.extend(self.partial_hash);
        bytes.extend(self.next_challenge);
        parameters::write(&mut bytes, self.name.as_deref(), self.beacon.as_ref())?;
        Some(bytes)
    }
}
