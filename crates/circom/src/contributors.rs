//! The contributors to a ceremony, according to a file's list of contributions.

use crate::Beacon;

/// The contributors to a ceremony. A participant's secret may be forgotten; a beacon's secret is computed from its contribution, so that
/// everyone knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contributors {
    /// Nobody.
    Nobody,
    /// Beacons and nobody else.
    OnlyBeacons,
    /// At least one participant.
    Participants,
}

impl Contributors {
    /// The contributors in a list of contributions, which is read up to the first participant's.
    pub(crate) fn of<E>(
        contributions: impl IntoIterator<Item = Result<Option<Beacon>, E>>,
    ) -> Result<Self, E> {
        let mut found = Self::Nobody;
        for beacon in contributions {
            if beacon?.is_none() {
                return Ok(Self::Participants);
            }
            found = Self::OnlyBeacons;
        }
        Ok(found)
    }
}

/// A contribution's name for messages: characters that change how the text around them looks, which are control characters and
/// marks of direction and of lines, become `?`.
pub fn shown_name(name: &str) -> String {
    let changes_others = |c: char| {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    name.chars().map(|c| if changes_others(c) { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::shown_name;

    #[test]
    fn names_are_shown_as_they_are_unless_they_change_other_text() {
        for name in ["", "Alice", "O'Neill \"the\" \\ tab", "\u{e9}ve \u{4f60}\u{597d} \u{1f511}"] {
            assert_eq!(shown_name(name), name);
        }
        assert_eq!(shown_name("\u{1b}[31mred\n\r\0\u{7f}\u{9b}"), "?[31mred?????");
        assert_eq!(shown_name("a\u{202e}b\u{2066}c\u{2028}d\u{200f}e"), "a?b?c?d?e");
    }
}
