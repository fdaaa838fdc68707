//! Memory for large vectors: reused huge pages, vectors in temporary files.

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
