//! Montgomery products and squares as sums of columns of weight 2^(W k), in any order.

use crate::{assembly::schedule, prime_field::constant};

/// A factor of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Factor {
    /// Limb of the first operand.
    A(usize),
    /// Limb of the second operand.
    B(usize),
    /// Limb of a multiple of the second operand, which is the same in all lanes: of the one by which a limb of the first is multiplied.
    Multiple(usize, usize),
    /// Limb of the modulus p.
    P(usize),
    /// Limb of 2^-(W k) mod p for the k digits that are removed together.
    Jump(usize),
    /// Result of a step.
    Value(usize),
}

/// What is computed together.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Adds products of a column's weight: to it what they leave modulo 2^W, balanced, and the rest to the next column.
    Products {
        column: usize,
        products: Vec<[Factor; 2]>,
    },
    /// Adds a product's rest to the next column only: the column itself cancels.
    Rest {
        column: usize,
        product: [Factor; 2],
    },
    /// Cuts a column that is complete into a balanced digit and a carry to the next column.
    Digit {
        column: usize,
        value: usize,
    },
    /// The last column as it is.
    Top {
        column: usize,
        value: usize,
    },
    /// The digit m for which m p + digit is 0 modulo 2^W.
    Montgomery {
        digit: usize,
        value: usize,
    },
    Sum {
        terms: [Factor; 2],
        value: usize,
    },
    /// Adds a complete column to another one, or subtracts it.
    Column {
        to: usize,
        from: usize,
        subtract: bool,
    },
    /// A new column: the difference of two complete ones.
    Difference {
        to: usize,
        from: usize,
        less: usize,
    },
    /// A limb of the result.
    Result {
        limb: usize,
        value: usize,
    },
}

/// What is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Two operands.
    Product,
    /// One operand, with itself.
    Square,
    /// An operand, with a constant whose multiples are known.
    Scale,
}

/// The steps of a product or square.
pub(crate) struct Formula {
    /// Limbs of an element.
    pub(crate) limbs: usize,
    /// Bits of a limb.
    pub(crate) bits: u32,
    /// Vectors of four elements that are computed together, so that one hides the other's latencies.
    pub(crate) vectors: usize,
    pub(crate) kind: Kind,
    pub(crate) steps: Vec<Step>,
    pub(crate) values: usize,
    /// The columns that begin with a constant; further ones are auxiliary and begin empty.
    pub(crate) columns: usize,
}

impl Step {
    /// The step for the scheduler; `steps` are all.
    fn scheduled(&self, steps: &[Self]) -> schedule::Step {
        let (completes, reads) = (self.completes(), self.values_read());
        let precedes = |other: &Self| {
            other.adds().iter().any(|column| completes.contains(column))
                || other.value_given().is_some_and(|value| reads.contains(&value))
        };
        schedule::Step {
            instructions: self.instructions(),
            latency: self.latency(),
            before: (0..steps.len()).filter(|other| precedes(&steps[*other])).collect(),
        }
    }

    /// Instructions.
    fn instructions(&self) -> usize {
        match self {
            Self::Products { products, .. } => 4 * products.len() + 1,
            Self::Rest { .. } => 2,
            Self::Digit { .. } => 5,
            Self::Montgomery { .. } => 3,
            Self::Top { .. } | Self::Sum { .. } | Self::Column { .. } => 1,
            Self::Difference { .. } => 1,
            Self::Result { .. } => 0,
        }
    }

    /// Cycles until its results are ready.
    fn latency(&self) -> usize {
        match self {
            Self::Products { products, .. } => 4 * products.len() + if products.len() > 1 { 12 } else { 9 },
            Self::Rest { .. } => 6,
            Self::Digit { .. } => 7,
            Self::Montgomery { .. } => 11,
            Self::Top { .. } => 4,
            Self::Sum { .. } => 3,
            Self::Column { .. } | Self::Difference { .. } => 1,
            Self::Result { .. } => 0,
        }
    }

    /// The columns that have to be complete before.
    fn completes(&self) -> Vec<usize> {
        match self {
            Self::Digit { column, .. } | Self::Top { column, .. } => vec![*column],
            Self::Column { from, .. } => vec![*from],
            Self::Difference { from, less, .. } => vec![*from, *less],
            _ => vec![],
        }
    }

    /// The columns that it adds to.
    fn adds(&self) -> Vec<usize> {
        match self {
            Self::Products { column, .. } => vec![*column, column + 1],
            Self::Rest { column, .. } | Self::Digit { column, .. } => vec![column + 1],
            Self::Column { to, .. } | Self::Difference { to, .. } => vec![*to],
            _ => vec![],
        }
    }

    fn values_read(&self) -> Vec<usize> {
        let of = |factors: &[Factor]| -> Vec<usize> {
            let value = |factor: &Factor| match factor {
                Factor::Value(value) => Some(*value),
                _ => None,
            };
            factors.iter().filter_map(value).collect()
        };
        match self {
            Self::Products { products, .. } => of(products.as_flattened()),
            Self::Rest { product, .. } => of(product),
            Self::Sum { terms, .. } => of(terms),
            Self::Montgomery { digit, .. } => vec![*digit],
            Self::Result { value, .. } => vec![*value],
            _ => vec![],
        }
    }

    fn value_given(&self) -> Option<usize> {
        match self {
            Self::Digit { value, .. }
            | Self::Top { value, .. }
            | Self::Montgomery { value, .. }
            | Self::Sum { value, .. } => Some(*value),
            _ => None,
        }
    }
}

use Factor::{A, B, Jump, Multiple, P, Value};

/// Digits that a product by a constant removes.
pub(super) const SCALED: usize = 2;

/// The pairs of a limb of `rows` and one of `limbs` whose product has the weight of the column.
fn pairs(column: usize, rows: usize, limbs: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows).filter(move |i| (*i..*i + limbs).contains(&column)).map(move |i| (i, column - i))
}

impl Formula {
    fn new(limbs: usize, bits: u32, kind: Kind) -> Self {
        let vectors = if limbs == 5 { 2 } else { 1 };
        let columns = if kind == Kind::Scale { limbs + SCALED } else { 2 * limbs };
        Self { limbs, bits, vectors, kind, steps: Vec::new(), values: 0, columns }
    }

    fn value(&mut self) -> usize {
        self.values += 1;
        self.values - 1
    }

    fn products(&mut self, column: usize, products: &[[Factor; 2]]) {
        self.steps.push(Step::Products { column, products: products.to_vec() });
    }

    fn digit(&mut self, column: usize) -> usize {
        let value = self.value();
        self.steps.push(Step::Digit { column, value });
        value
    }

    /// The Montgomery digit of a complete column, which it makes 0.
    fn montgomery(&mut self, column: usize) -> Factor {
        let (digit, value) = (self.digit(column), self.value());
        self.steps.push(Step::Montgomery { digit, value });
        self.steps.push(Step::Rest { column, product: [Value(value), P(0)] });
        Value(value)
    }

    fn sum(&mut self, terms: [Factor; 2]) -> Factor {
        let value = self.value();
        self.steps.push(Step::Sum { terms, value });
        Value(value)
    }

    fn doubled(&mut self) -> Vec<Factor> {
        (0..self.limbs).map(|i| if i == 0 { A(0) } else { self.sum([A(i), A(i)]) }).collect()
    }

    fn finish(mut self) -> Self {
        for limb in 0..self.limbs {
            let (column, value) = (self.columns - self.limbs + limb, self.value());
            let step = if limb + 1 < self.limbs {
                Step::Digit { column, value }
            } else {
                Step::Top { column, value }
            };
            self.steps.extend([step, Step::Result { limb, value }]);
        }
        self
    }

    /// Montgomery reduction by five digits of 51 bits: two by their residues, three by Montgomery's method. `last` are the products
    /// that are added together with the last digit's, by column.
    fn reduced_5(mut self, last: [Option<[Factor; 2]>; 4]) -> Self {
        let digits = [0, 1].map(|column| Value(self.digit(column)));
        for column in 2..8 {
            let products: Vec<_> = pairs(column - 2, 2, 5).map(|(i, j)| [digits[i], Jump(j)]).collect();
            self.products(column, &products);
        }
        let m2 = self.montgomery(2);
        self.products(3, &[[m2, P(1)]]);
        let m3 = self.montgomery(3);
        for j in 2..5 {
            self.products(2 + j, &[[m2, P(j)], [m3, P(j - 1)]]);
        }
        let m4 = self.montgomery(4);
        for (j, last) in (1..5).zip(last) {
            match (j, last) {
                (3, Some(last)) => {
                    self.products(7, &[[m3, P(4)]]);
                    self.products(7, &[last, [m4, P(3)]]);
                }
                (3, None) => self.products(7, &[[m3, P(4)], [m4, P(3)]]),
                (_, Some(last)) => self.products(4 + j, &[last, [m4, P(j)]]),
                (_, None) => self.products(4 + j, &[[m4, P(j)]]),
            }
        }
        self.finish()
    }

    /// Montgomery reduction by digits of 48 bits: half of them by their residues, the others by Montgomery's method.
    fn reduced_in_halves(mut self) -> Self {
        let (limbs, half) = (self.limbs, self.limbs / 2);
        let digits: Vec<_> = (0..half).map(|column| Value(self.digit(column))).collect();
        for column in 0..half + limbs - 1 {
            let products: Vec<_> = pairs(column, half, limbs).map(|(i, j)| [digits[i], Jump(j)]).collect();
            self.products(half + column, &products);
        }
        let mut m = Vec::new();
        for column in 0..half {
            if column > 0 {
                let products: Vec<_> = (0..column).map(|i| [m[i], P(column - i)]).collect();
                self.products(half + column, &products);
            }
            m.push(self.montgomery(half + column));
        }
        for column in half..half + limbs - 1 {
            let products: Vec<_> = pairs(column, half, limbs).map(|(i, j)| [m[i], P(j)]).collect();
            self.products(half + column, &products);
        }
        self.finish()
    }

    /// 254 bits: five limbs of 51 bits.
    pub(crate) fn product_5() -> Self {
        let mut formula = Self::new(5, 51, Kind::Product);
        // What a4 is multiplied by comes last, with the last Montgomery digit.
        for column in 0..8 {
            let products: Vec<_> = pairs(column, 4, 5).map(|(i, j)| [A(i), B(j)]).collect();
            products.chunks(2).for_each(|products| formula.products(column, products));
        }
        formula.products(4, &[[A(4), B(0)]]);
        formula.reduced_5([1, 2, 3, 4].map(|j| Some([A(4), B(j)])))
    }

    /// The same for a square, with doubled limbs for the cross products.
    pub(crate) fn square_5() -> Self {
        let mut formula = Self::new(5, 51, Kind::Square);
        let double = formula.doubled();
        formula.products(0, &[[A(0), A(0)]]);
        formula.products(1, &[[A(0), double[1]]]);
        formula.products(2, &[[A(0), double[2]], [A(1), A(1)]]);
        // Two products of a doubled limb in one chain would reach its bound.
        formula.products(3, &[[A(0), double[3]]]);
        formula.products(3, &[[A(1), double[2]]]);
        formula.products(4, &[[A(0), double[4]], [A(2), A(2)]]);
        formula.products(4, &[[A(1), double[3]]]);
        formula.products(5, &[[A(2), double[3]]]);
        formula.products(6, &[[A(3), A(3)]]);
        let last = [[A(1), double[4]], [A(2), double[4]], [A(3), double[4]], [A(4), A(4)]];
        formula.reduced_5(last.map(Some))
    }

    /// An element times a constant c: its limbs times c 2^(51 (k + SCALED)) modulo p.
    pub(crate) fn scale_5() -> Self {
        let mut formula = Self::new(5, 51, Kind::Scale);
        for column in 0..5 {
            let products = [0, 1, 2, 3, 4].map(|i| [A(i), Multiple(i, column)]);
            products.chunks(2).for_each(|products| formula.products(column, products));
        }
        let mut m = Vec::new();
        for column in 0..SCALED {
            m.push(formula.montgomery(column));
            let products: Vec<_> = pairs(column + 1, m.len(), 5).map(|(i, j)| [m[i], P(j)]).collect();
            formula.products(column + 1, &products);
        }
        for column in SCALED + 1..SCALED + 4 {
            let products: Vec<_> = pairs(column, SCALED, 5).map(|(i, j)| [m[i], P(j)]).collect();
            formula.products(column, &products);
        }
        formula.finish()
    }

    /// 254 bits with 34 to spare: six limbs of 48 bits.
    pub(crate) fn product_6() -> Self {
        let mut formula = Self::new(6, 48, Kind::Product);
        for column in 0..11 {
            let products: Vec<_> = pairs(column, 6, 6).map(|(i, j)| [A(i), B(j)]).collect();
            products.chunks(4).for_each(|products| formula.products(column, products));
        }
        formula.reduced_in_halves()
    }

    /// 381 bits: eight limbs of 48 bits, by Karatsuba's three products of halves.
    pub(crate) fn product_8() -> Self {
        let mut formula = Self::new(8, 48, Kind::Product);
        let [low, high, middle] = [20, 30, 40];
        let a: Vec<_> = (0..4).map(|i| formula.sum([A(i), A(i + 4)])).collect();
        let b: Vec<_> = (0..4).map(|i| formula.sum([B(i), B(i + 4)])).collect();
        for column in 0..7 {
            let terms = |term: &dyn Fn(usize, usize) -> [Factor; 2]| -> Vec<_> {
                pairs(column, 4, 4).map(|(i, j)| term(i, j)).collect()
            };
            formula.products(low + column, &terms(&|i, j| [A(i), B(j)]));
            formula.products(high + column, &terms(&|i, j| [A(4 + i), B(4 + j)]));
            formula.products(4 + column, &terms(&|i, j| [a[i], b[j]]));
        }
        for j in 0..4 {
            // What the product of sums has too much is in two columns with opposite signs.
            formula.steps.push(Step::Difference { to: middle + j, from: low + 4 + j, less: high + j });
            let mut column = |to, from, subtract| formula.steps.push(Step::Column { to, from, subtract });
            column(j, low + j, false);
            column(4 + j, low + j, true);
            column(4 + j, middle + j, false);
            column(8 + j, middle + j, true);
            column(8 + j, high + 4 + j, true);
            column(12 + j, high + 4 + j, false);
        }
        formula.reduced_in_halves()
    }

    /// The same for a square.
    pub(crate) fn square_8() -> Self {
        let mut formula = Self::new(8, 48, Kind::Square);
        let double = formula.doubled();
        for column in 0..15 {
            let products: Vec<_> = pairs(column, 8, 8)
                .filter(|(i, j)| i <= j)
                .map(|(i, j)| [A(i), if i == j { A(j) } else { double[j] }])
                .collect();
            formula.products(column, &products);
        }
        formula.reduced_in_halves()
    }

    /// The steps of all vectors, in an order that hides latencies: vector and step.
    pub(crate) fn ordered(&self, parameters: schedule::Parameters) -> impl Iterator<Item = (usize, &Step)> {
        let steps: Vec<_> = self.steps.iter().map(|step| step.scheduled(&self.steps)).collect();
        let order = schedule::order(&steps, self.vectors, parameters);
        order.into_iter().map(|(vector, step)| (vector, &self.steps[step]))
    }

    /// What the columns begin with: offsets that make them positive, less the exponents and offsets of the doubles that are added to
    /// them as integers.
    pub(crate) fn starts(&self, name: &str) -> String {
        let one_and_a_half = |power: u32| 1.5 * 2f64.powi(power as i32);
        let rest = one_and_a_half(self.bits + 52).to_bits();
        let low = one_and_a_half(52).to_bits();
        let mut added = vec![0u64; 64];
        for step in &self.steps {
            match step {
                Step::Products { column, .. } => {
                    added[*column] = added[*column].wrapping_add(low);
                    added[column + 1] = added[column + 1].wrapping_add(rest);
                }
                Step::Rest { column, .. } => added[column + 1] = added[column + 1].wrapping_add(rest),
                Step::Column { to, from, subtract } => {
                    let from = added[*from];
                    added[*to] =
                        if *subtract { added[*to].wrapping_sub(from) } else { added[*to].wrapping_add(from) };
                }
                Step::Difference { to, from, less } => added[*to] = added[*from].wrapping_sub(added[*less]),
                _ => {}
            }
        }
        let last = self.columns - 1;
        let start = |(column, added): (usize, &u64)| {
            let offset = if column == last { low } else { (1 << 62) + (1 << (self.bits - 1)) };
            let carried = if column == 0 { 0 } else { 1 << (62 - self.bits) };
            format!("{:#018x}", offset.wrapping_sub(*added).wrapping_sub(carried))
        };
        let starts: Vec<String> = added[..self.columns].iter().enumerate().map(start).collect();
        format!("\n{}", constant(0, &format!("pub(super) const {name}"), &starts))
    }
}
