//! Tests of `proofmill-pipeline`: one program, so that what they share is compiled once.

mod compile;
mod devices;
mod explore;
mod files;
mod formulas;
mod hostile;
mod limbs;
mod networks;
mod pictures;
mod pippenger;
mod place;
mod points;
mod random_networks;
mod schedule;
mod simulate;
mod split;
