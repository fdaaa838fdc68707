//! The structure of a circuit's proofs, derived from its constraints.
//!
//! A proof shows an identity: a sum over some columns, each times a factor, plus a constant is zero
//! ([`SummandSink`]). The prover evaluates it in lanes on cosets. Prover and verifier evaluate the factors and the
//! constant at the challenge from the opened cells; the rest is a linear combination of commitments.
//! Evaluating the same formulas on [`Shape`]s determines the cells to open, the degree of the quotient and
//! the number of coefficients that blind a column.

use super::{
    called::{Borrowed, Called},
    gates::Formula,
    permutation::multipliers,
    summand::{Challenges, FormulaParameters, Summand, SummandSink},
};
use crate::{Cell, Cells, Column, Gate, LookupArgument, Selector};
use proofmill_field::{Algebra, Field, bn254::Fr};
use std::{
    collections::BTreeSet,
    marker::PhantomData,
    ops::{Add, Mul, Neg, Sub},
};

/// A sink behind a reference.
struct BorrowedMut<'a, A>(&'a mut dyn SummandSink<A>);

impl<A: Algebra> SummandSink<Called<A>> for BorrowedMut<'_, A> {
    fn linear(&mut self, column: Column, factor: Called<A>) {
        self.0.linear(column, factor.0);
    }

    fn constant(&mut self, value: Called<A>) {
        self.0.constant(value.0);
    }
}

/// A summand of the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    Gate(GateNumber),
    Permutation,
    Lookup(LookupArgument),
}

/// A gate's index in the system and its first power of alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GateNumber {
    pub(crate) index: usize,
    first_power: usize,
}

/// Evaluates an expression with `$summand` bound to the [`Summand`] of an [`Argument`] of a [`System`].
macro_rules! with_summand {
    ($system:expr, $argument:expr, $summand:ident => $body:expr) => {
        match $argument {
            $crate::arithmetisation::system::Argument::Gate(number) => {
                $crate::arithmetisation::gates::with_gate!($system.gates()[number.index], G => {
                    let $summand = $crate::arithmetisation::system::GateSummand::<G>::new(number);
                    $body
                })
            }
            $crate::arithmetisation::system::Argument::Permutation => {
                let $summand = $crate::arithmetisation::permutation::PermutationArgument { wires: $system.wires() };
                $body
            }
            $crate::arithmetisation::system::Argument::Lookup($crate::LookupArgument::LogDerivative) => {
                let $summand = $crate::arithmetisation::lookup::log_derivative::LogDerivative;
                $body
            }
            $crate::arithmetisation::system::Argument::Lookup($crate::LookupArgument::Plookup) => {
                let $summand = $crate::arithmetisation::lookup::plookup::Plookup;
                $body
            }
        }
    };
}
pub(crate) use with_summand;

/// The first power of alpha of the gates after the first.
const GATE_POWERS: usize = 5;

/// An upper bound of [`System::excess`]: constraints have degree at most 6, and columns at most 3 random
/// coefficients.
pub(crate) const MOST_EXCESS: usize = 16;

/// The constraints and fixed columns of a circuit: everything that the protocol depends on except the sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    wires: u8,
    gates: Vec<Gate>,
    lookup: Option<LookupArgument>,
    fixed: Vec<Column>,
    opened: Vec<Cell>,
    linear: BTreeSet<Column>,
    /// The degree of the identity is at most `degree.0 * n + degree.1`.
    degree: (u32, i32),
}

impl System {
    /// The system of these gates. The key has exactly the given selectors, data and table columns, in this
    /// order, followed by those of the permutation.
    ///
    /// # Panics
    /// If the first gate does not have exactly one constraint, or if the excess is above [`MOST_EXCESS`],
    /// which no gates of three or four wires reach.
    pub(crate) fn new(wires: u8, gates: Vec<Gate>, lookup: Option<LookupArgument>, fixed: &[Column]) -> Self {
        let sigmas = (0..wires).map(Column::Sigma);
        let fixed = fixed.iter().copied().chain(sigmas).collect();
        let first_constraints = gates.first().map(|gate| gate.constraints());
        assert_eq!(
            first_constraints,
            Some(1),
            "the first gate has one power of alpha, the permutation the next"
        );
        let empty =
            Self { wires, gates, lookup, fixed, opened: vec![], linear: BTreeSet::new(), degree: (0, 0) };
        // The number of blinding coefficients depends on the opened cells, and the degree on the blinding.
        let system = empty.measured().measured();
        assert!(system.excess() <= MOST_EXCESS, "the quotient has too many coefficients beyond its parts");
        system
    }

    /// The system of snarkjs's circuits.
    pub fn standard() -> Self {
        let fixed: Vec<Column> = Gate::Arithmetic.selectors().iter().copied().map(Column::Selector).collect();
        Self::new(3, vec![Gate::Arithmetic], None, &fixed)
    }

    /// Whether this is [`Self::standard`], which uses snarkjs's transcript.
    pub fn is_standard(&self) -> bool {
        let selectors = Gate::Arithmetic.selectors().iter().copied().map(Column::Selector);
        let fixed = selectors.chain((0..3).map(Column::Sigma));
        self.gates == [Gate::Arithmetic] && self.lookup.is_none() && self.fixed.iter().copied().eq(fixed)
    }

    fn measured(mut self) -> Self {
        let mut seen = Seen::nothing(&self);
        let parameters = self.parameters(&Challenges::default(), multipliers()).map(|_| Shape::CONSTANT);
        self.terms(&Shapes(&self), &parameters, &mut seen);
        let Seen { cells, linear, degree, .. } = seen;
        let opened = Shape { degree, cells }.cells().filter(|cell| !is_known(cell.column)).collect();
        (self.opened, self.linear, self.degree) = (opened, linear, degree);
        self.opened.sort_unstable();
        self
    }

    /// The number of wires of a row.
    pub fn wires(&self) -> u8 {
        self.wires
    }

    /// The gates.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The lookup argument, if the system has lookups.
    pub fn lookup(&self) -> Option<LookupArgument> {
        self.lookup
    }

    /// The columns whose commitments are in the key, in the key's order: selectors, data, tables,
    /// permutation.
    pub fn fixed(&self) -> &[Column] {
        &self.fixed
    }

    /// The cells whose values at the challenge are in a proof, in the proof's order.
    pub fn opened(&self) -> &[Cell] {
        &self.opened
    }

    /// The number of parts of n coefficients that the quotient is split into. The last part has up to 16
    /// coefficients more.
    pub fn parts(&self) -> usize {
        self.degree.0 as usize - 1
    }

    /// The number of coefficients of the quotient beyond `parts() * n`.
    pub(crate) fn excess(&self) -> usize {
        usize::try_from(self.degree.1 + 1).unwrap_or(0)
    }

    /// The committed witness columns of each round, in order: the wires and multiplicities; columns that
    /// depend on the folded tables; running products and sums.
    pub(crate) fn rounds(&self) -> [Vec<Column>; 3] {
        let mut first: Vec<Column> = (0..self.wires).map(Column::Wire).collect();
        let (mut second, mut third) = (Vec::new(), vec![Column::GrandProduct]);
        match self.lookup {
            None => {}
            Some(LookupArgument::LogDerivative) => {
                first.push(Column::Multiplicities);
                third.push(Column::LookupAccumulator);
            }
            Some(LookupArgument::Plookup) => {
                second.extend([Column::Sorted(0), Column::Sorted(1)]);
                third.push(Column::LookupAccumulator);
            }
        }
        [first, second, third]
    }

    /// The number of random coefficients that blind a column of the witness: one for its commitment, and one
    /// for each value that a proof reveals, alone or in a combination.
    pub(crate) fn blinding(&self, column: Column) -> usize {
        if column.is_fixed() || matches!(column, Column::Table | Column::PublicInput) {
            return 0;
        }
        let opened = |next| self.opened.contains(&Cell { next, column });
        1 + usize::from(opened(false) || self.linear.contains(&column)) + usize::from(opened(true))
    }

    /// The largest number of coefficients beyond n of any committed polynomial.
    pub fn extra_powers(&self) -> usize {
        self.excess().max(MOST_BLINDING)
    }

    /// The summands of the identity.
    pub(crate) fn arguments(&self) -> Vec<Argument> {
        let gate = |index| Argument::Gate(GateNumber { index, first_power: self.first_power(index) });
        let gates = (0..self.gates.len()).map(gate);
        gates.chain([Argument::Permutation]).chain(self.lookup.map(Argument::Lookup)).collect()
    }

    /// The key's columns that an argument uses.
    pub(crate) fn fixed_columns(&self, argument: Argument) -> Vec<Column> {
        let seen = self.seen(argument);
        self.fixed.iter().copied().filter(|column| seen.is_factor(column) || seen.is_inside(column)).collect()
    }

    /// The key's columns of a gate: first the selectors that multiply its terms, then the columns inside of
    /// terms.
    pub(crate) fn factors_and_inside(&self, gate: GateNumber) -> [Vec<Column>; 2] {
        let seen = self.seen(Argument::Gate(gate));
        let factors = self.fixed.iter().copied().filter(|column| seen.is_factor(column));
        [factors.collect(), self.fixed.iter().copied().filter(|column| seen.is_inside(column)).collect()]
    }

    fn seen(&self, argument: Argument) -> Seen<'_> {
        let mut seen = Seen::nothing(self);
        let parameters = self.parameters(&Challenges::default(), multipliers()).map(|_| Shape::CONSTANT);
        self.argument_terms(&[argument], &Shapes(self), &parameters, &mut seen);
        seen
    }

    /// A gate's first power of alpha.
    fn first_power(&self, gate: usize) -> usize {
        let before = self.gates.get(1..gate).unwrap_or_default();
        if gate == 0 { 0 } else { GATE_POWERS + before.iter().map(|gate| gate.constraints()).sum::<usize>() }
    }

    /// The challenges as parameters of the formulas; `multipliers` are those of the wires' cosets.
    pub(crate) fn parameters(&self, challenges: &Challenges, multipliers: [Fr; 4]) -> FormulaParameters<Fr> {
        let &Challenges { beta, gamma, alpha, eta, delta, epsilon, .. } = challenges;
        let powers = self.first_power(self.gates.len()).max(GATE_POWERS);
        FormulaParameters {
            beta,
            gamma,
            beta_multipliers: multipliers.map(|multiplier| beta * multiplier),
            eta,
            delta,
            epsilon,
            alpha: std::iter::successors(Some(Fr::ONE), |power| Some(*power * alpha)).take(powers).collect(),
            constants: self.gates.iter().map(|gate| gate.constants()).collect(),
        }
    }

    /// The summands of all arguments, for single values. Lanes use [`with_summand`].
    pub(crate) fn terms<A: Algebra>(
        &self,
        cells: &dyn Cells<A>,
        parameters: &FormulaParameters<A>,
        sink: &mut dyn SummandSink<A>,
    ) {
        self.argument_terms(&self.arguments(), cells, parameters, sink);
    }

    /// The summands of some arguments, for single values.
    pub(crate) fn argument_terms<A: Algebra>(
        &self,
        arguments: &[Argument],
        cells: &dyn Cells<A>,
        parameters: &FormulaParameters<A>,
        sink: &mut dyn SummandSink<A>,
    ) {
        let (cells, parameters, mut sink) = (Borrowed(cells), parameters.map(Called), BorrowedMut(sink));
        for argument in arguments {
            with_summand!(self, *argument, summand => summand.terms(&cells, &parameters, &mut sink));
        }
    }

    /// Whether the column is fixed but not in the key, and so zero.
    pub(crate) fn lacks(&self, column: Column) -> bool {
        column.is_fixed() && !self.fixed.contains(&column)
    }
}

/// The largest number of random coefficients of a column.
const MOST_BLINDING: usize = 3;

/// The largest number of selectors of a gate.
const MOST_SELECTORS: usize = 13;

/// The largest number of constraints of a gate.
const MOST_CONSTRAINTS: usize = 4;

/// A gate's formula: each selector times the sum of its terms; constraints are combined by powers of alpha.
#[derive(Clone, Copy)]
pub(crate) struct GateSummand<G> {
    number: GateNumber,
    formula: PhantomData<fn(G)>,
}

impl<G> GateSummand<G> {
    #[inline(always)]
    pub(crate) fn new(number: GateNumber) -> Self {
        Self { number, formula: PhantomData }
    }
}

impl<G: Formula + Copy> Summand for GateSummand<G> {
    #[inline(always)]
    fn terms<A: Algebra>(
        self,
        cells: &impl Cells<A>,
        parameters: &FormulaParameters<A>,
        sink: &mut impl SummandSink<A>,
    ) {
        let GateNumber { index, first_power } = self.number;
        let (alpha, zero) = (&parameters.alpha, A::zero(parameters.beta.token()));
        let weighted = inlined(
            #[inline(always)]
            |constraint: usize, term: A| {
                let power = first_power + constraint;
                if power == 0 { term } else { alpha[power] * term }
            },
        );
        if sink.has_values() && G::SELECTORS.len() > G::CONSTRAINTS {
            // Sum the terms of a constraint first, so that its power of alpha is multiplied once.
            let mut sums = [zero; MOST_CONSTRAINTS];
            let mut emit = inlined(
                #[inline(always)]
                |constraint: usize, selector: usize, term: A| {
                    if let Some(value) = sink.value(Column::Selector(G::SELECTORS[selector])) {
                        sums[constraint] = sums[constraint] + value * term;
                    }
                },
            );
            G::terms(cells, &parameters.constants[index], &mut emit);
            for constraint in 0..G::CONSTRAINTS {
                sink.constant(weighted(constraint, sums[constraint]));
            }
            return;
        }
        let mut factors = [zero; MOST_SELECTORS];
        let mut emit = inlined(
            #[inline(always)]
            |constraint: usize, selector: usize, term: A| {
                factors[selector] = factors[selector] + weighted(constraint, term);
            },
        );
        G::terms(cells, &parameters.constants[index], &mut emit);
        for selector in 0..G::SELECTORS.len() {
            sink.linear(Column::Selector(G::SELECTORS[selector]), factors[selector]);
        }
    }
}

/// Returns the closure. It exists because an inline attribute on a closure is allowed only on an argument.
#[inline(always)]
fn inlined<F>(closure: F) -> F {
    closure
}

/// Whether the verifier can evaluate the column without an opening.
fn is_known(column: Column) -> bool {
    matches!(column, Column::Point | Column::FirstLagrange | Column::PublicInput)
}

/// The degree of an expression, `degree.0 * n + degree.1`, and the set of its cells: bit i of `cells` is
/// column i on this row, bit 64 + i on the next.
#[derive(Clone, Copy, Debug)]
struct Shape {
    degree: (u32, i32),
    cells: u128,
}

impl Shape {
    const CONSTANT: Self = Self { degree: (0, 0), cells: 0 };

    fn cells(self) -> impl Iterator<Item = Cell> {
        every_column().flat_map(move |column| {
            [false, true].into_iter().filter_map(move |next| {
                let bit = column.index() + if next { 64 } else { 0 };
                (self.cells >> bit & 1 == 1).then_some(Cell { next, column })
            })
        })
    }
}

/// All columns.
fn every_column() -> impl Iterator<Item = Column> {
    use Column::{Data, Sigma, Sorted, TableColumn, Wire};
    let four = (0..4)
        .flat_map(|i| [Wire(i), Data(i), Sigma(i), TableColumn(i), Column::Selector(Selector::Wire(i))]);
    let selectors = [Selector::Product, Selector::Next, Selector::Constant, Selector::Lookup];
    let multiples = (0..12).map(|index| Column::Selector(Selector::Multiple(index)));
    let gates = Gate::ALL.iter().map(|gate| Column::Selector(Selector::Gate(*gate)));
    let others = [
        Column::Table,
        Column::Multiplicities,
        Sorted(0),
        Sorted(1),
        Column::GrandProduct,
        Column::LookupAccumulator,
        Column::Point,
        Column::FirstLagrange,
        Column::PublicInput,
    ];
    four.chain(selectors.map(Column::Selector)).chain(multiples).chain(gates).chain(others)
}

#[expect(clippy::suspicious_arithmetic_impl, reason = "sets of cells are joined")]
impl Add for Shape {
    type Output = Self;

    fn add(self, rhs: Self) -> Self {
        Self { degree: self.degree.max(rhs.degree), cells: self.cells | rhs.cells }
    }
}

#[expect(clippy::suspicious_arithmetic_impl, reason = "a difference has the shape of a sum")]
impl Sub for Shape {
    type Output = Self;

    fn sub(self, rhs: Self) -> Self {
        self + rhs
    }
}

impl Mul for Shape {
    type Output = Self;

    fn mul(self, rhs: Self) -> Self {
        let degree = (self.degree.0 + rhs.degree.0, self.degree.1 + rhs.degree.1);
        Self { degree, cells: self.cells | rhs.cells }
    }
}

impl Neg for Shape {
    type Output = Self;

    fn neg(self) -> Self {
        self
    }
}

impl Algebra for Shape {
    type Token = ();

    fn token(&self) {}

    fn zero((): ()) -> Self {
        Self::CONSTANT
    }

    fn one((): ()) -> Self {
        Self::CONSTANT
    }
}

/// The shape of every column.
struct Shapes<'a>(&'a System);

impl Shapes<'_> {
    fn shape(&self, column: Column, bit: usize) -> Shape {
        let degree = match column {
            Column::Point => (0, 1),
            _ => (1, self.0.blinding(column) as i32 - 1),
        };
        Shape { degree, cells: 1 << bit }
    }
}

impl Cells<Shape> for Shapes<'_> {
    fn here(&self, column: Column) -> Shape {
        self.shape(column, column.index())
    }

    fn after(&self, column: Column) -> Shape {
        self.shape(column, 64 + column.index())
    }
}

/// The columns and cells that a system's summands use.
struct Seen<'a> {
    system: &'a System,
    cells: u128,
    linear: BTreeSet<Column>,
    degree: (u32, i32),
}

impl<'a> Seen<'a> {
    fn nothing(system: &'a System) -> Self {
        Self { system, cells: 0, linear: BTreeSet::new(), degree: (0, 0) }
    }

    /// Whether a summand is this column times a factor.
    fn is_factor(&self, column: &Column) -> bool {
        self.linear.contains(column)
    }

    /// Whether a summand's factor contains the column on the same row.
    fn is_inside(&self, column: &Column) -> bool {
        self.cells >> column.index() & 1 == 1
    }
}

impl SummandSink<Shape> for Seen<'_> {
    fn linear(&mut self, column: Column, factor: Shape) {
        if self.system.lacks(column) {
            return;
        }
        self.linear.insert(column);
        self.cells |= factor.cells;
        self.degree = self.degree.max((factor * Shapes(self.system).here(column)).degree);
    }

    fn constant(&mut self, value: Shape) {
        self.cells |= value.cells;
        self.degree = self.degree.max(value.degree);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_excess_of_every_system_is_within_the_bound() {
        let custom = Gate::ALL.iter().copied().filter(|gate| *gate > Gate::WideArithmetic);
        let custom: Vec<Gate> = custom.collect();
        let lookups = LookupArgument::ALL.into_iter().map(Some).chain([None]);
        let (mut most, mut largest) = (0, 0);
        for (lookup, chosen) in
            lookups.flat_map(|lookup| (0..1 << custom.len()).map(move |set| (lookup, set)))
        {
            let mut gates = vec![Gate::WideArithmetic];
            gates.extend(
                (0..).zip(&custom).filter(|(place, _)| chosen >> place & 1 == 1).map(|(_, gate)| *gate),
            );
            let selectors = gates.iter().flat_map(|gate| gate.selectors()).copied().map(Column::Selector);
            let mut fixed: Vec<Column> = selectors.chain((0..4).map(Column::Data)).collect();
            if lookup.is_some() {
                fixed.push(Column::Selector(Selector::Lookup));
                fixed.extend((0..4).map(Column::TableColumn));
            }
            // Any of these columns can be in the key.
            for fixed in [&fixed[..], &fixed[fixed.len() / 2..], &[]] {
                let system = System::new(4, gates.clone(), lookup, fixed);
                most = most.max(system.excess());
                largest = largest.max(system.parts());
                assert!(
                    system.rounds().iter().flatten().all(|column| system.blinding(*column) <= MOST_BLINDING)
                );
            }
        }
        assert!(most <= MOST_EXCESS && System::standard().excess() <= most, "{most}");
        assert!(largest <= 5, "{largest}");
    }

    #[test]
    #[should_panic = "one power of alpha"]
    fn a_first_gate_of_several_constraints_is_refused() {
        System::new(4, vec![Gate::Range], None, &[]);
    }
}
