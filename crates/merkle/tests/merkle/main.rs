//! Trees against their definition and known answers; openings and files that are not what they should be.

mod build;
mod document;
mod file;
mod opening;
mod serial;
mod ssz;
