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
    /// The upper bits of what is no integer.
    const TAG: u64 = 0xfff7;
    const TRUTH: u64 = 1 << 32;
    const NONZERO: u64 = 1 << 33;
    const CHOICE: u64 = 1 << 34;

    /// An integer of 32 bits.
    #[inline(always)]
    pub(super) fn integer(value: u64) -> Self {
        Self(value)
    }

    /// Any integer of 64 bits, but for those that look like something else: a hash could.
    #[inline(always)]
    pub(super) fn long_integer(value: u64) -> Result<Self, Way> {
        if Self(value).known().is_some() { Ok(Self(value)) } else { Err(Way::Unknown) }
    }

    pub(super) fn truth(truth: Truth) -> Self {
        let nonzero = if truth.nonzero { Self::NONZERO } else { 0 };
        Self(Self::TAG << 48 | Self::TRUTH | nonzero | u64::from(truth.node))
    }

    /// The choice with this number.
    pub(super) fn choice(number: u32) -> Self {
        Self(Self::TAG << 48 | Self::CHOICE | u64::from(number))
    }

    #[inline(always)]
    pub(super) fn known(self) -> Option<u64> {
        if self.0 >> 48 == Self::TAG { None } else { Some(self.0) }
    }

    pub(super) fn as_truth(self) -> Option<Truth> {
        let truth = Truth { node: self.0 as u32, nonzero: self.0 & Self::NONZERO != 0 };
        if self == Self::truth(truth) { Some(truth) } else { None }
    }

    /// The number of a choice.
    pub(super) fn as_choice(self) -> Option<u32> {
        if self == Self::choice(self.0 as u32) { Some(self.0 as u32) } else { None }
    }
}
