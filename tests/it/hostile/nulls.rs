//! Nulls where a client must send every parameter.
