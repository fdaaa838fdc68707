//! Trees against their definition and known answers; malformed and wrong openings and files.

mod build;
mod document;
mod file;
mod opening;
mod serial;
mod ssz;
