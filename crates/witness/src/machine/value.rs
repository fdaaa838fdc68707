//! Integers of the stack, of locals and of memory.

use super::Way;

/// Whether a node is 0, or whether it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Truth {
    pub(super) node: u32,
    /// It holds if whether the node is not 0 is this.
    pub(super) nonzero: bool,
}

impl Truth {
    pub(super) fn not(self) -> Self {
        Self { nonzero: !self.nonzero, ..self }
    }
}

/// An integer, which does not depend on inputs; or the truth of a condition, which does, as 0 or 1; or one of two, by a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value(u64);

/// A value where a condition holds, and another elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) condition: Truth,
    pub(super) then: Value,
    pub(super) otherwise: Value,
}

impl Value {
    /// The upper 32 bits of what is no integer, which no integer of circom's has.
    const TAG: u64 = 0xfff7_5c3a;
    const TRUTH: u32 = 1 << 29;
    const NONZERO: u32 = 1 << 30;
    const CHOICE: u32 = 1 << 31;
    /// The bits of a number of a node or choice, of which there are at most 2^28.
    const NUMBER: u32 = Self::TRUTH - 1;

    /// An integer of 32 bits.
    #[inline(always)]
    pub(super) fn integer(value: u64) -> Self {
        Self(value)
    }

    /// Any integer of 64 bits; in a symbolic machine but for those that look like something else.
    #[inline(always)]
    pub(super) fn long_integer<const SYMBOLIC: bool>(value: u64) -> Result<Self, Way> {
        if Self(value).known_if_not::<SYMBOLIC>().is_some() { Ok(Self(value)) } else { Err(Way::Unknown) }
    }

    pub(super) fn truth(truth: Truth) -> Self {
        let nonzero = if truth.nonzero { Self::NONZERO } else { 0 };
        Self::tagged(Self::TRUTH | nonzero | truth.node)
    }

    fn tagged(low: u32) -> Self {
        Self(Self::TAG << 32 | u64::from(low))
    }

    /// The choice with this number.
    pub(super) fn choice(number: u32) -> Self {
        Self::tagged(Self::CHOICE | number)
    }

    #[inline(always)]
    pub(super) fn known(self) -> Option<u64> {
        if self.0 >> 32 == Self::TAG { None } else { Some(self.0) }
    }

    /// [`Self::known`], and of a machine that is not symbolic anything.
    #[inline(always)]
    pub(super) fn known_if_not<const SYMBOLIC: bool>(self) -> Option<u64> {
        if SYMBOLIC { self.known() } else { Some(self.0) }
    }

    pub(super) fn as_truth(self) -> Option<Truth> {
        let low = self.0 as u32;
        let truth = Truth { node: low & Self::NUMBER, nonzero: low & Self::NONZERO != 0 };
        if self == Self::truth(truth) { Some(truth) } else { None }
    }

    /// The number of a choice.
    pub(super) fn as_choice(self) -> Option<u32> {
        let number = self.0 as u32 & Self::NUMBER;
        if self == Self::choice(number) { Some(number) } else { None }
    }
}
