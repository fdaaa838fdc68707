//! Memory for large vectors: reused huge pages, vectors in temporary files.
//!
//! ```
//! use proofmill_memory::{Elements, Pages};
//!
//! let scratch = std::env::temp_dir();
//! let words: Elements<u64> = Elements::zeroed(Some(&scratch), 1 << 16)?; // in a file that has no name
//! assert_eq!(words[0], 0);
//! let page: Pages<u64> = Pages::new(1 << 16); // in huge pages that were used before, if there are some
//! assert_eq!(page.len(), 1 << 16);
//! # Ok::<(), std::io::Error>(())
//! ```

mod blocks;
mod elements;
mod pages;
mod prefetch;
pub mod process_memory;
mod scratch;

pub use blocks::{
    LargeBlocks, advise_huge_pages, keep_freed_memory, release_kept_memory, return_freed_memory,
};
pub use elements::{Elements, FileElements, MAPPED_AROUND, Zeroed};
pub use pages::{Lines, Pages};
pub use prefetch::{prefetch, prefetch_at};
pub use scratch::ScratchWords;
