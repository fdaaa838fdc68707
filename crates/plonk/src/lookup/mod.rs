//! Lookups: how it is proven that rows are rows of tables.

/// How lookups are proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LookupArgument {
    /// logUp (Haböck, eprint 2022/1530): sums of logarithmic derivatives.
    LogDerivative,
    /// plookup (Gabizon, Williamson, eprint 2020/315): a grand product over lookups and tables, sorted.
    Plookup,
}
