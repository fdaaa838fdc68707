//! Who contributed to a ceremony, as far as a file's list of contributions says.

use crate::Beacon;

/// Who contributed to a ceremony. A participant's secret may be forgotten; a beacon's is computed from what its contribution says, so that
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
    /// Of a list of contributions, which is read up to the first participant's.
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
