//! Outgoing requests, tested by tables, by an oracle, and over local sockets.

mod bounds;
mod hosts;
mod oracle;
mod rules;
mod secrets;
mod support;
mod wire;
