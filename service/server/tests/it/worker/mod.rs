//! Workers with a prover that does what tests want (`fake.py`), and with the real one where it is built.

mod ends;
mod faults;
mod faulty;
mod inspector;
mod jobs;
mod keys;
mod place;
mod real;
