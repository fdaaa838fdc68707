//! The end of a contribution to a ceremony, in keys and in powers of tau: a type (0 a participant's, 1 a beacon's), the length of the
//! parameters, and the parameters. A parameter is a byte with its number, and its value. The numbers ascend: 1 the name (a byte of
//! length, UTF-8), 2 the logarithm of the beacon's iterations (a byte), 3 the beacon's seed (a byte of length, bytes). The format is
//! that of snarkjs's `zkey_utils.js` and `powersoftau_utils.js`.

use crate::{
    binfile::{Cursor, Section},
    error::CircomError,
};

/// The source of a beacon's secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beacon {
    /// The seed: up to 255 bytes.
    pub seed: Vec<u8>,
    /// SHA-256 was applied 2 to this power times.
    pub log_iterations: u8,
}

/// Reads type and parameters: the name, whose bytes that are not UTF-8 are replaced, and for a beacon's contribution its beacon.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<(Option<String>, Option<Beacon>), CircomError> {
    let at = cursor.position();
    let kind = cursor.u32("a contribution's type")?;
    let length = cursor.u32("length of a contribution's parameters")?;
    let parameters = Parameters::read(cursor.take(length as usize, "a contribution's parameters")?)?;
    let Parameters { name, log_iterations, seed } = parameters;
    let beacon = match (kind, seed, log_iterations) {
        (0, None, None) => None,
        (1, Some(seed), Some(log_iterations)) => Some(Beacon { seed, log_iterations }),
        (0 | 1, seed, log_iterations) => {
            let with = |present: bool| if present { "with" } else { "without" };
            let problem = format!(
                "contribution of type {kind} {} a beacon's seed and {} its iterations",
                with(seed.is_some()),
                with(log_iterations.is_some())
            );
            return Err(cursor.malformed_at(at, problem));
        }
        _ => return Err(cursor.malformed_at(at, format!("contribution of type {kind}, expected 0 or 1"))),
    };
    Ok((name, beacon))
}

/// Appends type and parameters; `None` for a name or a seed of more than 255 bytes.
pub(crate) fn write(to: &mut Vec<u8>, name: Option<&str>, beacon: Option<&Beacon>) -> Option<()> {
    let mut parameters = Vec::new();
    if let Some(name) = name {
        parameters.push(1);
        write_counted(&mut parameters, name.as_bytes())?;
    }
    if let Some(beacon) = beacon {
        parameters.extend([2, beacon.log_iterations, 3]);
        write_counted(&mut parameters, &beacon.seed)?;
    }
    to.extend(u32::from(beacon.is_some()).to_le_bytes());
    to.extend((parameters.len() as u32).to_le_bytes());
    to.extend(parameters);
    Some(())
}

/// Reads a hash, or another value of a fixed number of bytes.
pub(crate) fn bytes<const LEN: usize>(cursor: &mut Cursor<'_>, what: &str) -> Result<[u8; LEN], CircomError> {
    let taken = cursor.take(LEN, what)?;
    taken.bytes().first_chunk().copied().ok_or_else(|| taken.malformed(0, format!("expected {LEN} bytes")))
}

/// The optional fields of a contribution.
#[derive(Default)]
struct Parameters {
    name: Option<String>,
    log_iterations: Option<u8>,
    seed: Option<Vec<u8>>,
}

impl Parameters {
    fn read(section: Section<'_>) -> Result<Self, CircomError> {
        let mut cursor = section.cursor();
        let mut parameters = Self::default();
        let mut last = 0;
        while cursor.position() < section.len() {
            let at = cursor.position();
            let number = byte(&mut cursor, "number of a parameter")?;
            if number <= last {
                let problem = format!("parameter {number} after parameter {last}, expected ascending ones");
                return Err(cursor.malformed_at(at, problem));
            }
            last = number;
            match number {
                1 => {
                    let name = counted(&mut cursor, "a contribution's name")?;
                    parameters.name = Some(String::from_utf8_lossy(name).into_owned());
                }
                2 => parameters.log_iterations = Some(byte(&mut cursor, "a beacon's iterations")?),
                3 => parameters.seed = Some(counted(&mut cursor, "a beacon's seed")?.to_vec()),
                _ => return Err(cursor.malformed_at(at, format!("parameter {number}, expected 1 to 3"))),
            }
        }
        Ok(parameters)
    }
}

fn byte(cursor: &mut Cursor<'_>, what: &str) -> Result<u8, CircomError> {
    bytes(cursor, what).map(|[byte]| byte)
}

/// Appends a byte of length and bytes.
fn write_counted(to: &mut Vec<u8>, bytes: &[u8]) -> Option<()> {
    to.push(u8::try_from(bytes.len()).ok()?);
    to.extend(bytes);
    Some(())
}

/// Bytes behind a byte of length.
fn counted<'a>(cursor: &mut Cursor<'a>, what: &str) -> Result<&'a [u8], CircomError> {
    let length = byte(cursor, what)?;
    Ok(cursor.take(usize::from(length), what)?.bytes())
}
