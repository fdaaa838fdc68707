//! The proving key for the prover: fixed columns by name, in the representation that a round needs.

pub mod circuit_file;
pub(crate) mod circuit_key;
pub(crate) mod open;

use crate::{
    Column, Derivations, Layout, Memory, PlonkError, System, VerifyingKey,
    arithmetisation::{
        layout::{BUILT_LOG_N, LOG_N},
        permutation,
    },
    key::circuit_key::POWERS,
    memory::Storage,
    memory::{CowScalars, Scalars},
    polynomial::form,
};
use proofmill_circom::{
    BinFile, Column as Wire, GateSections, PlonkHeader, PlonkZkey, PointCheck, Polynomial,
    Selector as ZkeySelector,
};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Jacobian,
    bn254::{G1, G2},
    msm,
};
use proofmill_field::{
    Field,
    bn254::{Fr, FrParams},
};
use proofmill_memory::Elements;
use proofmill_ntt::Domain;
use proofmill_run::Run;
use proofmill_srs::Srs;
use std::{
    borrow::Cow,
    collections::BTreeMap,
    error::Error,
    fmt,
    ops::{Range, RangeInclusive},
    path::PathBuf,
    sync::{Arc, OnceLock},
};

/// Makes a commitment in place of the prover, such as with several machines: the sum of the coefficients times the key's powers of tau, from the
/// first power on.
pub type Commit<'a> = &'a (dyn Fn(&[Fr]) -> Result<Affine<G1>, Box<dyn Error + Send + Sync>> + Sync);

/// The powers of tau in G1.
#[derive(Clone, Debug)]
pub(crate) enum Reference {
    /// Decoded points.
    Points(Arc<Elements<Affine<G1>>>),
    /// The reference string itself.
    Srs(Arc<Srs>),
}

impl Reference {
    /// The number of powers.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Points(points) => points.len(),
            Self::Srs(srs) => srs.len(),
        }
    }

    /// The commitment to a polynomial with at most as many coefficients as there are powers. It is a sum of
    /// partial sums, each with at least `piece` and fewer than `2 * piece` terms (or all, if there are fewer
    /// than `piece`).
    pub(crate) fn commit(
        &self,
        level: Level,
        piece: usize,
        coefficients: &[Fr],
    ) -> Result<Affine<G1>, PlonkError> {
        let length = coefficients.len().max(1);
        let piece = length.div_ceil((length / piece).max(1));
        let mut sum = Jacobian::INFINITY;
        for (index, coefficients) in coefficients.chunks(piece).enumerate() {
            let start = index * piece;
            sum = sum.add(&match self {
                Self::Points(points) => {
                    let range = start..start + coefficients.len();
                    let sum = msm::<G1>(level, &points[range.clone()], coefficients);
                    points.release(range);
                    sum
                }
                Self::Srs(srs) => srs.msm(level, start, coefficients)?,
            });
        }
        Ok(sum.to_affine())
    }
}

/// The selectors and permutation polynomials of a zkey.
const ZKEY_COLUMNS: usize = ZkeySelector::ALL.len() + Wire::ALL.len();

/// Points of a zkey's extended domain per point of the domain: the point itself and one on each of the three
/// [`QuotientCosets`].
const ZKEY_EXTENSION: usize = 4;

/// A proving key.
#[derive(Debug)]
pub struct ProvingKey {
    /// The file that a circuit's key was read from, if any; a zkey's file is in `source`.
    pub(crate) file: Option<BinFile>,
    source: Source,
    storage: Storage,
    verifying_key: VerifyingKey,
    /// Rows at the end of the domain without gates and copy constraints.
    pub(crate) free_rows: usize,
}

#[derive(Debug)]
enum Source {
    /// The polynomials stay in the file. Coefficients are decoded on first use and kept; values are decoded
    /// on each use.
    Zkey(Box<(GateSections, [OnceLock<Scalars>; ZKEY_COLUMNS])>),
    Built(Box<Built>),
}

/// A key in Proofmill's own format, or one that was just made.
struct Built {
    columns: FixedColumns,
    reference: Reference,
    /// The derivations of variables that are not in a witness; `None` if all are in it.
    derivations: Option<Derivations>,
}

impl fmt::Debug for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Built").field("system", &self.columns.system).finish_non_exhaustive()
    }
}

/// The fixed columns of a circuit as polynomials: a proving key without its commitments.
pub struct FixedColumns {
    system: System,
    storage: Storage,
    log_n: u32,
    public: u32,
    variables: u32,
    variables_of: Vec<Vec<u32>>,
    polynomials: BTreeMap<Column, Forms>,
    /// The factor of the values on cosets ([`form`]).
    form: Fr,
}

/// A polynomial in the representations that are kept.
struct Forms {
    /// n coefficients.
    coefficients: Scalars,
    /// n values on the domain, unless memory is low.
    values: Option<Scalars>,
    /// n values on each coset in [`Memory::Fast`]; otherwise empty.
    cosets: Vec<Scalars>,
}

impl FixedColumns {
    /// Interpolates the fixed columns of a circuit.
    ///
    /// Runs on the ambient rayon pool.
    ///
    /// # Errors
    /// [`PlonkError::NoConstraints`], [`PlonkError::Domain`], [`PlonkError::Scratch`].
    ///
    /// # Panics
    /// If the layout's first gate does not have exactly one constraint.
    pub fn new(run: Run<'_>, layout: Layout) -> Result<Self, PlonkError> {
        let Run { level, progress, .. } = run;
        let storage = Storage::from(run);
        if layout.rows() == 0 {
            return Err(PlonkError::NoConstraints);
        }
        let log_n = layout.log_n();
        let domain = BUILT_LOG_N.contains(&log_n).then(|| Domain::new(log_n)).flatten();
        let domain = domain.ok_or(PlonkError::Domain { log_n })?;
        let n = domain.len();
        let Layout { wires, gates, lookup, public, variables, variables_of, fixed } = layout.complete();
        let names: Vec<Column> = fixed.keys().copied().collect();
        let system = System::new(wires, gates, lookup, &names);
        let cosets = QuotientCosets::new(log_n, system.parts());
        let form = form(level);
        progress.begin("permutation");
        let positions = permutation::sigma(&variables_of, variables, n, 0);
        let roots = permutation::powers(domain.root(), n);
        let mut polynomials = BTreeMap::new();
        let sigmas = (0..wires).map(Column::Sigma).zip(positions.chunks(n));
        let sigmas = sigmas.map(|(column, positions)| (column, permutation::labels(positions, &roots)));
        for (column, values) in fixed.into_iter().chain(sigmas) {
            progress.begin("ntt");
            polynomials.insert(column, Forms::new(level, &domain, &cosets, form, values, &storage)?);
        }
        Ok(Self { system, storage, log_n, public, variables, variables_of, polynomials, form })
    }

    /// Commits to the columns and returns the proving key.
    ///
    /// # Errors
    /// [`PlonkError::ShortReference`], [`PlonkError::Srs`].
    pub fn commit(self, run: Run<'_>, srs: Arc<Srs>) -> Result<ProvingKey, PlonkError> {
        let Run { level, progress, .. } = run;
        let (needed, found) = (self.powers(), srs.len());
        if needed > found {
            return Err(PlonkError::ShortReference { needed, found });
        }
        progress.begin("msm");
        let (tau, insecure_setup) = (*srs.tau_g2(), srs.insecurity().is_some());
        let (reference, piece) = (Reference::Srs(srs), self.storage.piece());
        let commitments = self.system.fixed().iter().map(|column| match self.polynomials.get(column) {
            Some(forms) => reference.commit(level, piece, &CowScalars::from(&forms.coefficients)),
            None => Ok(Affine::INFINITY),
        });
        let commitments = commitments.collect::<Result<_, _>>()?;
        Ok(self.committed(commitments, reference, tau, insecure_setup, None))
    }

    /// The proving key with commitments from a file, one for each fixed column, and as many powers as a proof needs.
    ///
    /// # Errors
    /// [`PlonkError::Scratch`].
    pub(crate) fn with_commitments(
        self,
        commitments: Vec<Affine<G1>>,
        powers: Vec<Affine<G1>>,
        tau: Affine<G2>,
        insecure_setup: bool,
        derivations: Derivations,
    ) -> Result<ProvingKey, PlonkError> {
        let powers = Reference::Points(Arc::new(self.storage.keep(powers)?));
        Ok(self.committed(commitments, powers, tau, insecure_setup, Some(derivations)))
    }

    /// The number of powers of tau that a proof needs.
    pub(crate) fn powers(&self) -> usize {
        (1 << self.log_n) + self.system.extra_powers()
    }

    fn committed(
        self,
        commitments: Vec<Affine<G1>>,
        reference: Reference,
        tau: Affine<G2>,
        insecure_setup: bool,
        derivations: Option<Derivations>,
    ) -> ProvingKey {
        let verifying_key = VerifyingKey {
            system: self.system.clone(),
            log_n: self.log_n,
            public: self.public,
            multipliers: permutation::multipliers(),
            fixed: commitments,
            tau,
            insecure_setup,
        };
        let storage = self.storage.clone();
        let built = Built { columns: self, reference, derivations };
        ProvingKey {
            file: None,
            source: Source::Built(Box::new(built)),
            storage,
            verifying_key,
            free_rows: 0,
        }
    }
}

impl Forms {
    fn new(
        level: Level,
        domain: &Domain<FrParams>,
        cosets: &QuotientCosets,
        form: Fr,
        mut values: Vec<Fr>,
        storage: &Storage,
    ) -> Result<Self, PlonkError> {
        let n = domain.len();
        values.resize(n, Fr::ZERO);
        values.shrink_to_fit();
        let mut coefficients = storage.keep(values)?;
        let values = match storage.memory {
            Memory::Low => None,
            Memory::Fast | Memory::Balanced => Some(storage.copy(&coefficients, n)?),
        };
        domain.intt(level, &mut coefficients);
        let on_coset = |shift: &Fr| {
            let mut values = storage.scalars(n)?;
            domain.coset_ntt_into(level, &coefficients, *shift, form, &mut values);
            values.release(0..n);
            Ok(values)
        };
        let cosets = match storage.memory {
            Memory::Fast => cosets.shifts.iter().map(on_coset).collect::<Result<_, PlonkError>>()?,
            Memory::Balanced | Memory::Low => Vec::new(),
        };
        values.iter().chain([&coefficients]).for_each(|kept| kept.release(0..n));
        Ok(Self { coefficients, values, cosets })
    }
}

/// The cosets of the domain on which the quotient is computed: `zeta^k H` for k from 1, where zeta generates
/// the smallest domain that contains them all.
#[derive(Clone, Debug)]
pub(crate) struct QuotientCosets {
    /// `zeta^k`.
    pub(crate) shifts: Vec<Fr>,
    /// The value of `X^n` on each coset: `zeta^(k n)`.
    pub(crate) powers: Vec<Fr>,
}

impl QuotientCosets {
    pub(crate) fn new(log_n: u32, count: usize) -> Self {
        let log_count = (count + 1).next_power_of_two().trailing_zeros();
        let powers_of = |root: Option<Fr>| {
            let root = root.unwrap_or_default();
            std::iter::successors(Some(root), |power| Some(*power * root)).take(count).collect()
        };
        // zeta^n is the field's root of unity of order 2^log_count.
        Self {
            shifts: powers_of(Fr::root_of_unity(log_n + log_count)),
            powers: powers_of(Fr::root_of_unity(log_count)),
        }
    }
}

impl ProvingKey {
    /// A key backed by an open file. The coefficients of a column are kept after the first read.
    pub fn new(zkey: PlonkZkey) -> Self {
        let verifying_key = VerifyingKey::from(zkey.header());
        Self::of_gates(zkey.into_gates(), verifying_key)
    }

    /// A key backed by the sections of an open file.
    pub(crate) fn of_gates(gates: GateSections, verifying_key: VerifyingKey) -> Self {
        let source = Source::Zkey(Box::new((gates, Default::default())));
        Self { file: None, source, storage: Storage::from(Memory::Low), verifying_key, free_rows: 0 }
    }

    /// Stores the vectors that the key keeps, and those of its proofs, in temporary files in this folder.
    #[must_use]
    pub fn with_scratch(mut self, folder: Option<PathBuf>) -> Self {
        self.storage.scratch = folder;
        self
    }

    /// The file that the key was read from, if any.
    pub fn file(&self) -> Option<&BinFile> {
        match &self.source {
            Source::Zkey(zkey) => Some(zkey.0.file()),
            Source::Built(_) => self.file.as_ref(),
        }
    }

    /// The sections of the zkey that the key was read from, if any.
    pub(crate) fn gates(&self) -> Option<&GateSections> {
        match &self.source {
            Source::Zkey(zkey) => Some(&zkey.0),
            Source::Built(_) => None,
        }
    }

    /// The storage of vectors.
    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The verification key.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying_key
    }

    /// The supported logarithms of the domain's size.
    pub(crate) fn log_n_range(&self) -> RangeInclusive<u32> {
        match &self.source {
            Source::Zkey(..) => LOG_N,
            Source::Built(_) => BUILT_LOG_N,
        }
    }

    /// The derivations of variables that are not in a witness; `None` if all are in it.
    pub(crate) fn derivations(&self) -> Result<Option<Cow<'_, Derivations>>, PlonkError> {
        match &self.source {
            Source::Zkey(zkey) => {
                let first = zkey.0.counts().circuit_wires();
                Ok(Some(Cow::Owned(Derivations::from_additions(first, zkey.0.additions()?))))
            }
            Source::Built(built) => Ok(built.derivations.as_ref().map(Cow::Borrowed)),
        }
    }

    /// The number of variables in a witness that has all of them.
    pub(crate) fn variables(&self) -> u32 {
        match &self.source {
            Source::Zkey(zkey) => zkey.0.counts().wires,
            Source::Built(built) => built.columns.variables,
        }
    }

    /// The variable on each row, for each wire. All are below the number of variables.
    pub(crate) fn variables_of(&self) -> Result<Cow<'_, [Vec<u32>]>, PlonkError> {
        match &self.source {
            Source::Zkey(zkey) => {
                let maps: Result<Vec<_>, _> =
                    Wire::ALL.into_iter().map(|wire| zkey.0.wire_map(wire)).collect();
                Ok(Cow::Owned(maps?))
            }
            Source::Built(built) => Ok(Cow::Borrowed(&built.columns.variables_of)),
        }
    }

    fn forms(&self, column: Column) -> Option<&Forms> {
        match &self.source {
            Source::Zkey(..) => None,
            Source::Built(built) => built.columns.polynomials.get(&column),
        }
    }

    /// The n coefficients of a fixed column.
    pub(crate) fn coefficients(&self, level: Level, column: Column) -> Result<CowScalars<'_>, PlonkError> {
        if let Some(forms) = self.forms(column) {
            return Ok(CowScalars::from(&forms.coefficients));
        }
        let none = || Ok(CowScalars::Owned(Vec::new().into()));
        let Some((polynomial, decoded)) = self.in_zkey(column) else { return none() };
        if decoded.get().is_none() {
            // If two threads decode at the same time, either result is kept.
            let coefficients = polynomial.coefficients.decode(level)?;
            drop(decoded.set(self.storage.keep(coefficients)?));
        }
        decoded.get().map_or_else(none, |coefficients| Ok(CowScalars::from(coefficients)))
    }

    /// A fixed column in the zkey, and the cell for its decoded coefficients.
    fn in_zkey(&self, column: Column) -> Option<(Polynomial<'_>, &OnceLock<Scalars>)> {
        let Source::Zkey(zkey) = &self.source else { return None };
        let (zkey, decoded) = &**zkey;
        let place = self.verifying_key.system.fixed().iter().position(|fixed| *fixed == column)?;
        let polynomial = match place.checked_sub(ZkeySelector::ALL.len()) {
            None => zkey.selector(ZkeySelector::ALL[place]),
            Some(wire) => zkey.sigma(*Wire::ALL.get(wire)?),
        };
        Some((polynomial, decoded.get(place)?))
    }

    /// The n values of a fixed column on the domain.
    pub(crate) fn values(
        &self,
        level: Level,
        domain: &Domain<FrParams>,
        column: Column,
    ) -> Result<CowScalars<'_>, PlonkError> {
        if let Some(values) = self.forms(column).and_then(|forms| forms.values.as_ref()) {
            return Ok(CowScalars::from(values));
        }
        if let Some((polynomial, _)) = self.in_zkey(column) {
            let mut values = self.storage.scalars(domain.len())?;
            polynomial.extended.decode_strided(0, ZKEY_EXTENSION, &mut values)?;
            values.release(0..values.len());
            return Ok(CowScalars::Owned(values));
        }
        let mut values = self.storage.copy(&self.coefficients(level, column)?, domain.len())?;
        domain.ntt(level, &mut values);
        values.release(0..values.len());
        Ok(CowScalars::Owned(values))
    }

    /// The n values of a fixed column on the coset number `index`, times `form`, if the key keeps them with
    /// this factor.
    pub(crate) fn coset_values(&self, column: Column, index: usize, form: Fr) -> Option<CowScalars<'_>> {
        let Source::Built(built) = &self.source else { return None };
        let forms = built.columns.polynomials.get(&column).filter(|_| built.columns.form == form)?;
        forms.cosets.get(index).map(CowScalars::from)
    }

    /// Reads the n values of a fixed column on the coset number `index` into `values`. Returns false if the
    /// key has no file of them.
    pub(crate) fn read_coset_values(
        &self,
        column: Column,
        index: usize,
        values: &mut [Fr],
    ) -> Result<bool, PlonkError> {
        let Some((polynomial, _)) = self.in_zkey(column) else { return Ok(false) };
        // The first value of each group is on the domain itself.
        polynomial.extended.decode_strided(1 + index, ZKEY_EXTENSION, values)?;
        Ok(true)
    }

    /// The place of the powers of tau in the file, if there is one: x and y of each, little-endian, in Montgomery form.
    pub fn powers(&self) -> Option<Range<usize>> {
        match &self.source {
            Source::Zkey(zkey) => Some(zkey.0.ptau().range()),
            Source::Built(_) => {
                let powers = self.file.as_ref()?.sections().iter().find(|section| section.id == POWERS.id);
                powers.map(|section| section.range.clone())
            }
        }
    }

    /// The powers of tau in G1, enough for every committed polynomial.
    pub(crate) fn reference(&self, level: Level) -> Result<Reference, PlonkError> {
        match &self.source {
            Source::Zkey(zkey) => {
                let points = zkey.0.ptau().decode(level, PointCheck::OnCurve)?;
                Ok(Reference::Points(Arc::new(self.storage.keep(points)?)))
            }
            Source::Built(built) => Ok(built.reference.clone()),
        }
    }
}

impl From<&PlonkHeader> for VerifyingKey {
    fn from(header: &PlonkHeader) -> Self {
        let [.., k3] = permutation::multipliers();
        Self {
            system: System::standard(),
            log_n: header.counts.power(),
            public: header.counts.public,
            multipliers: [Fr::ONE, header.k1, header.k2, k3],
            fixed: [header.selectors.as_slice(), &header.sigma].concat(),
            tau: header.x_2,
            insecure_setup: header.counts.insecure_setup,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arithmetisation, Circuit, ProveOptions, Selector, Variable, prove};
    use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

    /// A key whose wire maps contradict its permutation: another variable is on the third wire of one row,
    /// which no gate uses. Also returns a witness.
    fn contradicting(arithmetisation: Arithmetisation, row: usize) -> (ProvingKey, Vec<Fr>) {
        let level = Level::best();
        let mut circuit = Circuit::new(arithmetisation);
        let [x, y] = [3, 4].map(|value| circuit.witness(Fr::from(value)));
        let same = [(0, Fr::ONE), (1, -Fr::ONE)]
            .map(|(wire, factor)| (Column::Selector(Selector::Wire(wire)), factor));
        for _ in 0..20 {
            circuit.row([x, x, x, Variable::NONE], &same);
        }
        circuit.row([y, y, x, Variable::NONE], &same);
        let mut columns =
            FixedColumns::new(Run { memory: Some(Memory::Balanced), ..level.into() }, circuit.layout())
                .expect("columns");
        columns.variables_of[2][row] = y.index() as u32;
        let srs = Arc::new(Srs::insecure_from_known_tau(level, Fr::from(12345), 1 << 6));
        (columns.commit(level.into(), srs).expect("a key"), circuit.values().to_vec())
    }

    #[test]
    fn a_permutation_that_contradicts_the_wire_maps_is_reported() {
        for arithmetisation in Arithmetisation::ALL {
            // sigma maps to previous positions, so the changed position has the first label that differs, and
            // the next one the second.
            for row in [0, 7, 19] {
                let (key, values) = contradicting(arithmetisation, row);
                let result = prove(Level::best().into(), &key, &values, ProveOptions::default());
                assert!(
                    matches!(result, Err(PlonkError::CopyConstraint { gate }) if gate == row),
                    "{arithmetisation}, row {row}: {result:?}"
                );
            }
        }
    }

    #[test]
    fn a_commitment_is_the_same_in_pieces() {
        let level = Level::best();
        let srs = Srs::insecure_from_known_tau(level, Fr::from(12345), 100);
        let points = Storage::default().keep(srs.powers(level, 0..100).expect("powers")).expect("memory");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let coefficients: Vec<Fr> = (0..100).map(|_| Fr::random(&mut rng)).collect();
        for reference in [Reference::Points(Arc::new(points)), Reference::Srs(Arc::new(srs))] {
            for length in [0, 1, 7, 99, 100] {
                let commit = |piece| reference.commit(level, piece, &coefficients[..length]).expect("a sum");
                let whole = commit(usize::MAX);
                assert_eq!(whole.is_infinity(), length == 0);
                for piece in [1, 10, 33, 50, 99] {
                    assert_eq!(commit(piece), whole, "{length} in pieces of {piece}");
                }
            }
        }
    }
}
