//! Files: written completely or not at all, mapped or read within limits, and named in errors.
//!
//! Output goes to a temporary file next to its target, which is renamed when it is complete, or removed on failure. Input is mapped, and its
//! pages can be released; pipes are read up to a limit that is counted while they are read.
//!
//! ```
//! use proofmill_files::{read_file_at_most, write_texts};
//!
//! let folder = std::env::temp_dir();
//! let (proof, public) = (folder.join("proof.json"), folder.join("public.json"));
//! write_texts(&[(&proof, "{}"), (&public, "[]")])?; // both or none
//! assert_eq!(read_file_at_most(&proof, 1 << 24)?, b"{}"); // however long a pipe is
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod mapped;
mod name;
mod output;
mod output_file;
mod stream;
mod truncated;
mod whole;

pub use mapped::{FileBytes, MappedFile};
pub use name::{FileError, FileName};
pub use output::{Output, Target};
pub use output_file::{OutputFile, folder_of, remove_unfinished};
pub use stream::{most_of_a_pipe, read_at_most, read_file_at_most};
pub use truncated::{end_when_a_map_is_truncated, map_was_truncated};
pub use whole::{write_bytes, write_text, write_texts};
