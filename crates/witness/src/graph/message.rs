//! The parts of Protocol Buffers' encoding that graphs need. WASM encodes integers and lengths in
//! the same way. Source: protobuf.dev/programming-guides/encoding.

/// A field's content.
pub(crate) enum Message<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message. Each function returns `None` for malformed bytes.
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The number of bytes that are left.
    pub(crate) fn left(&self) -> usize {
        self.0.len()
    }

    /// The bytes that are left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// An integer, seven bits in each byte, the lowest first.
    pub(crate) fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    /// Bytes that follow their length.
    pub(crate) fn delimited(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    /// The next field with its number; `Some(None)` at the end.
    pub(crate) fn next(&mut self) -> Option<Option<(u64, Message<'a>)>> {
        if self.0.is_empty() {
            return Some(None);
        }
        let tag = self.varint()?;
        let content = match tag & 7 {
            0 => Message::Number(self.varint()?),
            2 => Message::Bytes(self.delimited()?),
            _ => return None,
        };
        Some(Some((tag >> 3, content)))
    }

    /// The only field.
    pub(crate) fn only(mut self) -> Option<(u64, Message<'a>)> {
        let field = self.next()??;
        self.0.is_empty().then_some(field)
    }

    /// The number in a field, 0 if it is absent.
    pub(crate) fn number(mut self, wanted: u64) -> Option<u32> {
        let mut value = 0;
        while let Some((field, content)) = self.next()? {
            match content {
                Message::Number(number) if field == wanted => value = u32::try_from(number).ok()?,
                _ if field == wanted => return None,
                _ => {}
            }
        }
        Some(value)
    }

    /// The bytes in a field, none if it is absent.
    pub(crate) fn bytes(mut self, wanted: u64) -> Option<&'a [u8]> {
        let mut value: &[u8] = &[];
        while let Some((field, content)) = self.next()? {
            match content {
                Message::Bytes(bytes) if field == wanted => value = bytes,
                _ if field == wanted => return None,
                _ => {}
            }
        }
        Some(value)
    }
}

/// Appends an integer as [`Fields::varint`] reads it.
pub(crate) fn push_leb128(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
