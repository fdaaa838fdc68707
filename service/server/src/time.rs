//! Times as the store and the messages have them.

use std::time::Duration;

/// A duration in milliseconds; `u64::MAX` if it is longer.
pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
