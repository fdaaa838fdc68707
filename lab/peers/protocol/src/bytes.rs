//! Parsing of inputs.

/// The remaining bytes of an input.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// Starts at the beginning of an input.
    #[must_use]
    pub fn new(input: &'a [u8]) -> Self {
        Self(input)
    }

    /// The next `count` items of `len` bytes each, decoded by `decode`.
    ///
    /// # Errors
    /// Fewer bytes than that.
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

    /// Checks that the input ends here.
    ///
    /// # Errors
    /// Remaining bytes.
    pub fn end(self) -> Result<(), String> {
        match self.0.len() {
            0 => Ok(()),
            left => Err(format!("expected the end of the input, found {left} more bytes")),
        }
    }
}
