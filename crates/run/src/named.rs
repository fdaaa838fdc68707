//! Names of enum variants, for printing and parsing.

/// Implements `Display` and `FromStr` for an enum from the names of its variants. `what` describes the
/// expected value in the error for an unknown name.
#[macro_export]
macro_rules! named {
    ($type:ty, $what:literal, $($variant:ident => $name:literal),+ $(,)?) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $name,)+
                })
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> Result<Self, $crate::UnknownName> {
                match name {
                    $($name => Ok(Self::$variant),)+
                    _ => Err($crate::UnknownName { what: $what, known: &[$($name),+], found: name.to_owned() }),
                }
            }
        }
    };
}
/// An unknown name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {what} ({}), found {found:?}", listed(known))]
pub struct UnknownName {
    /// What the name should describe, for the message.
    pub what: &'static str,
    /// The known names.
    pub known: &'static [&'static str],
    /// The given name.
    pub found: String,
}

/// Joins names with commas and "or".
fn listed(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => names.concat(),
    }
}
