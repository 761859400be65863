//! Drives the real `loggia` process with real clients. One binary, one module per subject.

mod author;
mod cli;
mod http;
mod limits;
mod lint;
mod load;
mod python;
mod reload;
mod rules;
mod tokens;
mod tools;
