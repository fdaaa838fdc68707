//! The tokens of a source in Solidity or Yul, without comments and texts.

/// A token that can be part of a key, or of the name of one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lexeme<'a> {
    /// A name or a keyword.
    Word(&'a str),
    /// A number, decimal or hexadecimal.
    Number(&'a str),
    /// The bytes of literals `hex"…"` that follow each other.
    Bytes(Vec<u8>),
    /// An operator that ends with `=`, `=>`, or a character.
    Sign(&'a str),
}

/// The tokens of a text, which may be anything.
pub(crate) fn tokens(source: &str) -> Vec<Lexeme<'_>> {
    let (mut tokens, mut rest) = (Vec::new(), source);
    while let Some(first) = rest.chars().next() {
        rest = if let Some(comment) = rest.strip_prefix("//") {
            comment.find(is_line_end).and_then(|end| comment.get(end..)).unwrap_or_default()
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |(_, behind)| behind)
        } else if first.is_whitespace() {
            rest.trim_start()
        } else if is_quote(first) {
            text(rest).1
        } else if is_letter(first) {
            let (word, behind) = split_behind(rest, is_letter);
            if first.is_ascii_digit() {
                tokens.push(Lexeme::Number(word));
                behind
            } else if word == "hex" && behind.starts_with(is_quote) {
                let (digits, behind) = text(behind);
                let bytes = hex::decode(digits.replace('_', "")).unwrap_or_default();
                match tokens.last_mut() {
                    Some(Lexeme::Bytes(all)) => all.extend(bytes),
                    _ => tokens.push(Lexeme::Bytes(bytes)),
                }
                behind
            } else {
                tokens.push(Lexeme::Word(word));
                behind
            }
        } else {
            let second = rest.chars().nth(1);
            let is_pair = second == Some('=') && "=!<>+-*/%&|^:".contains(first) || rest.starts_with("=>");
            let (sign, behind) = rest.split_at(if is_pair { 2 } else { first.len_utf8() });
            tokens.push(Lexeme::Sign(sign));
            behind
        };
    }
    tokens
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$')
}

fn is_quote(letter: char) -> bool {
    matches!(letter, '"' | '\'')
}

/// Whether solc ends a comment of one line here.
fn is_line_end(letter: char) -> bool {
    matches!(letter, '\n'..='\r' | '\u{2028}' | '\u{2029}')
}

/// The first characters that `is_part` accepts, and the others.
fn split_behind(text: &str, is_part: fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|letter| !is_part(letter)).unwrap_or(text.len()))
}

/// The content of the text whose quotation mark comes first, and the rest after it. A text ends with its line at the latest.
fn text(rest: &str) -> (&str, &str) {
    let mut letters = rest.chars();
    let quote = letters.next();
    let content = letters.as_str();
    let mut is_escaped = false;
    let end = content.find(|letter| {
        let is_end = is_line_end(letter) || !is_escaped && Some(letter) == quote;
        is_escaped = !is_escaped && letter == '\\';
        is_end
    });
    let (content, behind) = content.split_at(end.unwrap_or(content.len()));
    (content, behind.strip_prefix(is_quote).unwrap_or(behind))
}

#[cfg(test)]
mod tests {
    use super::{Lexeme::*, *};

    #[test]
    fn comments_and_texts_are_dropped() {
        let source = "a /* 1 // */ = 0x1f; // 2 /*\nb\u{2028}'3 \\' \"4' c \"/* 5\" unicode\"6\" 7 /* 8";
        let expected = [
            Word("a"),
            Sign("="),
            Number("0x1f"),
            Sign(";"),
            Word("b"),
            Word("c"),
            Word("unicode"),
            Number("7"),
        ];
        assert_eq!(tokens(source), expected);
        // As solc does, which a viewer of the source may not show.
        assert_eq!(tokens("// a\u{2028}b"), [Word("b")]);
        // An apostrophe without another one.
        assert_eq!(tokens("'a\nb"), [Word("b")]);
    }

    #[test]
    fn signs_and_bytes_are_whole() {
        let source = "a == b => c := hex\"01\" // 1\n hex'0_2' hexa >>= 1";
        let expected = [
            Word("a"),
            Sign("=="),
            Word("b"),
            Sign("=>"),
            Word("c"),
            Sign(":="),
            Bytes(vec![1, 2]),
            Word("hexa"),
            Sign(">"),
            Sign(">="),
            Number("1"),
        ];
        assert_eq!(tokens(source), expected);
    }

    #[test]
    fn any_text_has_tokens() {
        for source in
            ["", "é\u{1F600}", "hex\"", "hex\"0\"", "\"\\", "/", "/*", "//", "=", "\u{feff}x", "'''"]
        {
            assert!(tokens(source).len() <= 2, "{source}");
        }
    }
}
