//! Inputs as bytes.

/// The bytes of an input, taken from the front.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// All of an input.
    #[must_use]
    pub fn new(input: &'a [u8]) -> Self {
        Self(input)
    }

    /// The next `count` things of `len` bytes each, made by `decode`.
    ///
    /// # Errors
    /// If there are not so many bytes.
    pub fn take<T>(
        &mut self,
        count: usize,
        len: usize,
        decode: impl Fn(&'a [u8]) -> T,
    ) -> Result<Vec<T>, String> {
        let bytes = count.checked_mul(len).and_then(|bytes| self.0.split_at_checked(bytes));
        let Some((bytes, rest)) = bytes else {
            return Err(format!("expected {count} times {len} bytes of input, found {}", self.0.len()));
        };
        self.0 = rest;
        Ok(bytes.chunks_exact(len).map(decode).collect())
    }

    /// Ends the input.
    ///
    /// # Errors
    /// If something is left.
    pub fn end(self) -> Result<(), String> {
        match self.0.len() {
            0 => Ok(()),
            left => Err(format!("expected the end of the input, found {left} more bytes")),
        }
    }
}
