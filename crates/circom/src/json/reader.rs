//! Values of a JSON document, with the path to them for messages.

use crate::{
    binfile::LARGEST_JSON,
    curve::{CircomCurve, PairingCurve},
    decode::Coordinate,
    error::CircomError,
    file_kind::Content,
};
use proofmill_curve::{Affine, Curve};
use proofmill_field::{Field, FieldError, Fp, Prime};
use proofmill_files::{FileError, FileName, read_file_at_most};
use serde_json::Value;
use std::path::Path;

/// The member of a verification key that marks an insecure setup. snarkjs ignores it.
const INSECURE_SETUP: &str = "insecureSetup";

pub(super) struct Document {
    name: FileName,
    value: Value,
}

impl Document {
    pub(super) fn open(path: &Path) -> Result<Self, CircomError> {
        let name = FileName::new(path);
        match read_file_at_most(path, LARGEST_JSON) {
            Ok(text) => Self::from_text(name, &text),
            Err(source) => Err(CircomError::Io(FileError::new(&name, source))),
        }
    }

    pub(super) fn parse(name: &str, text: &[u8]) -> Result<Self, CircomError> {
        Self::from_text(FileName::new(Path::new(name)), text)
    }

    pub(super) fn from_text(name: FileName, text: &[u8]) -> Result<Self, CircomError> {
        if text.len() as u64 > LARGEST_JSON {
            let problem = format!("expected at most {LARGEST_JSON} bytes, found {}", text.len());
            return Err(CircomError::json_value(&name, "the document", problem));
        }
        let problem = match (serde_json::from_slice(text), Content::of(text)) {
            (Ok(value), _) => return Ok(Self { name, value }),
            (Err(source), Content::Json | Content::Other(_)) => {
                CircomError::JsonSyntax { file: name, source }
            }
            (Err(_), other) => {
                CircomError::Kind { file: name, expected: "JSON".to_owned(), found: other.to_string() }
            }
        };
        Err(problem)
    }

    pub(super) fn root(&self) -> JsonNode<'_> {
        JsonNode { file: &self.name, path: String::new(), value: &self.value }
    }

    /// The document's protocol.
    pub(super) fn protocol(&self) -> Option<&str> {
        self.value.get("protocol").and_then(Value::as_str)
    }

    /// The curve that the document names, if it is one.
    pub(super) fn curve(&self) -> Option<PairingCurve> {
        self.value.get("curve").and_then(Value::as_str).and_then(PairingCurve::of_name)
    }

    /// The root, after a check that the document is of this protocol and curve.
    pub(super) fn of_protocol<C: CircomCurve>(
        &self,
        protocol: &'static str,
    ) -> Result<JsonNode<'_>, CircomError> {
        let root = self.root();
        let found = self.protocol();
        if found != Some(protocol) {
            let found = found.map_or("none".to_owned(), |found| found.escape_debug().to_string());
            return Err(CircomError::Protocol { file: self.name.clone(), expected: protocol, found });
        }
        // Files of snarkjs's early versions name no curve.
        if let Some(curve) = root.value.get("curve")
            && curve.as_str() != Some(C::SNARKJS)
        {
            let problem = format!("expected \"{}\", found {}", C::SNARKJS, shown(curve));
            return Err(root.key("curve")?.problem(problem));
        }
        Ok(root)
    }
}

/// A value and the path to it.
pub(super) struct JsonNode<'a> {
    file: &'a FileName,
    path: String,
    value: &'a Value,
}

impl<'a> JsonNode<'a> {
    pub(super) fn problem(&self, problem: String) -> CircomError {
        let path = if self.path.is_empty() { "the document" } else { &self.path };
        CircomError::json_value(self.file, path, problem)
    }

    fn expected(&self, what: &str) -> CircomError {
        self.problem(format!("expected {what}, found {}", shown(self.value)))
    }

    /// The value under a key of an object.
    pub(super) fn key(&self, key: &str) -> Result<JsonNode<'a>, CircomError> {
        let object = self.value.as_object().ok_or_else(|| self.expected("an object"))?;
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        let value = object.get(key).ok_or_else(|| CircomError::json_value(self.file, &path, "is missing"))?;
        Ok(JsonNode { file: self.file, path, value })
    }

    /// Whether a verification key says that its setup is insecure; keys that do not say so have no such member.
    pub(super) fn insecure_setup(&self) -> Result<bool, CircomError> {
        match self.value.get(INSECURE_SETUP) {
            None => Ok(false),
            Some(Value::Bool(insecure)) => Ok(*insecure),
            Some(_) => Err(self.key(INSECURE_SETUP)?.expected("true or false")),
        }
    }

    /// The values of a list.
    pub(super) fn items(&self) -> Result<Vec<JsonNode<'a>>, CircomError> {
        let list = self.value.as_array().ok_or_else(|| self.expected("a list"))?;
        let node = |(i, value)| JsonNode { file: self.file, path: format!("{}[{i}]", self.path), value };
        Ok(list.iter().enumerate().map(node).collect())
    }

    /// The values of a list of known length.
    pub(super) fn tuple<const N: usize>(&self) -> Result<[JsonNode<'a>; N], CircomError> {
        let items = self.items()?;
        let found = items.len();
        items.try_into().map_err(|_| self.problem(format!("expected a list of {N}, found one of {found}")))
    }

    pub(super) fn text(&self) -> Result<&'a str, CircomError> {
        self.value.as_str().ok_or_else(|| self.expected("a string"))
    }

    pub(super) fn scalar<P: Prime>(&self) -> Result<Fp<P>, CircomError> {
        self.digits()?.parse().map_err(|error: FieldError| self.problem(error.to_string()))
    }

    /// The digits of a field element: a string of decimal digits, or a JSON number.
    fn digits(&self) -> Result<String, CircomError> {
        match self.value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            _ => Err(self.expected("a number in a string")),
        }
    }

    /// A count, as a JSON number.
    pub(super) fn count(&self) -> Result<u32, CircomError> {
        let count = self.value.as_u64().and_then(|count| u32::try_from(count).ok());
        count.ok_or_else(|| self.expected("a number below 2^32"))
    }

    pub(super) fn point<C: Curve<Base: Coordinate>>(&self) -> Result<Affine<C>, CircomError> {
        let [x, y, z] = self.tuple()?.each_ref().map(JsonNode::coordinate);
        self.affine(x?, y?, z?)
    }

    /// A number, or a list with a number for each coefficient of the field.
    fn coordinate<F: Coordinate>(&self) -> Result<F, CircomError> {
        if F::DEGREE == 1 {
            let digits = self.digits()?;
            return F::from_decimal(&[digits]).map_err(|error| self.problem(error.to_string()));
        }
        let items = self.items()?;
        if items.len() != F::DEGREE {
            return Err(self.problem(format!(
                "expected a list of {}, found one of {}",
                F::DEGREE,
                items.len()
            )));
        }
        // One by one, so that an error names the coefficient.
        let mut coefficients = vec!["0".to_owned(); F::DEGREE];
        let mut value = F::ZERO;
        for (index, item) in items.iter().enumerate() {
            let digits = item.digits()?;
            if let Some(coefficient) = coefficients.get_mut(index) {
                *coefficient = digits;
            }
            value = F::from_decimal(&coefficients).map_err(|error| item.problem(error.to_string()))?;
        }
        Ok(value)
    }

    fn affine<C: Curve>(&self, x: C::Base, y: C::Base, z: C::Base) -> Result<Affine<C>, CircomError> {
        if z == C::Base::ZERO && x == C::Base::ZERO && y == C::Base::ONE {
            return Ok(Affine::INFINITY);
        }
        if z != C::Base::ONE {
            return Err(self.problem("expected a point with third coordinate 1".to_owned()));
        }
        let point = Affine { x, y };
        // (0, 0) is infinity in `Affine`, but not in this format.
        if point.is_infinity() || !point.is_on_curve() {
            return Err(self.problem(format!("expected a point on {}, found one off it", C::NAME)));
        }
        Ok(point)
    }
}

/// The beginning of a value, on one line.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 40;
    let text = match value {
        Value::Array(_) => return "a list".to_owned(),
        Value::Object(_) => return "an object".to_owned(),
        other => other.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
