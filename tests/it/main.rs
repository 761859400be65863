//! Drives the real `loggia` process with real clients. One binary, one module per subject.

mod author;
mod cli;
mod http;
mod limits;
mod load;
mod python;
mod reload;
mod rules;
mod tools;
