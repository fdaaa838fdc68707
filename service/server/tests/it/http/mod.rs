//! The HTTP face over real sockets: who may do what, what it accepts and refuses, and what clients see.

mod access;
mod bodies;
mod commands;
mod connections;
mod events;
mod jobs;
mod keys;
mod load;
mod rapidsnark;
mod server;
mod shutdown;
mod tls;
mod work;
