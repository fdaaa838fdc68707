//! Contributions to keys, and what they share with those to powers.

use crate::{
    CeremonyError,
    encoding::{CeremonyCurve, Group, PointEncoding, draw_point, encode},
    generator::Generator,
};
use blake2::{Blake2b512, Digest};
use proofmill_circom::{
    Beacon, Groth16Header, Groth16Points, Groth16Writer, Groth16Zkey, PointCheck, ZkeyContribution,
    ZkeyContributions,
};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, products_of_points};
use proofmill_field::{Field, Invert};
use proofmill_files::Target;
use proofmill_run::{Progress, Run, parallel};
use rand::{TryRngCore, rngs::OsRng};
use std::ops::Range;
use zeroize::Zeroizing;

/// Bytes before the first contribution in their section.
const HASH_AND_COUNT: usize = 68;

/// The source of a contribution's secret.
#[derive(Clone, Copy, Debug)]
pub enum Randomness<'a> {
    /// The operating system, with whatever the user adds.
    System(&'a [u8]),
    /// A beacon: a value that nobody could know before. Anyone can compute the secret, so it is for the end of a ceremony.
    Beacon(&'a Beacon),
}

impl Randomness<'_> {
    pub(crate) fn generator(&self) -> Result<Generator, CeremonyError> {
        match self {
            Self::System(entropy) => {
                let mut bytes = Zeroizing::new([0; 64]);
                let filled = OsRng.try_fill_bytes(&mut *bytes);
                filled.map_err(|error| CeremonyError::Randomness(error.to_string()))?;
                // Hashed together: the secret stays unknown if either source is unknown.
                let hash = Blake2b512::new_with_prefix(bytes.as_slice()).chain_update(entropy).finalize();
                Ok(Generator::new(Zeroizing::new(<[u8; 64]>::from(hash)).as_slice()))
            }
            Self::Beacon(beacon) => of_beacon(beacon),
        }
    }

    /// The beacon as contributions have it.
    pub(crate) fn beacon(&self) -> Option<Beacon> {
        match self {
            Self::System(_) => None,
            Self::Beacon(beacon) => Some((*beacon).clone()),
        }
    }
}

/// The name as contributions have it: none if it is empty.
pub(crate) fn named(name: Option<&str>) -> Option<String> {
    name.filter(|name| !name.is_empty()).map(str::to_owned)
}

/// The generator of a beacon, which is its seed hashed by SHA-256 again and again.
pub(crate) fn of_beacon(beacon: &Beacon) -> Result<Generator, CeremonyError> {
    let log = beacon.log_iterations;
    if !(10..=63).contains(&log) {
        return Err(CeremonyError::Beacon(format!("2^{log} iterations, expected 2^10 to 2^63")));
    }
    if beacon.seed.is_empty() {
        return Err(CeremonyError::Beacon("its seed is empty".to_owned()));
    }
    let mut hash = proofmill_sha256::digest(&beacon.seed);
    // The hash of the seed itself is the first of the 2^log iterations.
    for _ in 1..1_u64 << log {
        hash = proofmill_sha256::digest(&hash);
    }
    Ok(Generator::new(&hash))
}

/// The transcript of a contribution: a hash of everything `before` it and of the base of its proof of knowledge. `before` is the circuit's
/// hash and the public part of each earlier contribution.
pub(crate) fn transcript<C: CeremonyCurve>(before: &Blake2b512, s: &Affine<C>, sx: &Affine<C>) -> [u8; 64] {
    before.clone().chain_update(encode(&[*s, *sx], PointEncoding::Uncompressed)).finalize().into()
}

/// A contribution's secret and its proof of knowledge.
pub(crate) struct Secret<C: CeremonyCurve> {
    /// The factor of delta.
    pub(crate) factor: Zeroizing<C::Scalar>,
    pub(crate) inverse: Zeroizing<C::Scalar>,
    s: Affine<C>,
    sx: Affine<C>,
    spx: Affine<C::G2>,
    transcript: [u8; 64],
}

impl<C: CeremonyCurve> Secret<C> {
    /// Draws a secret and proves knowledge of it, after the contributions to a circuit's key.
    pub(crate) fn new(
        randomness: Randomness<'_>,
        circuit_hash: &[u8; 64],
        list: &[ZkeyContribution<C>],
    ) -> Result<Self, CeremonyError> {
        let mut generator = randomness.generator()?;
        let factor: Zeroizing<C::Scalar> = Zeroizing::new(generator.element::<C::ScalarPrime>());
        let Some(inverse) = factor.invert_vartime().map(Zeroizing::new) else {
            return Err(CeremonyError::Beacon("its secret is zero".to_owned()));
        };
        let s: Affine<C> = draw_point(&mut generator);
        let sx = s.mul_vartime(&factor).to_affine();
        let mut before = Blake2b512::new_with_prefix(circuit_hash);
        list.iter().for_each(|contribution| before.update(contribution.public()));
        let transcript = transcript(&before, &s, &sx);
        // The base in G2 is a hash of the transcript: the proof holds here in the list only.
        let spx = draw_point::<C::G2>(&mut Generator::new(&transcript)).mul_vartime(&factor).to_affine();
        Ok(Self { factor, inverse, s, sx, spx, transcript })
    }

    pub(crate) fn contribution(
        &self,
        name: Option<String>,
        beacon: Option<Beacon>,
        delta_after: Affine<C>,
    ) -> ZkeyContribution<C> {
        let Self { s, sx, spx, transcript, .. } = *self;
        ZkeyContribution { name, beacon, delta_after, s, sx, spx, transcript }
    }
}

/// Writes the key with one more contribution, and returns the contribution's hash, with which its author can find it. Runs on the
/// ambient rayon pool; a few megabytes of the key are in memory at the same time.
///
/// The key's own points are checked to be on their curve, not to be those of a circuit: see [`verify::key`](crate::verify::key).
///
/// # Errors
/// [`CeremonyError::NoList`], [`CeremonyError::File`], [`CeremonyError::Randomness`], [`CeremonyError::Beacon`],
/// [`CeremonyError::TooLong`].
pub fn contribute<'a, C: CeremonyCurve>(
    run: Run<'_>,
    key: &Groth16Zkey<C>,
    target: impl Into<Target<'a>>,
    name: Option<&str>,
    randomness: Randomness<'_>,
) -> Result<[u8; 64], CeremonyError> {
    let Run { level, progress, .. } = run;
    let (Some(ZkeyContributions { circuit_hash, list }), Some(section)) =
        (key.decoded_contributions()?, key.contributions()?)
    else {
        return Err(CeremonyError::NoList);
    };
    progress.begin("secret");
    let secret = Secret::new(randomness, &circuit_hash, &list)?;
    let header = Groth16Header {
        delta_1: key.header().delta_1.mul_vartime(&secret.factor).to_affine(),
        delta_2: key.header().delta_2.mul_vartime(&secret.factor).to_affine(),
        ..*key.header()
    };
    let own = secret.contribution(named(name), randomness.beacon(), header.delta_1);
    // Those before it stay as they are.
    let earlier = section.bytes().get(HASH_AND_COUNT..).unwrap_or_default();
    let encoded = [earlier, &own.to_bytes().ok_or(CeremonyError::TooLong)?].concat();

    let mut file = Groth16Writer::create(target, &header)?;
    progress.begin("copy");
    file.copy(key, Groth16Points::Ic)?;
    file.copy_coefficients(key)?;
    for points in [Groth16Points::A, Groth16Points::B1, Groth16Points::B2] {
        file.copy(key, points)?;
    }
    for (points, source, phase) in
        [(Groth16Points::C, key.c(), "points c"), (Groth16Points::H, key.h(), "points h")]
    {
        progress.begin(phase);
        file.points(points, |out| {
            multiplied::<C>(
                level,
                source.len(),
                // These points contain 1/delta.
                [&secret.inverse, &C::Scalar::ONE],
                progress,
                |range| Ok(source.slice(range)?.decode(level, PointCheck::InSubgroup)?),
                |_, points| Ok(out.points(points)?),
            )
        })?;
    }
    file.contributions(&circuit_hash, list.len() as u32 + 1, &encoded)?;
    file.finish()?;
    Ok(own.hash())
}

/// Reads `count` points, multiplies them by the first factor, by it and the second, by it and the second's square and so on, and gives
/// them to `write`.
pub(crate) fn multiplied<G: Group>(
    level: Level,
    count: usize,
    [first, step]: [&G::Scalar; 2],
    progress: Progress<'_>,
    mut read: impl FnMut(Range<usize>) -> Result<Vec<Affine<G>>, CeremonyError>,
    mut write: impl FnMut(usize, &[Affine<G>]) -> Result<(), CeremonyError>,
) -> Result<(), CeremonyError> {
    /// The number of points that are multiplied together: a multiple of those that are hashed together.
    const PIECE: usize = 1 << 16;
    let mut next = Zeroizing::new(*first);
    for range in parallel::ranges(count, PIECE) {
        let mut factors = Zeroizing::new(Vec::with_capacity(range.len()));
        for _ in range.clone() {
            factors.push(*next);
            *next *= *step;
        }
        write(range.start, &products_of_points(level, &read(range.clone())?, &factors))?;
        progress.share(range.end as u64, count as u64);
    }
    Ok(())
}
