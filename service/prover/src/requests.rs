//! Requests: lines of bounded length.

use std::io::{self, BufRead};

/// The most bytes of a line.
pub(crate) const LONGEST: usize = 1 << 20;

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RequestLine {
    /// A whole line, without its end.
    Whole(Vec<u8>),
    /// A line of more than [`LONGEST`] bytes, which were discarded.
    TooLong,
}

/// Reads a line; `None` at the end of the input, also within a line.
///
/// # Errors
/// The operating system's error.
pub(crate) fn read_line(input: &mut impl BufRead) -> io::Result<Option<RequestLine>> {
    let (mut line, mut too_long) = (Vec::new(), false);
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            available => available?,
        };
        if available.is_empty() {
            return Ok(None);
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        too_long |= line.len() + part.len() > LONGEST;
        if too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(Some(if too_long { RequestLine::TooLong } else { RequestLine::Whole(line) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn lines_are_bounded_and_whole() {
        let mut text = vec![b'a'; LONGEST];
        text.extend(b"\n\nshort\n");
        text.extend(vec![b'b'; 3 * LONGEST]);
        text.extend(b"\nnext\nwithout an end");
        for capacity in [1000, 1 << 16, 1 << 23] {
            let mut input = BufReader::with_capacity(capacity, text.as_slice());
            let lines: Vec<_> = std::iter::from_fn(|| read_line(&mut input).unwrap()).collect();
            let whole = |line: &[u8]| RequestLine::Whole(line.to_vec());
            let expected = [
                whole(&vec![b'a'; LONGEST]),
                whole(b""),
                whole(b"short"),
                RequestLine::TooLong,
                whole(b"next"),
            ];
            assert_eq!(lines, expected);
        }
    }
}
