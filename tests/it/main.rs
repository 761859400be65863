//! Drives the real `loggia` process with real clients. One binary, one module per subject.

mod limits;
mod reload;
mod tools;
