//! Tests of `proofmill-server`: one program, so that what they share is compiled once.

mod grpc;
mod http;
mod objects;
mod store;
mod worker;
