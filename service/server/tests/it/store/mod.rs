//! The store: what it keeps, what it refuses, who is served first.

mod clock;
mod crash;
mod damage;
mod ended;
mod jobs;
mod lists;
mod open;
mod order;
mod owners;
mod postgres;
mod rate;
mod submission;
mod upgrade;
