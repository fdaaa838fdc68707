//! Memory for large vectors: reused huge pages, files mapped for reading, vectors in temporary files.

mod blocks;
mod elements;
mod mapped;
mod pages;
mod prefetch;
pub mod process_memory;

pub use blocks::{LargeBlocks, release_kept_memory, return_freed_memory};
pub use elements::{Elements, FileElements, Zeroed};
pub use mapped::{FileBytes, MappedFile};
pub use pages::{Lines, Pages};
pub use prefetch::{prefetch, prefetch_at};
