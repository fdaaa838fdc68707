//! Integers of the stack, of locals and of memory.

use super::Way;

/// Whether a node is 0, or whether it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Truth {
    pub(super) node: u32,
    /// The condition holds if "the node is not 0" has this truth.
    pub(super) nonzero: bool,
}

impl Truth {
    pub(super) fn not(self) -> Self {
        Self { nonzero: !self.nonzero, ..self }
    }
}

/// An integer that does not depend on inputs, the truth of a condition as 0 or 1, or a choice between two values by a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SymbolicValue(u64);

/// A value where a condition holds, and another elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConditionalValue {
    pub(super) condition: Truth,
    pub(super) then: SymbolicValue,
    pub(super) otherwise: SymbolicValue,
}

impl SymbolicValue {
    /// The upper 32 bits of values that are no integers. No integer of circom's has them.
    const TAG: u64 = 0xfff7_5c3a;
    const TRUTH: u32 = 1 << 29;
    const NONZERO: u32 = 1 << 30;
    const CHOICE: u32 = 1 << 31;
    /// The bits of the number of a node or a choice; there are at most 2^28 of each.
    const NUMBER: u32 = Self::TRUTH - 1;

    /// An integer of 32 bits.
    #[inline(always)]
    pub(super) fn integer(value: u64) -> Self {
        Self(value)
    }

    /// An integer of 64 bits. A symbolic machine refuses those that look like another kind of value.
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

    /// [`Self::known`] in a symbolic machine; otherwise every value is an integer.
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
