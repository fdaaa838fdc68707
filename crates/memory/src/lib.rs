//! Memory for large vectors: reused huge pages, files mapped for reading, vectors in temporary files; pipes read within limits.

mod blocks;
mod elements;
mod mapped;
mod pages;
mod prefetch;
pub mod process_memory;
mod scratch;
mod stream;
mod truncated;

pub use blocks::{
    LargeBlocks, advise_huge_pages, keep_freed_memory, release_kept_memory, return_freed_memory,
};
pub use elements::{Elements, FileElements, Zeroed};
pub use mapped::{FileBytes, MappedFile};
pub use pages::{Lines, Pages};
pub use prefetch::{prefetch, prefetch_at};
pub use scratch::ScratchWords;
pub use stream::{most_of_a_pipe, read_at_most, read_file_at_most};
pub use truncated::{end_when_a_map_is_truncated, map_was_truncated};
