//! The proving key as the rounds see it: fixed columns by name, in the form that a round asks for.

use crate::{
    Column, Derivations, Layout, Memory, PlonkError, Progress, Storage, System, VerifyingKey,
    layout::{BUILT_LOG_N, LOG_N},
    memory::{Held, Scalars},
    permutation,
    polynomial::form,
};
use proofmill_circom::{
    BinFile, Column as Wire, PlonkHeader, PlonkZkey, PointCheck, Polynomial, Selector as ZkeySelector,
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
use proofmill_poly::Domain;
use proofmill_srs::Srs;
use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    ops::RangeInclusive,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

/// Powers of tau in G1.
#[derive(Clone, Debug)]
pub(crate) enum Reference {
    /// Decoded.
    Points(Arc<Elements<Affine<G1>>>),
    /// Wherever the string has them.
    Srs(Arc<Srs>),
}

impl Reference {
    /// How many.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Points(points) => points.len(),
            Self::Srs(srs) => srs.len(),
        }
    }

    /// The commitment to a polynomial of at most as many coefficients as there are powers, by sums of at least `piece` terms
    /// and less than twice as many.
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

/// Selectors and permutation polynomials of a zkey.
const ZKEY_COLUMNS: usize = ZkeySelector::ALL.len() + Wire::ALL.len();

/// Points of a zkey's extended domain for each of the domain: the point itself and one on each of [`Cosets`]'s three.
const ZKEY_EXTENSION: usize = 4;

/// A proving key.
#[derive(Debug)]
pub struct ProvingKey {
    /// The file of a circuit's key, where it came from one; that of a zkey is in the source.
    pub(crate) file: Option<BinFile>,
    source: Source,
    storage: Storage,
    verifying_key: VerifyingKey,
}

#[derive(Debug)]
enum Source {
    /// Its polynomials stay in the file until a round asks for them; coefficients are decoded once, values whenever they are
    /// looked at.
    Zkey(Box<(PlonkZkey, [OnceLock<Scalars>; ZKEY_COLUMNS])>),
    Built(Box<Built>),
}

/// A key that was made here.
struct Built {
    columns: FixedColumns,
    reference: Reference,
    /// How the variables that a witness lacks are computed; `None` if it has all.
    derivations: Option<Derivations>,
}

impl fmt::Debug for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Built").field("system", &self.columns.system).finish_non_exhaustive()
    }
}

/// The fixed columns of a circuit as polynomials: a proving key that has not been committed to.
pub struct FixedColumns {
    system: System,
    storage: Storage,
    log_n: u32,
    public: u32,
    variables: u32,
    variables_of: Vec<Vec<u32>>,
    polynomials: BTreeMap<Column, Forms>,
    /// What values on cosets are multiplied by.
    form: Fr,
}

/// A polynomial in the forms that are kept.
struct Forms {
    /// n coefficients.
    coefficients: Scalars,
    /// n values on the domain, unless memory is low.
    values: Option<Scalars>,
    /// n values on each of the cosets, if there is memory for them.
    cosets: Vec<Scalars>,
}

impl FixedColumns {
    /// The polynomials of a circuit.
    ///
    /// `progress` receives the name of each phase. Runs on the ambient rayon pool.
    ///
    /// # Errors
    /// [`PlonkError::NoConstraints`], [`PlonkError::Domain`], [`PlonkError::Scratch`].
    ///
    /// # Panics
    /// If the layout's first gate has not exactly one constraint.
    pub fn new(
        level: Level,
        layout: Layout,
        storage: impl Into<Storage>,
        progress: Progress<'_>,
    ) -> Result<Self, PlonkError> {
        let storage = storage.into();
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
        let cosets = Cosets::new(log_n, system.parts());
        let form = form(level);
        progress.begin("permutation");
        let positions = permutation::sigma(&variables_of, variables, n);
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

    /// The proving key of these columns, with the commitments to them.
    ///
    /// # Errors
    /// [`PlonkError::ShortReference`], [`PlonkError::Srs`].
    pub fn commit(
        self,
        level: Level,
        srs: Arc<Srs>,
        progress: Progress<'_>,
    ) -> Result<ProvingKey, PlonkError> {
        let (needed, found) = (self.powers(), srs.len());
        if needed > found {
            return Err(PlonkError::ShortReference { needed, found });
        }
        progress.begin("msm");
        let (tau, reference, piece) = (*srs.tau_g2(), Reference::Srs(srs), self.storage.piece());
        let commitments = self.system.fixed().iter().map(|column| match self.polynomials.get(column) {
            Some(forms) => reference.commit(level, piece, &Held::from(&forms.coefficients)),
            None => Ok(Affine::INFINITY),
        });
        let commitments = commitments.collect::<Result<_, _>>()?;
        Ok(self.committed(commitments, reference, tau, None))
    }

    /// The proving key of these columns with the commitments to them from a file, one for each fixed column.
    ///
    /// # Errors
    /// [`PlonkError::ShortReference`], [`PlonkError::Scratch`].
    pub(crate) fn with_commitments(
        self,
        commitments: Vec<Affine<G1>>,
        powers: Vec<Affine<G1>>,
        tau: Affine<G2>,
        derivations: Derivations,
    ) -> Result<ProvingKey, PlonkError> {
        let (needed, found) = (self.powers(), powers.len());
        if needed > found {
            return Err(PlonkError::ShortReference { needed, found });
        }
        let powers = Reference::Points(Arc::new(self.storage.keep(powers)?));
        Ok(self.committed(commitments, powers, tau, Some(derivations)))
    }

    /// How many powers of tau a proof needs.
    pub(crate) fn powers(&self) -> usize {
        (1 << self.log_n) + self.system.extra_powers()
    }

    fn committed(
        self,
        commitments: Vec<Affine<G1>>,
        reference: Reference,
        tau: Affine<G2>,
        derivations: Option<Derivations>,
    ) -> ProvingKey {
        let verifying_key = VerifyingKey {
            system: self.system.clone(),
            log_n: self.log_n,
            public: self.public,
            multipliers: permutation::multipliers(),
            fixed: commitments,
            tau,
        };
        let storage = self.storage.clone();
        let built = Built { columns: self, reference, derivations };
        ProvingKey { file: None, source: Source::Built(Box::new(built)), storage, verifying_key }
    }
}

impl Forms {
    fn new(
        level: Level,
        domain: &Domain<FrParams>,
        cosets: &Cosets,
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

/// The cosets of the domain on which the quotient is computed: `zeta^k H` for k from 1, zeta generating the smallest domain
/// that has them all.
#[derive(Clone, Debug)]
pub(crate) struct Cosets {
    /// `zeta^k`.
    pub(crate) shifts: Vec<Fr>,
    /// What `X^n` is on the coset: `zeta^(k n)`.
    pub(crate) powers: Vec<Fr>,
}

impl Cosets {
    pub(crate) fn new(log_n: u32, count: usize) -> Self {
        let log_count = (count + 1).next_power_of_two().trailing_zeros();
        let powers_of = |root: Option<Fr>| {
            let root = root.unwrap_or_default();
            std::iter::successors(Some(root), |power| Some(*power * root)).take(count).collect()
        };
        // zeta^n has order 2^log_count, and is the field's own root of that order.
        Self {
            shifts: powers_of(Fr::root_of_unity(log_n + log_count)),
            powers: powers_of(Fr::root_of_unity(log_count)),
        }
    }
}

impl ProvingKey {
    /// A key around an open file, whose columns' coefficients are kept from when they are first read.
    pub fn new(zkey: PlonkZkey) -> Self {
        let verifying_key = VerifyingKey::from(zkey.header());
        let source = Source::Zkey(Box::new((zkey, Default::default())));
        Self { file: None, source, storage: Storage::from(Memory::Low), verifying_key }
    }

    /// The same with what it keeps, and what a proof with it needs, in temporary files of this folder.
    #[must_use]
    pub fn with_scratch(mut self, folder: Option<PathBuf>) -> Self {
        self.storage.scratch = folder;
        self
    }

    /// The file that the key was read from, if it was.
    pub fn file(&self) -> Option<&BinFile> {
        match &self.source {
            Source::Zkey(zkey) => Some(zkey.0.file()),
            Source::Built(_) => self.file.as_ref(),
        }
    }

    /// Where vectors lie.
    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// What a verifier needs of it.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying_key
    }

    /// The sizes of domains that it may have.
    pub(crate) fn log_n_range(&self) -> RangeInclusive<u32> {
        match &self.source {
            Source::Zkey(..) => LOG_N,
            Source::Built(_) => BUILT_LOG_N,
        }
    }

    /// How the variables that a witness lacks are computed; `None` if it has all.
    pub(crate) fn derivations(&self) -> Result<Option<Cow<'_, Derivations>>, PlonkError> {
        match &self.source {
            Source::Zkey(zkey) => {
                let first = zkey.0.header().circuit_wires();
                Ok(Some(Cow::Owned(Derivations::from_additions(first, zkey.0.additions()?))))
            }
            Source::Built(built) => Ok(built.derivations.as_ref().map(Cow::Borrowed)),
        }
    }

    /// All variables, if a witness has them all.
    pub(crate) fn variables(&self) -> u32 {
        match &self.source {
            Source::Zkey(zkey) => zkey.0.header().wires,
            Source::Built(built) => built.columns.variables,
        }
    }

    /// The variable on each row of each wire; all of them exist.
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

    /// n coefficients of a fixed column.
    pub(crate) fn coefficients(&self, level: Level, column: Column) -> Result<Held<'_>, PlonkError> {
        if let Some(forms) = self.forms(column) {
            return Ok(Held::from(&forms.coefficients));
        }
        let none = || Ok(Held::Made(Vec::new().into()));
        let Some((polynomial, decoded)) = self.in_zkey(column) else { return none() };
        if decoded.get().is_none() {
            // Of two that decode at once either will do.
            let coefficients = polynomial.coefficients.decode(level)?;
            drop(decoded.set(self.storage.keep(coefficients)?));
        }
        decoded.get().map_or_else(none, |coefficients| Ok(Held::from(coefficients)))
    }

    /// A fixed column in its file, and the place for its coefficients.
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

    /// n values of a fixed column on the domain.
    pub(crate) fn values(
        &self,
        level: Level,
        domain: &Domain<FrParams>,
        column: Column,
    ) -> Result<Held<'_>, PlonkError> {
        if let Some(values) = self.forms(column).and_then(|forms| forms.values.as_ref()) {
            return Ok(Held::from(values));
        }
        if let Some((polynomial, _)) = self.in_zkey(column) {
            let mut values = self.storage.scalars(domain.len())?;
            polynomial.extended.decode_strided(0, ZKEY_EXTENSION, &mut values)?;
            values.release(0..values.len());
            return Ok(Held::Made(values));
        }
        let mut values = self.storage.copy(&self.coefficients(level, column)?, domain.len())?;
        domain.ntt(level, &mut values);
        values.release(0..values.len());
        Ok(Held::Made(values))
    }

    /// n values of a fixed column on the coset number `index`, times `form`, if they are kept so.
    pub(crate) fn coset_values(&self, column: Column, index: usize, form: Fr) -> Option<Held<'_>> {
        let Source::Built(built) = &self.source else { return None };
        let forms = built.columns.polynomials.get(&column).filter(|_| built.columns.form == form)?;
        forms.cosets.get(index).map(Held::from)
    }

    /// Reads n values of a fixed column on the coset number `index`, if a file has them.
    pub(crate) fn read_coset_values(
        &self,
        column: Column,
        index: usize,
        values: &mut [Fr],
    ) -> Result<bool, PlonkError> {
        let Some((polynomial, _)) = self.in_zkey(column) else { return Ok(false) };
        // The first of a step is on the domain itself.
        polynomial.extended.decode_strided(1 + index, ZKEY_EXTENSION, values)?;
        Ok(true)
    }

    /// Powers of tau in G1, enough for every polynomial that is committed to.
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
            log_n: header.domain_size.trailing_zeros(),
            public: header.public,
            multipliers: [Fr::ONE, header.k1, header.k2, k3],
            fixed: [header.selectors.as_slice(), &header.sigma].concat(),
            tau: header.x_2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arithmetisation, Circuit, ProveOptions, Selector, Variable, prove};
    use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

    /// A key whose permutation is that of a circuit, and whose wires have another variable on a row's third, which no gate
    /// looks at; and a witness.
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
            FixedColumns::new(level, circuit.layout(), Memory::Balanced, Progress::NONE).expect("columns");
        columns.variables_of[2][row] = y.index() as u32;
        let srs = Arc::new(Srs::insecure_from_known_tau(level, Fr::from(12345), 1 << 6));
        (columns.commit(level, srs, Progress::NONE).expect("a key"), circuit.values().to_vec())
    }

    #[test]
    fn a_permutation_that_is_not_the_wires_is_named() {
        for arithmetisation in Arithmetisation::ALL {
            // Cycles run backwards: the changed place is the first whose label differs, the one after it the next.
            for row in [0, 7, 19] {
                let (key, values) = contradicting(arithmetisation, row);
                let result = prove(Level::best(), &key, &values, ProveOptions::default(), Progress::NONE);
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
