//! Names of choices: what they are written as, and read from.

/// `Display` and `FromStr` of an enum by the names of its variants; `what` is what an unknown name should have been.
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
pub(crate) use named;

/// A name that is none of those that there are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {what} ({}), found {found:?}", listed(known))]
pub struct UnknownName {
    /// What was to be named.
    pub what: &'static str,
    /// The names that there are.
    pub known: &'static [&'static str],
    /// The name that was given.
    pub found: String,
}

/// Names as a sentence lists them.
fn listed(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Arithmetisation, LookupArgument, Memory};

    #[test]
    fn names_are_read_as_they_are_written() {
        assert!(Arithmetisation::ALL.iter().all(|each| each.to_string().parse() == Ok(*each)));
        assert!(LookupArgument::ALL.iter().all(|each| each.to_string().parse() == Ok(*each)));
        assert!(Memory::ALL.iter().all(|each| each.to_string().parse() == Ok(*each)));
    }

    #[test]
    fn other_names_are_refused_with_those_that_there_are() {
        let refused = [
            "Turbo".parse::<Arithmetisation>().expect_err("refused"),
            "".parse::<LookupArgument>().expect_err("refused"),
            "slow\n".parse::<Memory>().expect_err("refused"),
        ];
        let expected = [
            "expected an arithmetisation (standard, turbo or ultra), found \"Turbo\"",
            "expected a lookup argument (logup or plookup), found \"\"",
            "expected a memory mode (fast, balanced or low), found \"slow\\n\"",
        ];
        assert_eq!(refused.map(|error| error.to_string()), expected);
    }
}
