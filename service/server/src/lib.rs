//! Proofmill's service: a durable queue of jobs, keys that stay warm, workers on one machine or many.
#![forbid(unsafe_code)]

pub mod access;
pub mod changes;
pub mod client;
pub mod coordinator;
mod error;
pub mod grpc;
pub mod http;
mod names;
pub mod objects;
pub mod service;
pub mod state;
pub mod store;
mod time;
pub mod traces;
pub mod worker;
