//! gzip (zlib) and brotli (Google's library), both bundled: each thread compresses one page in memory.

use super::{Obstacle, PAGE, PlatformJob, PreparedJob, Quantity, Sample, timing};
use crate::record::Clock;
use brotlic::{CompressionMode, Quality, WindowSize};
use flate2::{Compress, Compression, FlushCompress, Status};

const GZIP_LEVELS: std::ops::RangeInclusive<u8> = 1..=9;
const BROTLI_LEVELS: std::ops::RangeInclusive<u8> = 0..=11;
/// gzip's largest window: 2^15 bytes.
const WINDOW: u8 = 15;

pub(super) fn jobs(threads: u32) -> Vec<PlatformJob> {
    let gzip = GZIP_LEVELS.map(|level| job("gzip", "zlib", level, threads));
    gzip.chain(BROTLI_LEVELS.map(|level| job("brotli", "brotli", level, threads))).collect()
}

fn job(family: &'static str, implementation: &'static str, level: u8, threads: u32) -> PlatformJob {
    let benchmark = format!("level-{level:02}");
    PlatformJob {
        family,
        implementation,
        threads,
        clock: if threads == 1 { Clock::Cpu } else { Clock::Wall },
        subjects: vec![Quantity { benchmark, size: None, amount: PAGE.len() as f64, unit: "bytes" }],
        prepare: Box::new(move |context| {
            let wrong = |problem: &str| Obstacle::Failed(format!("{family} at level {level}: {problem}"));
            let new = move || Compressor::new(family, level);
            let mut compressor = new();
            let length = compressor.compress(PAGE.as_bytes()).ok_or_else(|| wrong("cannot compress"))?;
            if compressor.expand(length).as_deref() != Some(PAGE.as_bytes()) {
                return Err(wrong("expected the page back, found other bytes"));
            }
            let sample = move || {
                let from = context.mark();
                let seconds = timing::seconds(threads, context.options.time, || {
                    let mut compressor = new();
                    let page = PAGE.as_bytes().to_vec();
                    move || assert_eq!(compressor.compress(&page), Some(length))
                });
                Ok(vec![Sample { seconds, window: from.zip(context.mark()) }])
            };
            let version = match family {
                "gzip" => versions::zlib(),
                _ => versions::brotli(),
            };
            Ok(PreparedJob {
                version: Some(version),
                bytes_out: Some(length as u64),
                answer: None,
                sample: Box::new(sample),
            })
        }),
    }
}

/// A compressor with its output buffer.
enum Compressor {
    Gzip(Compress, Vec<u8>),
    Brotli(Quality, Vec<u8>),
}

impl Compressor {
    fn new(family: &str, level: u8) -> Self {
        let room = vec![0; 2 * PAGE.len()];
        match (family, Quality::new(level)) {
            ("brotli", Ok(quality)) => Self::Brotli(quality, room),
            _ => Self::Gzip(Compress::new_gzip(Compression::new(level.into()), WINDOW), room),
        }
    }

    /// Compresses the page; returns the length of the output in bytes.
    fn compress(&mut self, page: &[u8]) -> Option<usize> {
        match self {
            Self::Gzip(compress, room) => {
                compress.reset();
                let status = compress.compress(page, room, FlushCompress::Finish).ok()?;
                (status == Status::StreamEnd).then(|| usize::try_from(compress.total_out()).ok()).flatten()
            }
            Self::Brotli(quality, room) => {
                brotlic::compress(page, room, *quality, WindowSize::default(), CompressionMode::Generic).ok()
            }
        }
    }

    /// Decompresses the first `length` bytes of the output.
    fn expand(&self, length: usize) -> Option<Vec<u8>> {
        match self {
            Self::Gzip(_, room) => {
                let mut page = Vec::new();
                std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(room.get(..length)?), &mut page)
                    .ok()?;
                Some(page)
            }
            Self::Brotli(_, room) => expand_brotli(room.get(..length)?),
        }
    }
}

/// Decompresses brotli's output, up to four times the length of the page.
pub(super) fn expand_brotli(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut page = vec![0; 4 * PAGE.len()];
    let length = brotlic::decompress(bytes, &mut page).ok()?;
    page.truncate(length);
    Some(page)
}

/// Versions, as reported by the bundled libraries.
#[allow(unsafe_code)]
mod versions {
    use std::ffi::CStr;

    pub(super) fn zlib() -> String {
        // SAFETY: it returns a string constant, which ends with a zero byte and lives as long as the program.
        let version = unsafe { CStr::from_ptr(libz_sys::zlibVersion()) };
        format!("zlib {}", version.to_string_lossy())
    }

    pub(super) fn brotli() -> String {
        // SAFETY: it takes nothing and returns a number.
        let version = unsafe { brotlic_sys::BrotliEncoderVersion() };
        format!("brotli {}.{}.{}", version >> 24, (version >> 12) & 0xfff, version & 0xfff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_similar_to_the_reference_page() {
        assert!((28_000..30_000).contains(&PAGE.len()), "{}", PAGE.len());
        assert!(PAGE.is_ascii() && PAGE.starts_with("<!DOCTYPE html>"));
    }

    /// The reference: 29329 bytes become 8187 with gzip at level 5 and 8010 with brotli at level 4.
    #[test]
    fn higher_levels_give_fewer_bytes() {
        let bytes =
            |family: &str, level: u8| Compressor::new(family, level).compress(PAGE.as_bytes()).unwrap();
        assert!(bytes("gzip", 9) < bytes("gzip", 1) && bytes("brotli", 11) < bytes("brotli", 4));
        assert!(bytes("brotli", 11) < bytes("gzip", 9));
        assert!((6_000..10_000).contains(&bytes("gzip", 5)), "{}", bytes("gzip", 5));
    }

    #[test]
    fn a_compressor_is_deterministic() {
        for family in ["gzip", "brotli"] {
            let mut compressor = Compressor::new(family, 5);
            let first = compressor.compress(PAGE.as_bytes()).unwrap();
            assert_eq!(compressor.compress(PAGE.as_bytes()), Some(first));
            assert_eq!(compressor.expand(first).as_deref(), Some(PAGE.as_bytes()));
            assert_ne!(compressor.expand(first - 10).as_deref(), Some(PAGE.as_bytes()));
        }
    }

    #[test]
    fn libraries_report_their_versions() {
        assert!(versions::zlib().starts_with("zlib 1."), "{}", versions::zlib());
        assert!(versions::brotli().starts_with("brotli 1."), "{}", versions::brotli());
    }
}
