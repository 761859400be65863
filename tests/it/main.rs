//! Drives the real `loggia` process with real clients. One binary, one module per subject.

mod admin;
mod asks;
mod author;
mod cancelled;
mod capabilities;
mod cli;
mod clients;
mod credentials;
mod facades;
mod hostile;
mod http;
mod invoke;
mod lint;
mod load;
mod published;
mod release;
mod reload;
mod runs;
mod seeds;
mod serving;
mod state;
mod tokens;
mod tools;
mod upstream;
mod vitals;
mod workflows;
