//! Arbitrary bytes as exported runs, JSON and CSV: runs that can be read are unchanged after writing and reading in both
//! formats.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_bench::exchange::ExchangeFormat;

fuzz_target!(|bytes: &[u8]| {
    for format in [ExchangeFormat::Json, ExchangeFormat::Csv] {
        let runs = match format.read(bytes) {
            Ok(runs) => runs,
            Err(problem) => {
                assert!(!problem.contains(char::is_control), "{problem}");
                continue;
            }
        };
        for format in [ExchangeFormat::Json, ExchangeFormat::Csv] {
            let text = format.write(&runs).expect("what was read");
            assert_eq!(format.read(text.as_bytes()).expect("what was written"), runs);
        }
    }
});
