//! What a proof of some circuit consists of, found from the constraints themselves.
//!
//! The identity that a proof shows is a sum of a column times a factor, over some columns, plus a constant ([`Sink`]). The
//! prover adds it up in lanes on cosets. Prover and verifier evaluate factors and constant at the challenge from opened
//! cells, which leaves a combination of commitments. Which cells must be opened, the degree of the quotient and how many
//! coefficients blind a column follow from evaluating the same formulas on [`Shape`]s.

use crate::{
    Cell, Cells, Column, Gate, LookupArgument, Selector,
    called::{Borrowed, Called},
    gates::Formula,
    permutation::multipliers,
    summand::Challenges,
    summand::{Parameters, Sink, Summand},
};
use proofmill_field::{Algebra, Field, bn254::Fr};
use std::{
    collections::BTreeSet,
    marker::PhantomData,
    ops::{Add, Mul, Neg, Sub},
};

/// A sink behind a reference.
struct BorrowedMut<'a, A>(&'a mut dyn Sink<A>);

impl<A: Algebra> Sink<Called<A>> for BorrowedMut<'_, A> {
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

/// A gate by its number in the system, and its first power of alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GateNumber {
    pub(crate) index: usize,
    first_power: usize,
}

/// An expression with `$summand` the [`Summand`] of an [`Argument`] of a [`System`].
macro_rules! with_summand {
    ($system:expr, $argument:expr, $summand:ident => $body:expr) => {
        match $argument {
            $crate::system::Argument::Gate(number) => {
                $crate::gates::with_gate!($system.gates()[number.index], G => {
                    let $summand = $crate::system::GateSummand::<G>::new(number);
                    $body
                })
            }
            $crate::system::Argument::Permutation => {
                let $summand = $crate::permutation::Permutation { wires: $system.wires() };
                $body
            }
            $crate::system::Argument::Lookup($crate::LookupArgument::LogDerivative) => {
                let $summand = $crate::lookup::log_derivative::LogDerivative;
                $body
            }
            $crate::system::Argument::Lookup($crate::LookupArgument::Plookup) => {
                let $summand = $crate::lookup::plookup::Plookup;
                $body
            }
        }
    };
}
pub(crate) use with_summand;

/// The first of the other gates'.
const GATE_POWERS: usize = 5;

/// More coefficients than any quotient has beyond its parts: constraints have degree 6 at most, and columns 3 random
/// coefficients.
pub(crate) const MOST_EXCESS: usize = 16;

/// The constraints and the fixed columns of a circuit: what of it the protocol depends on, apart from sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    wires: u8,
    gates: Vec<Gate>,
    lookup: Option<LookupArgument>,
    fixed: Vec<Column>,
    opened: Vec<Cell>,
    linear: BTreeSet<Column>,
    /// The highest coefficient of the identity is that of `X^(degree.0 n + degree.1)`.
    degree: (u32, i32),
}

impl System {
    /// The system of these gates, in which the key has exactly the given selectors, data and table columns, in this order,
    /// and then the permutation's.
    ///
    /// # Panics
    /// If the first gate has not exactly one constraint, or the degree is one that no gates of three or four wires have.
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
        // How much a column is blinded depends on the cells that are opened, and the degree on the blinding.
        let system = empty.measured().measured();
        assert!(system.excess() <= MOST_EXCESS, "the quotient's last coefficients are found from few points");
        system
    }

    /// The system of the circuits of snarkjs.
    pub fn standard() -> Self {
        let fixed: Vec<Column> = Gate::Arithmetic.selectors().iter().copied().map(Column::Selector).collect();
        Self::new(3, vec![Gate::Arithmetic], None, &fixed)
    }

    /// Whether this is [`Self::standard`], whose transcript is that of snarkjs.
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

    /// Wires of a row.
    pub fn wires(&self) -> u8 {
        self.wires
    }

    /// The kinds of gates.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// How lookups are proven.
    pub fn lookup(&self) -> Option<LookupArgument> {
        self.lookup
    }

    /// The columns that the key has commitments of, in its order: selectors, data, tables, permutation.
    pub fn fixed(&self) -> &[Column] {
        &self.fixed
    }

    /// The cells whose values at the challenge a proof has, in its order.
    pub fn opened(&self) -> &[Cell] {
        &self.opened
    }

    /// In how many parts of n coefficients the quotient is committed to; the last one has [`Self::excess`] more.
    pub fn parts(&self) -> usize {
        self.degree.0 as usize - 1
    }

    /// How many coefficients the quotient has beyond `parts() * n`.
    pub(crate) fn excess(&self) -> usize {
        usize::try_from(self.degree.1 + 1).unwrap_or(0)
    }

    /// The columns of the witness in the order of their commitments, by round: the wires and what belongs to them, what
    /// needs the tables folded, and the running products and sums.
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

    /// How many random coefficients hide a column of the witness: one for its commitment, one for each value that a proof
    /// tells, be it by itself or in a combination.
    pub(crate) fn blinding(&self, column: Column) -> usize {
        if column.is_fixed() || matches!(column, Column::Table | Column::PublicInput) {
            return 0;
        }
        let opened = |next| self.opened.contains(&Cell { next, column });
        1 + usize::from(opened(false) || self.linear.contains(&column)) + usize::from(opened(true))
    }

    /// Most coefficients beyond n of any polynomial that is committed to.
    pub fn extra_powers(&self) -> usize {
        self.excess().max(MOST_BLINDING)
    }

    /// The identity's summands.
    pub(crate) fn arguments(&self) -> Vec<Argument> {
        let gate = |index| Argument::Gate(GateNumber { index, first_power: self.first_power(index) });
        let gates = (0..self.gates.len()).map(gate);
        gates.chain([Argument::Permutation]).chain(self.lookup.map(Argument::Lookup)).collect()
    }

    /// The key's columns that an argument looks at.
    pub(crate) fn fixed_columns(&self, argument: Argument) -> Vec<Column> {
        let seen = self.seen(argument);
        self.fixed.iter().copied().filter(|column| seen.is_factor(column) || seen.is_inside(column)).collect()
    }

    /// The key's columns of a gate: those that its terms are multiplied by, one each, and those inside of terms.
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

    /// The first power of alpha of a gate.
    fn first_power(&self, gate: usize) -> usize {
        let before = self.gates.get(1..gate).unwrap_or_default();
        if gate == 0 { 0 } else { GATE_POWERS + before.iter().map(|gate| gate.constraints()).sum::<usize>() }
    }

    /// The challenges as parameters; `multipliers` are those of the wires' cosets.
    pub(crate) fn parameters(&self, challenges: &Challenges, multipliers: [Fr; 4]) -> Parameters<Fr> {
        let &Challenges { beta, gamma, alpha, eta, delta, epsilon, .. } = challenges;
        let powers = self.first_power(self.gates.len()).max(GATE_POWERS);
        Parameters {
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

    /// The summands of all arguments, of values one by one. Lanes use [`with_summand`].
    pub(crate) fn terms<A: Algebra>(
        &self,
        cells: &dyn Cells<A>,
        parameters: &Parameters<A>,
        sink: &mut dyn Sink<A>,
    ) {
        self.argument_terms(&self.arguments(), cells, parameters, sink);
    }

    /// The summands of some arguments, of values one by one.
    pub(crate) fn argument_terms<A: Algebra>(
        &self,
        arguments: &[Argument],
        cells: &dyn Cells<A>,
        parameters: &Parameters<A>,
        sink: &mut dyn Sink<A>,
    ) {
        let (cells, parameters, mut sink) = (Borrowed(cells), parameters.map(Called), BorrowedMut(sink));
        for argument in arguments {
            with_summand!(self, *argument, summand => summand.terms(&cells, &parameters, &mut sink));
        }
    }

    /// Whether the circuit fixes this column and it is zero.
    pub(crate) fn lacks(&self, column: Column) -> bool {
        column.is_fixed() && !self.fixed.contains(&column)
    }
}

/// Most random coefficients of a column.
const MOST_BLINDING: usize = 3;

/// Most selectors of a gate.
const MOST_SELECTORS: usize = 13;

/// Most constraints of a gate.
const MOST_CONSTRAINTS: usize = 4;

/// A gate: each selector times the sum of its terms, constraints by powers of alpha.
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
    fn terms<A: Algebra>(self, cells: &impl Cells<A>, parameters: &Parameters<A>, sink: &mut impl Sink<A>) {
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
            // A power of alpha multiplies a constraint, not each of its terms.
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

/// The closure itself: the attribute that inlines it may stand at an argument alone.
#[inline(always)]
fn inlined<F>(closure: F) -> F {
    closure
}

/// Whether everybody knows the column's values without being told.
fn is_known(column: Column) -> bool {
    matches!(column, Column::Point | Column::FirstLagrange | Column::PublicInput)
}

/// The degree of an expression, `n` times the first number plus the second, and the cells in it: bit i of `cells` for
/// column i on this row, bit 64 + i for the next one.
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

/// Every column by its shape.
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

/// What the summands of a system are made of.
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

    /// Whether summands are this column times something.
    fn is_factor(&self, column: &Column) -> bool {
        self.linear.contains(column)
    }

    /// Whether the column's value on the same row is in a summand's other factor.
    fn is_inside(&self, column: &Column) -> bool {
        self.cells >> column.index() & 1 == 1
    }
}

impl Sink<Shape> for Seen<'_> {
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
    fn the_excess_of_every_system_is_found_from_few_points() {
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
            // What makes up the quotient may be any of them.
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
    fn the_first_gate_is_not_one_of_more_constraints() {
        System::new(4, vec![Gate::Range], None, &[]);
    }
}
