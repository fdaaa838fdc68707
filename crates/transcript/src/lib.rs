//! Fiat-Shamir transcripts.
