//! Number-theoretic transforms over every field.
