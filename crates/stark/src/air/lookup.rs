//! Lookups: some rows of tables ask for messages, and other rows offer them.
//!
//! Every message is a fraction: its count over a random linear combination of its values (LogUp: Haböck, eprint 2022/1530). One column has
//! the sum of some fractions in each row, another has the sum of all rows before. The sum over all rows of all tables is zero if each
//! message is offered as often as it is looked up. The columns and constraints are those of `p3-lookup` 0.9.0-rc.2.

use super::{
    definition::{Matrix, SELECTORS},
    expression::{capture_more, record},
    graph::{Cell, Expression, Graph, Input, Lookup, Term},
};
use proofmill_field::{
    Field,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};

/// A bus, by its name: it takes messages to rows of any table.
///
/// All messages of a bus have equally many values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bus<'a>(pub &'a str);

impl Bus<'_> {
    /// Looks a message up `count` times. The AIR must constrain the count to at most `most`, as a bit or a constant is: the sum of all
    /// counts must not reach the modulus.
    ///
    /// # Panics
    /// As the operators of [`Expression`].
    pub fn look_up(self, message: &[Expression], count: impl Into<Expression>, most: u32) {
        self.add(message, count.into(), most);
    }

    /// Offers a message, which is to be looked up `count` times, whatever number that is.
    ///
    /// # Panics
    /// As the operators of [`Expression`].
    pub fn offer(self, message: &[Expression], count: impl Into<Expression>) {
        self.add(message, -count.into(), 0);
    }

    fn add(self, message: &[Expression], count: Expression, most: u32) {
        let terms = vec![Term { message: message.to_vec(), count, flag: None }];
        Lookup { bus: Some(self.0.to_owned()), terms, most }.record();
    }
}

/// Multiplication in an extension: the coordinates of the products of any two elements of its basis, by both factors.
#[derive(Clone, Debug)]
pub(crate) struct Products(pub(super) Vec<Vec<Vec<Goldilocks>>>);

/// An element of the extension by its coordinates.
type Coordinates = Vec<Expression>;

impl Lookup {
    /// Adds the lookup to the graph that is being captured.
    ///
    /// # Panics
    /// As the operators of [`Expression`].
    pub fn record(self) {
        record(|graph| graph.lookups.push(self));
    }

    /// The number of values of a message.
    pub fn width(&self) -> usize {
        self.terms.first().map_or(0, |term| term.message.len())
    }

    /// Whether terms exclude each other.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.terms.iter().any(|term| term.flag.is_some())
    }

    /// The degree of the lookup's constraint: that of the column times the common denominator, or that of the numerator.
    fn degree(&self, graph: &Graph) -> u32 {
        let of_message =
            |term: &Term| term.message.iter().map(|value| graph.degree(*value)).max().unwrap_or(0);
        if self.is_exclusive() {
            let of_flag = |term: &Term| term.flag.map_or(0, |flag| graph.degree(flag));
            let degrees = self.terms.iter().map(|term| {
                let (flag, count) = (of_flag(term), graph.degree(term.count));
                let denominator = flag.saturating_add(of_message(term)).saturating_add(1);
                denominator.max(flag.saturating_add(count))
            });
            return degrees.max().unwrap_or(1);
        }
        // Degrees are not checked yet: they may be as large as integers are.
        let denominator = self.terms.iter().map(of_message).fold(0, u32::saturating_add);
        let numerator = |term: &Term| graph.degree(term.count).saturating_add(denominator - of_message(term));
        let numerator = self.terms.iter().map(numerator).max().unwrap_or(0);
        numerator.max(denominator.saturating_add(1))
    }

    /// All expressions that are computed for the lookup in a row.
    fn expressions(&self) -> impl Iterator<Item = Expression> {
        let of_term = |term: &Term| {
            let others = [term.count].into_iter().chain(term.flag);
            term.message.clone().into_iter().chain(others).collect::<Vec<_>>()
        };
        self.terms.iter().flat_map(of_term)
    }
}

/// The places of the scalars of lookups, which follow those of the AIR.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookupScalars {
    first: usize,
    degree: usize,
    /// The largest number of values of a message.
    pub(crate) width: usize,
}

impl LookupScalars {
    fn element(self, index: usize) -> Coordinates {
        let input = |index| Expression::input(Input::Scalar(index as u32), 0);
        (0..self.degree).map(|coordinate| input(self.first + index * self.degree + coordinate)).collect()
    }

    /// The sum over all rows.
    fn total(self) -> Coordinates {
        self.element(0)
    }

    /// A power, at least the first, of the challenge that combines the values of a message.
    fn power(self, exponent: usize) -> Coordinates {
        self.element(exponent)
    }

    /// The challenge from which combinations of a lookup's messages are subtracted.
    fn base(self, lookup: usize) -> Coordinates {
        self.element(self.width.max(1) + lookup)
    }
}

impl Graph {
    /// The number of columns over the extension that lookups need: one for each lookup, and one for the sums of rows before; none without
    /// lookups.
    pub fn lookup_columns(&self) -> usize {
        if self.lookups.is_empty() { 0 } else { self.lookups.len() + 1 }
    }

    /// The scalars of lookups, after `first` other scalars.
    pub(crate) fn lookup_scalars(&self, first: usize, degree: usize) -> LookupScalars {
        LookupScalars { first, degree, width: self.lookups.iter().map(Lookup::width).max().unwrap_or(0) }
    }

    /// Puts lookups of one bus into one column, while the quotient stays as short as with one column for each lookup.
    pub(crate) fn with_shared_columns(mut self) -> Self {
        let lookups = std::mem::take(&mut self.lookups);
        let degree =
            self.degrees().chain(lookups.iter().map(|lookup| lookup.degree(&self))).max().unwrap_or(0);
        let most = (degree.max(2) - 1).checked_next_power_of_two().map_or(degree, |chunks| chunks + 1);
        for lookup in lookups {
            let shared = |other: &Lookup| Lookup {
                bus: lookup.bus.clone(),
                terms: [other.terms.clone(), lookup.terms.clone()].concat(),
                most: other.most.saturating_add(lookup.most),
            };
            let fits = |other: &Lookup| {
                let exclusive = other.is_exclusive() || lookup.is_exclusive();
                let counted = other.most.checked_add(lookup.most).is_some();
                let same = lookup.bus.is_some() && other.bus == lookup.bus && other.width() == lookup.width();
                same && !exclusive && counted && shared(other).degree(&self) <= most
            };
            match self.lookups.iter().position(fits) {
                Some(index) => self.lookups[index] = shared(&self.lookups[index]),
                None => self.lookups.push(lookup),
            }
        }
        self
    }

    /// The degree of an expression.
    fn degree(&self, expression: Expression) -> u32 {
        match expression {
            Expression::Constant(_) => 0,
            Expression::Node(id) => self.degree_of(id),
        }
    }

    /// The graph in which only these expressions must vanish.
    pub(crate) fn only(&self, expressions: &[Expression]) -> Self {
        let mut graph = self.clone();
        let roots: Vec<_> = expressions.iter().map(|value| value.id(&mut graph)).collect();
        graph.restricted(roots)
    }

    /// Whether lookups read a selector, whose values in the rows of a trace are not 0 and 1.
    pub(crate) fn lookups_read_selectors(&self) -> bool {
        let is_selector = |input: &Input| match input {
            Input::Cell(cell) => cell.matrix == Matrix::Row as u32 && (cell.column as usize) < SELECTORS,
            Input::Scalar(_) => false,
        };
        let expressions: Vec<_> = self.lookups.iter().flat_map(Lookup::expressions).collect();
        self.only(&expressions).inputs_of_roots().any(|input| is_selector(&input))
    }

    /// The graph with the constraints of lookups after its own. A constraint over the extension is one constraint for each of its
    /// coordinates. First, in order, each lookup's column has the sum of the lookup's fractions. Then come the constraints on the sums of
    /// rows before: in the first row, in the next row, and in the last row.
    ///
    /// The scalars of lookups follow the first `scalars` scalars. First comes the sum over all rows. Powers of the challenge that combines
    /// the values of a message follow, from the first power on, with exponents below the largest number of values. Last, for each lookup,
    /// comes the challenge from which its combinations are subtracted.
    pub(crate) fn with_lookups(&self, scalars: usize, products: &Products) -> Self {
        if self.lookups.is_empty() {
            return self.clone();
        }
        let degree = products.0.len();
        let scalars = self.lookup_scalars(scalars, degree);
        let column = |column: usize, next| -> Coordinates {
            let column = |coordinate| (column * degree + coordinate) as u32;
            let cell = |coordinate| Cell { matrix: Matrix::Lookups as u32, column: column(coordinate), next };
            (0..degree).map(|coordinate| Expression::input(Input::Cell(cell(coordinate)), 1)).collect()
        };
        let row = |column| {
            let cell = Cell { matrix: Matrix::Row as u32, column, next: false };
            // The selector of transitions is linear.
            Expression::input(Input::Cell(cell), u32::from(column + 1 != SELECTORS as u32))
        };
        let must_vanish = |value: Coordinates| value.into_iter().for_each(Expression::must_vanish);
        capture_more(self.clone(), || {
            for (index, lookup) in self.lookups.iter().enumerate() {
                let (numerator, denominator) = lookup.fraction(products, scalars, index);
                must_vanish(sub(&products.multiply(&denominator, &column(index + 1, false)), &numerator));
            }
            let zero = vec![Expression::from(Goldilocks::ZERO); degree];
            let sum = (1..=self.lookups.len()).fold(zero, |sum, index| add(&sum, &column(index, false)));
            let (before, after) = (column(0, false), column(0, true));
            must_vanish(scaled(&before, row(0)));
            must_vanish(scaled(&sub(&sub(&after, &before), &sum), row(2)));
            must_vanish(scaled(&sub(&sub(&scalars.total(), &before), &sum), row(1)));
        })
    }
}

impl Lookup {
    /// The sum of the fractions: its numerator and its denominator.
    fn fraction(
        &self,
        products: &Products,
        scalars: LookupScalars,
        index: usize,
    ) -> (Coordinates, Coordinates) {
        let base = scalars.base(index);
        let denominators: Vec<_> = self
            .terms
            .iter()
            .map(|term| {
                let powers = (0..term.message.len()).rev();
                powers.zip(&term.message).fold(base.clone(), |sum, (exponent, value)| match exponent {
                    0 => sub(&sum, &products.embedded(*value)),
                    _ => sub(&sum, &scaled(&scalars.power(exponent), *value)),
                })
            })
            .collect();
        let one = products.embedded(Goldilocks::ONE.into());
        let terms = self.terms.iter().zip(&denominators);
        if self.is_exclusive() {
            let zero = products.embedded(Goldilocks::ZERO.into());
            return terms.fold((zero, one.clone()), |(numerator, sum), (term, denominator)| {
                let flag = term.flag.unwrap_or(Goldilocks::ZERO.into());
                let numerator = add(&numerator, &products.embedded(flag * term.count));
                (numerator, add(&sum, &scaled(&sub(denominator, &one), flag)))
            });
        }
        terms.fold(
            (products.embedded(Goldilocks::ZERO.into()), one),
            |(numerator, common), (term, denominator)| {
                let numerator = products.multiply(&numerator, denominator);
                (add(&numerator, &scaled(&common, term.count)), products.multiply(&common, denominator))
            },
        )
    }
}

impl Products {
    /// The products of the extension of degree `D`.
    pub(crate) fn of<const D: usize>() -> Self
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let basis = |index| {
            let mut element = Extension([Goldilocks::ZERO; D]);
            element.0[index] = Goldilocks::ONE;
            element
        };
        let of_first = |i| (0..D).map(|j| (basis(i) * basis(j)).0.to_vec()).collect();
        Self((0..D).map(of_first).collect())
    }

    /// The coordinates of an element of the base field.
    fn embedded(&self, value: Expression) -> Coordinates {
        let zeros = (1..self.0.len()).map(|_| Goldilocks::ZERO.into());
        std::iter::once(value).chain(zeros).collect()
    }

    /// The product of elements by their coordinates.
    fn multiply(&self, x: &[Expression], y: &[Expression]) -> Vec<Expression> {
        let mut sums = vec![Expression::from(Goldilocks::ZERO); x.len()];
        for (x, products) in x.iter().zip(&self.0) {
            for (y, coordinates) in y.iter().zip(products) {
                let product = *x * *y;
                for (sum, factor) in sums.iter_mut().zip(coordinates) {
                    *sum = *sum + product * Expression::from(*factor);
                }
            }
        }
        sums
    }
}

fn add(x: &[Expression], y: &[Expression]) -> Coordinates {
    x.iter().zip(y).map(|(x, y)| *x + *y).collect()
}

fn sub(x: &[Expression], y: &[Expression]) -> Coordinates {
    x.iter().zip(y).map(|(x, y)| *x - *y).collect()
}

fn scaled(x: &[Expression], factor: Expression) -> Coordinates {
    x.iter().map(|x| *x * factor).collect()
}
