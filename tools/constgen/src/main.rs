//! Writes every committed constants file from its definition.
fn main() {}
