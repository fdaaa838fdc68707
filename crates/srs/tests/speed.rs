//! Transcripts are decoded in lanes: a smoke test.

mod transcripts;

use proofmill_srs::Srs;
use proofmill_testing::assert_levels_win;
use transcripts::Ceremony;

#[test]
fn transcript_2_10() {
    let srs = Srs::from_bytes("t", Ceremony::real().transcript(0..1024).bytes()).unwrap();
    assert_levels_win(&[("avx512ifma", 1.5)], |level| {
        let _ = srs.powers(level, 1..1025).unwrap();
    });
}
