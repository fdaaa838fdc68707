//! `input.json`: the values of a circuit's input signals.
//!
//! An object with a member for each signal: a number, or arrays of numbers nested to any depth, which are flattened. Members that
//! are objects are buses: their signals are named `bus.signal`, and `bus[0].signal` in arrays. Numbers are reduced modulo the
//! field's prime, as circom's generated JavaScript does.

use crate::{error::WitnessError, number};
use proofmill_circom::ScalarPrime;
use proofmill_field::{Field, Fp, bn254::FrParams};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use std::{collections::HashSet, fmt, marker::PhantomData};
use zeroize::Zeroizing;

/// The most bytes of an `input.json`. Parsed, a hostile one takes up to 40 times its size.
pub const LARGEST_INPUT: u64 = 1 << 28;

/// The inputs of a circuit.
pub struct Inputs<P: ScalarPrime = FrParams> {
    signals: Vec<Signal<P>>,
    /// Bytes of all names, which repeat those of the objects around them.
    name_bytes: u64,
}

/// An input signal and its values, flattened in row-major order. They are wiped when it is dropped.
pub struct Signal<P: ScalarPrime = FrParams> {
    /// The name, such as `leaf`, `point.x` or `points[2].x`.
    pub name: String,
    /// The values.
    pub values: Zeroizing<Vec<Fp<P>>>,
}

impl<P: ScalarPrime> fmt::Debug for Signal<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} values", self.name, self.values.len())
    }
}

impl<P: ScalarPrime> fmt::Debug for Inputs<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.signals.fmt(f)
    }
}

impl<P: ScalarPrime> Inputs<P> {
    /// Parses the text of an `input.json`.
    ///
    /// # Errors
    /// [`WitnessError::Input`], with line and column or the signal's name.
    pub fn from_json(text: &[u8]) -> Result<Self, WitnessError> {
        if text.len() as u64 > LARGEST_INPUT {
            let problem = format!("expected at most {LARGEST_INPUT} bytes of inputs, found {}", text.len());
            return Err(WitnessError::Input(problem));
        }
        let value: Value<P> = serde_json::from_slice(text)
            .map_err(|error| WitnessError::Input(format!("not JSON of inputs: {error}")))?;
        let Value::Object(_) = value else {
            return Err(WitnessError::Input("expected an object of signals by name".to_owned()));
        };
        let mut inputs = Self { signals: Vec::new(), name_bytes: 0 };
        inputs.add(String::new(), value)?;
        let mut names = HashSet::new();
        if let Some(signal) = inputs.signals.iter().find(|signal| !names.insert(&signal.name)) {
            let problem = format!("signal {} is given twice", shown(&signal.name));
            return Err(WitnessError::Input(problem));
        }
        Ok(inputs)
    }

    /// The signals, in the order of the text.
    pub fn signals(&self) -> &[Signal<P>] {
        &self.signals
    }

    fn add(&mut self, name: String, value: Value<P>) -> Result<(), WitnessError> {
        self.name_bytes += name.len() as u64;
        if self.name_bytes > LARGEST_INPUT {
            return Err(WitnessError::Input("the names of nested signals are too long".to_owned()));
        }
        match value {
            Value::Object(members) => members.into_iter().try_for_each(|(member, value)| {
                self.add(if name.is_empty() { member } else { format!("{name}.{member}") }, value)
            }),
            Value::Array(elements) if elements.iter().any(Value::has_object) => elements
                .into_iter()
                .enumerate()
                .try_for_each(|(index, element)| self.add(format!("{name}[{index}]"), element)),
            value => {
                let mut values = Zeroizing::new(Vec::with_capacity(value.count()));
                if value.flatten(&mut values).is_none() {
                    let (index, length) = (values.len(), value.count());
                    let place =
                        if length == 1 { String::new() } else { format!(", value {index} of {length}") };
                    let problem = format!("signal {}{place}: {}", shown(&name), number::EXPECTED);
                    return Err(WitnessError::Input(problem));
                }
                self.signals.push(Signal { name, values });
                Ok(())
            }
        }
    }
}

/// A name for messages: short and on one line.
pub(crate) fn shown(name: &str) -> String {
    const LONGEST: usize = 100;
    let mut shown: String = name.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if name.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    shown
}

enum Value<P: ScalarPrime> {
    Number(Fp<P>),
    /// A string, a fraction or null, which is no number.
    Other,
    Array(Vec<Value<P>>),
    Object(Vec<(String, Value<P>)>),
}

impl<P: ScalarPrime> Value<P> {
    /// Whether it is an object or an array that contains one. Linear in the number of values for each level of nesting.
    fn has_object(&self) -> bool {
        match self {
            Self::Object(_) => true,
            Self::Array(elements) => elements.iter().any(Self::has_object),
            Self::Number(_) | Self::Other => false,
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Array(elements) => elements.iter().map(Self::count).sum(),
            _ => 1,
        }
    }

    /// Appends all numbers up to the first value that is none.
    fn flatten(&self, values: &mut Vec<Fp<P>>) -> Option<()> {
        match self {
            Self::Number(number) => values.push(*number),
            Self::Array(elements) => elements.iter().try_for_each(|element| element.flatten(values))?,
            Self::Object(_) | Self::Other => return None,
        }
        Some(())
    }
}

impl<'de, P: ScalarPrime> Deserialize<'de> for Value<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyValue<P>(PhantomData<P>);

        impl<'de, P: ScalarPrime> Visitor<'de> for AnyValue<P> {
            type Value = Value<P>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a string, an array or an object")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Value<P>, E> {
                Ok(Value::Number(Fp::from(u64::from(value))))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Value<P>, E> {
                Ok(Value::Number(Fp::from(value)))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Value<P>, E> {
                let magnitude = Fp::from(value.unsigned_abs());
                Ok(Value::Number(if value < 0 { -magnitude } else { magnitude }))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Value<P>, E> {
                // `-0` is one of these; all others have a fraction or lose digits.
                Ok(if value == 0.0 { Value::Number(Fp::ZERO) } else { Value::Other })
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Value<P>, E> {
                Ok(number::parse(text).map_or(Value::Other, Value::Number))
            }

            fn visit_unit<E: Error>(self) -> Result<Value<P>, E> {
                Ok(Value::Other)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value<P>, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = elements.next_element()? {
                    values.push(value);
                }
                Ok(Value::Array(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value<P>, A::Error> {
                let mut values = Vec::new();
                while let Some(member) = members.next_entry()? {
                    values.push(member);
                }
                Ok(Value::Object(values))
            }
        }

        deserializer.deserialize_any(AnyValue(PhantomData))
    }
}
