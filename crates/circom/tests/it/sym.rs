//! Names of signals.
#![allow(clippy::unwrap_used)]

use proofmill_circom::Symbols;
use std::path::PathBuf;

#[test]
fn names_are_those_of_circom() {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../witness/tests/data/inputs.sym"].iter().collect();
    let symbols = Symbols::open(&path).unwrap();
    assert_eq!(symbols.name(1), Some("main.sum"));
    assert_eq!(symbols.name(5), Some("main.b[0][1]"));
    assert_eq!(symbols.name(0), None, "the constant");
    assert_eq!(symbols.name(u32::MAX), None);
    assert_eq!(symbols.signals(), std::fs::read_to_string(path).unwrap().lines().count() as u64);
}

#[test]
fn the_first_signal_names_a_wire() {
    let text = "1,2,1,main.b\n2,-1,1,main.gone\n3,1,1,main.a\n4,2,0,main.inner.b\n5,4294967295,0,main.last";
    let symbols = Symbols::parse("x.sym", text.into()).unwrap();
    assert_eq!(
        [1, 2, 3, u32::MAX].map(|wire| symbols.name(wire)),
        [Some("main.a"), Some("main.b"), None, Some("main.last")]
    );
    assert_eq!((symbols.signals(), symbols.wires()), (5, 3));
    assert_eq!(Symbols::parse("x.sym", Vec::new()).unwrap().signals(), 0);
}

#[test]
fn other_lines_are_refused() {
    for (line, words) in [
        ("", "expected label,wire,component,name"),
        ("1,2,3", "expected a name"),
        ("1,2,3,", "expected a name"),
        ("1,2,3,a b", "expected a name"),
        ("1,2,3,\u{1b}[31m", "expected a name"),
        ("1,x,3,a", "expected label,wire"),
        ("1,-2,3,a", "expected a wire below 2^32 or -1, found -2"),
        ("1,4294967296,3,a", "expected a wire below 2^32"),
        ("a,2,3,a", "expected label,wire"),
        (&"1".repeat(1 << 17), "at most 65536 bytes"),
    ] {
        let text = format!("1,1,1,main.a\n{line}\n3,3,1,main.c\n");
        let error = Symbols::parse("x.sym", text.into_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("x.sym: line 2: ") && error.contains(words), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}
