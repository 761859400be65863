//! Serving for many over sockets: the real process, with a settings file, as an operator runs it.
//!
//! | file | subject |
//! |---|---|
//! | `layers.rs` | what a request passes before it is answered, in which order |
//! | `callers.rs` | tokens: who is let in, and that nobody else sees one |
//! | `oauth.rs` | tokens of an authorization server |
//! | `scopes.rs` | what a caller sees and may call, by every way to a call |
//! | `greedy.rs` | who asks for too much is refused, and nobody else |
//! | `connections.rs` | clients that are slow, or too many |
//! | `sessions.rs` | sessions that sleep, wake and end |
//! | `drain.rs` | how a server ends |
//! | `unit.rs` | the systemd unit of the documentation |
//! | `crowd.rs` | many clients at once |
//! | `many.rs` | many servers on one folder |

mod callers;
mod connections;
mod crowd;
mod drain;
mod greedy;
mod layers;
mod many;
mod oauth;
mod scopes;
mod sessions;
mod unit;
