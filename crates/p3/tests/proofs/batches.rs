//! Tables to be proven at once.

use super::{
    airs::{Example, Fibonacci, Preprocessed, RoundConstants},
    configurations::elements,
};
use p3_air::{Air, AirBuilder, BaseAir, WindowAccess};
use p3_field::{Field, PrimeCharacteristicRing};
use p3_goldilocks::Goldilocks;
use p3_lookup::{Count, InteractionBuilder, LookupBus};
use p3_matrix::{Matrix, dense::RowMajorMatrix};
use proofmill_field::goldilocks::Goldilocks as Element;
use proofmill_stark::air;
use std::borrow::Cow;

/// The table of all integers of so many bits, and others that look up in it.
const BITS: usize = 5;

/// The bus of lookups in it.
const INTEGERS: LookupBus<'_> = LookupBus::new("integers");

/// The AIRs of a batch.
#[derive(Clone, Copy)]
pub(crate) enum Table {
    /// A preprocessed column of integers, with how often each is looked up.
    Integers,
    /// Pairs of integers, whose combination is also in a column in another order.
    Pairs,
    /// At most one flag says which integer of a row is looked up.
    Either,
    /// Without lookups.
    Alone(Example),
}

impl Table {
    pub(crate) const FIBONACCI: Self = Self::Alone(Example::Fibonacci(Fibonacci));
}

impl<F: Field> BaseAir<F> for Table {
    fn width(&self) -> usize {
        match self {
            Self::Integers => 1,
            Self::Pairs => 4,
            Self::Either => 3,
            Self::Alone(air) => BaseAir::<F>::width(air),
        }
    }

    fn num_public_values(&self) -> usize {
        match self {
            Self::Alone(air) => BaseAir::<F>::num_public_values(air),
            _ => 0,
        }
    }

    fn main_next_row_columns(&self) -> Vec<usize> {
        match self {
            Self::Integers | Self::Either => vec![],
            Self::Pairs => vec![0],
            Self::Alone(air) => BaseAir::<F>::main_next_row_columns(air),
        }
    }

    fn preprocessed_width(&self) -> usize {
        match self {
            Self::Integers => 1,
            Self::Alone(air) => BaseAir::<F>::preprocessed_width(air),
            _ => 0,
        }
    }

    fn preprocessed_next_row_columns(&self) -> Vec<usize> {
        match self {
            Self::Alone(air) => BaseAir::<F>::preprocessed_next_row_columns(air),
            _ => vec![],
        }
    }

    fn preprocessed_trace(&self) -> Option<RowMajorMatrix<F>> {
        match self {
            Self::Integers => Some(RowMajorMatrix::new_col((0..1 << BITS).map(F::from_u64).collect())),
            Self::Alone(air) => air.preprocessed_trace(),
            _ => None,
        }
    }

    fn num_periodic_columns(&self) -> usize {
        match self {
            Self::Alone(air) => BaseAir::<F>::num_periodic_columns(air),
            _ => 0,
        }
    }

    fn periodic_columns(&self) -> Cow<'_, [Vec<F>]> {
        match self {
            Self::Alone(air) => air.periodic_columns(),
            _ => Cow::Owned(vec![]),
        }
    }
}

impl<AB: InteractionBuilder<F: Field>> Air<AB> for Table {
    fn eval(&self, builder: &mut AB) {
        let main = builder.main();
        let local = main.current_slice();
        match self {
            Self::Integers => {
                let integer = builder.preprocessed().current_slice()[0];
                INTEGERS.table_entry(builder, [integer], local[0]);
            }
            Self::Pairs => {
                let [low, high, pair, other] = [0, 1, 2, 3].map(|column| local[column]);
                builder.assert_eq(pair, low + high * AB::Expr::from_u64(1 << BITS));
                builder.when_transition().assert_eq(main.next_slice()[0], high);
                INTEGERS.lookup_key(builder, [low], 1);
                INTEGERS.lookup_key(builder, [high], 1);
                builder.push_local_interaction([
                    (vec![pair.into(), pair.into()], Count::bounded(AB::Expr::ONE, 1)),
                    (vec![other.into(), other.into()], Count::provided(-AB::Expr::ONE)),
                ]);
            }
            Self::Either => {
                let [first, second, integer] = [0, 1, 2].map(|column| local[column]);
                let flags: [AB::Expr; 3] = [first.into(), second.into(), first + second];
                for flag in flags {
                    builder.assert_zero(flag.clone() * (flag - AB::Expr::ONE));
                }
                let complement = AB::Expr::from_u64((1 << BITS) - 1) - integer;
                let branches = [(first.into(), vec![integer.into()]), (second.into(), vec![complement])];
                INTEGERS.lookup_key_exclusive(builder, branches);
            }
            Self::Alone(air) => air.eval(builder),
        }
    }
}

/// Tables with their traces and public values.
pub(crate) struct Batch {
    pub(crate) airs: Vec<Table>,
    pub(crate) traces: Vec<RowMajorMatrix<Goldilocks>>,
    pub(crate) public_values: Vec<Vec<Goldilocks>>,
}

/// A batch in our elements.
#[allow(dead_code, reason = "other tests use it")]
pub(crate) struct OfEngine {
    pub(crate) traces: Vec<Vec<Element>>,
    pub(crate) public_values: Vec<Vec<Element>>,
    pub(crate) preprocessed: Vec<Option<air::Preprocessed>>,
}

impl Batch {
    #[allow(dead_code, reason = "other tests use it")]
    pub(crate) fn of_engine(&self) -> OfEngine {
        let preprocessed = self.airs.iter().map(|air| {
            let matrix = BaseAir::<Goldilocks>::preprocessed_trace(air)?;
            Some(air::Preprocessed { columns: matrix.width(), values: elements(&matrix.values) })
        });
        OfEngine {
            traces: self.traces.iter().map(|trace| elements(&trace.values)).collect(),
            public_values: self.public_values.iter().map(|values| elements(values)).collect(),
            preprocessed: preprocessed.collect(),
        }
    }

    pub(crate) fn new(tables: impl IntoIterator<Item = (Table, RowMajorMatrix<Goldilocks>)>) -> Self {
        let (airs, traces): (Vec<_>, Vec<_>) = tables.into_iter().unzip();
        let public_values = airs.iter().zip(&traces).map(|(air, trace)| match air {
            Table::Alone(Example::Fibonacci(_)) => {
                [0, 1, trace.values.len() - 1].map(|index| trace.values[index]).to_vec()
            }
            _ => vec![],
        });
        Self { public_values: public_values.collect(), airs, traces }
    }

    /// With the table that the others look up in.
    pub(crate) fn with_lookups(log_rows: [usize; 2]) -> Self {
        let elements = |row: &[u64]| row.iter().map(|value| Goldilocks::from_u64(*value)).collect::<Vec<_>>();
        let mut counts = [0; 1 << BITS];
        let mut count = |integer: u64| {
            counts[integer as usize] += 1;
            integer
        };
        let chain: Vec<u64> = (0..=1 << log_rows[0]).map(|row| (row * row + 3) % (1 << BITS)).collect();
        let pairs: Vec<_> = chain.windows(2).map(|pair| [count(pair[0]), count(pair[1])]).collect();
        let pair = |row: usize| pairs[row][0] + (pairs[row][1] << BITS);
        let pairs = (0..pairs.len()).flat_map(|row| {
            elements(&[pairs[row][0], pairs[row][1], pair(row), pair((row + 1) % pairs.len())])
        });
        let either: Vec<_> = (0..1 << log_rows[1])
            .flat_map(|row| {
                let integer = (5 * row + 1) % (1 << BITS);
                match row % 3 {
                    0 => elements(&[1, 0, count(integer)]),
                    1 => elements(&[0, 1, (1 << BITS) - 1 - count(integer)]),
                    _ => elements(&[0, 0, 1000 + row]),
                }
            })
            .collect();
        let pairs = RowMajorMatrix::new(pairs.collect(), 4);
        let integers = RowMajorMatrix::new_col(elements(&counts));
        Self::new([
            (Table::Pairs, pairs),
            (Table::FIBONACCI, Fibonacci::trace(5).0),
            (Table::Integers, integers),
            (Table::Either, RowMajorMatrix::new(either, 3)),
            (Table::Alone(Example::Preprocessed(Preprocessed { log_rows: 5 })), Preprocessed::trace(5)),
        ])
    }

    pub(crate) fn without_lookups() -> Self {
        Self::new([
            (Table::FIBONACCI, Fibonacci::trace(6).0),
            (Table::Alone(Example::RoundConstants(RoundConstants)), RoundConstants.trace(3)),
            (Table::FIBONACCI, Fibonacci::trace(3).0),
        ])
    }
}
