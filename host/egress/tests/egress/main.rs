//! What a plugin may send, by tables, by an oracle, and over sockets of this machine.

mod bounds;
mod hosts;
mod oracle;
mod rules;
mod secrets;
mod support;
mod wire;
