//! The store: what it keeps, what it refuses, who is served first.

mod crash;
mod damage;
mod jobs;
mod lists;
mod open;
mod order;
mod owners;
mod postgres;
mod rate;
mod submission;
