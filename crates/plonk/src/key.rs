//! The proving key as the rounds see it: fixed columns by name, in the form that a round asks for.

use crate::{
    Column, Derivations, Layout, Memory, PlonkError, System, VerifyingKey, permutation, polynomial::form,
};
use proofmill_circom::{Column as Wire, PlonkHeader, PlonkZkey, PointCheck, Selector as ZkeySelector};
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
    msm,
};
use proofmill_field::{
    Field,
    bn254::{Fr, FrParams},
};
use proofmill_poly::Domain;
use proofmill_simd::Level;
use proofmill_srs::Srs;
use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    ops::RangeInclusive,
    sync::{Arc, OnceLock},
};

/// Logarithms of the domains' sizes that the standard protocol works on: the quotient's 3n + 6 coefficients are
/// blinded in the last 6 of n, and the domain of 4n has a root of unity.
pub(crate) const LOG_N: RangeInclusive<u32> = 3..=26;

/// Logarithms of the domains' sizes of circuits that were built here: the cosets of up to 7 parts lie in a domain of 8n.
pub(crate) const BUILT_LOG_N: RangeInclusive<u32> = 4..=25;

/// Powers of tau in G1.
#[derive(Clone, Debug)]
pub(crate) enum Reference {
    /// In memory.
    Points(Arc<Vec<Affine<G1>>>),
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

    /// The commitment to a polynomial of at most as many coefficients as there are powers.
    pub(crate) fn commit(&self, level: Level, coefficients: &[Fr]) -> Result<Affine<G1>, PlonkError> {
        let sum = match self {
            Self::Points(points) => msm::<G1>(level, &points[..coefficients.len()], coefficients),
            Self::Srs(srs) => srs.msm(level, 0, coefficients)?,
        };
        Ok(sum.to_affine())
    }
}

/// Selectors and permutation polynomials of a zkey.
const ZKEY_COLUMNS: usize = ZkeySelector::ALL.len() + Wire::ALL.len();

/// A proving key.
#[derive(Debug)]
pub struct ProvingKey {
    source: Source,
    verifying_key: VerifyingKey,
}

#[derive(Debug)]
enum Source {
    /// Its polynomials stay in the file until a round asks for them; coefficients are decoded once.
    Zkey(Box<(PlonkZkey, [OnceLock<Vec<Fr>>; ZKEY_COLUMNS])>),
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
    coefficients: Vec<Fr>,
    /// n values on the domain, unless memory is low.
    values: Option<Vec<Fr>>,
    /// n values on each of the cosets, if there is memory for them.
    cosets: Vec<Vec<Fr>>,
}

impl FixedColumns {
    /// The polynomials of a circuit.
    ///
    /// `observer` is called with the name of each phase as it begins. Runs on the ambient rayon pool.
    ///
    /// # Errors
    /// [`PlonkError::NoConstraints`], [`PlonkError::Domain`].
    ///
    /// # Panics
    /// If the layout's first gate has not exactly one constraint.
    pub fn new(
        level: Level,
        layout: Layout,
        memory: Memory,
        observer: &mut dyn FnMut(&'static str),
    ) -> Result<Self, PlonkError> {
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
        observer("permutation");
        let positions = permutation::sigma(&variables_of, variables, n);
        let roots = permutation::powers(domain.root(), n);
        let mut polynomials = BTreeMap::new();
        let sigmas = (0..wires).map(Column::Sigma).zip(positions.chunks(n));
        let sigmas = sigmas.map(|(column, positions)| (column, permutation::labels(positions, &roots)));
        for (column, mut values) in fixed.into_iter().chain(sigmas) {
            observer("ntt");
            values.resize(n, Fr::ZERO);
            values.shrink_to_fit();
            polynomials.insert(column, Forms::new(level, &domain, &cosets, form, values, memory));
        }
        Ok(Self { system, log_n, public, variables, variables_of, polynomials, form })
    }

    /// The proving key of these columns, with the commitments to them.
    ///
    /// # Errors
    /// [`PlonkError::ShortReference`], [`PlonkError::Srs`].
    pub fn commit(
        self,
        level: Level,
        srs: Arc<Srs>,
        observer: &mut dyn FnMut(&'static str),
    ) -> Result<ProvingKey, PlonkError> {
        let (needed, found) = (self.powers(), srs.len());
        if needed > found {
            return Err(PlonkError::ShortReference { needed, found });
        }
        observer("msm");
        let (tau, reference) = (*srs.tau_g2(), Reference::Srs(srs));
        let commitments = self.system.fixed().iter().map(|column| match self.polynomials.get(column) {
            Some(forms) => reference.commit(level, &forms.coefficients),
            None => Ok(Affine::INFINITY),
        });
        let commitments = commitments.collect::<Result<_, _>>()?;
        Ok(self.committed(commitments, reference, tau, None))
    }

    /// The proving key of these columns with the commitments to them from a file, one for each fixed column.
    ///
    /// # Errors
    /// [`PlonkError::ShortReference`].
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
        Ok(self.committed(commitments, Reference::Points(Arc::new(powers)), tau, Some(derivations)))
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
        let built = Built { columns: self, reference, derivations };
        ProvingKey { source: Source::Built(Box::new(built)), verifying_key }
    }
}

impl Forms {
    fn new(
        level: Level,
        domain: &Domain<FrParams>,
        cosets: &Cosets,
        form: Fr,
        values: Vec<Fr>,
        memory: Memory,
    ) -> Self {
        let kept = (memory != Memory::Low).then(|| values.clone());
        let mut coefficients = values;
        domain.intt(level, &mut coefficients);
        let on_coset = |shift: &Fr| {
            let mut values = vec![Fr::ZERO; coefficients.len()];
            domain.coset_ntt_into(level, &coefficients, *shift, form, &mut values);
            values
        };
        let cosets =
            if memory == Memory::Fast { cosets.shifts.iter().map(on_coset).collect() } else { Vec::new() };
        Self { coefficients, values: kept, cosets }
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
    /// A key around an open file.
    pub fn new(zkey: PlonkZkey) -> Self {
        let verifying_key = VerifyingKey::from(zkey.header());
        Self { source: Source::Zkey(Box::new((zkey, Default::default()))), verifying_key }
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
    pub(crate) fn coefficients(&self, level: Level, column: Column) -> Result<Cow<'_, [Fr]>, PlonkError> {
        if let Some(forms) = self.forms(column) {
            return Ok(Cow::Borrowed(&forms.coefficients));
        }
        let Source::Zkey(zkey) = &self.source else { return Ok(Cow::Borrowed(&[])) };
        let (zkey, decoded) = &**zkey;
        let place = self.verifying_key.system.fixed().iter().position(|fixed| *fixed == column);
        let Some((place, slot)) = place.and_then(|place| Some((place, decoded.get(place)?))) else {
            return Ok(Cow::Borrowed(&[]));
        };
        if slot.get().is_none() {
            let polynomial = match place.checked_sub(ZkeySelector::ALL.len()) {
                None => zkey.selector(ZkeySelector::ALL[place]),
                Some(wire) => zkey.sigma(Wire::ALL[wire]),
            };
            // Of two that decode at once either will do.
            drop(slot.set(polynomial.coefficients.decode(level)?));
        }
        Ok(Cow::Borrowed(slot.get().map_or(&[], Vec::as_slice)))
    }

    /// n values of a fixed column on the domain.
    pub(crate) fn values(
        &self,
        level: Level,
        domain: &Domain<FrParams>,
        column: Column,
    ) -> Result<Cow<'_, [Fr]>, PlonkError> {
        if let Some(values) = self.forms(column).and_then(|forms| forms.values.as_ref()) {
            return Ok(Cow::Borrowed(values));
        }
        let mut values = self.coefficients(level, column)?.into_owned();
        domain.ntt(level, &mut values);
        Ok(Cow::Owned(values))
    }

    /// n values of a fixed column on the coset number `index`, times `form`, if they are kept so.
    pub(crate) fn coset_values(&self, column: Column, index: usize, form: Fr) -> Option<&[Fr]> {
        let Source::Built(built) = &self.source else { return None };
        let forms = built.columns.polynomials.get(&column).filter(|_| built.columns.form == form)?;
        forms.cosets.get(index).map(Vec::as_slice)
    }

    /// Powers of tau in G1, enough for every polynomial that is committed to.
    pub(crate) fn reference(&self, level: Level) -> Result<Reference, PlonkError> {
        match &self.source {
            Source::Zkey(zkey) => {
                Ok(Reference::Points(Arc::new(zkey.0.ptau().decode(level, PointCheck::OnCurve)?)))
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
            FixedColumns::new(level, circuit.layout(), Memory::Balanced, &mut |_| ()).expect("columns");
        columns.variables_of[2][row] = y.index() as u32;
        let srs = Arc::new(Srs::insecure_from_known_tau(level, Fr::from(12345), 1 << 6));
        (columns.commit(level, srs, &mut |_| ()).expect("a key"), circuit.values().to_vec())
    }

    #[test]
    fn a_permutation_that_is_not_the_wires_is_named() {
        for arithmetisation in Arithmetisation::ALL {
            // Cycles run backwards: the changed place is the first whose label differs, the one after it the next.
            for row in [0, 7, 19] {
                let (key, values) = contradicting(arithmetisation, row);
                let result = prove(Level::best(), &key, &values, ProveOptions::default(), &mut |_| ());
                assert!(
                    matches!(result, Err(PlonkError::CopyConstraint { gate }) if gate == row),
                    "{arithmetisation}, row {row}: {result:?}"
                );
            }
        }
    }
}
