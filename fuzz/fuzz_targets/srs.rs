//! Arbitrary bytes as powers of tau and Ignition transcripts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_cpu::Level;
use proofmill_field::bn254::Fr;
use proofmill_srs::Srs;

fuzz_target!(|bytes: &[u8]| {
    let level = Level::best();
    let Ok(srs) = Srs::from_bytes("input", bytes.to_vec()) else { return };
    let powers = srs.powers(level, 0..srs.len());
    let sum = srs.msm(level, 1, &vec![Fr::from(3); srs.len() - 1]);
    assert_eq!(powers.is_ok(), sum.is_ok());
    if srs.check(level).is_ok() {
        assert!(powers.is_ok_and(|powers| powers[1] == *srs.tau_g1()));
    }
});
