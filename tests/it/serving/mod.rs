//! Serving for many over sockets: the real process, with a settings file, as an operator runs it.
//!
//! | file | subject |
//! |---|---|
//! | `pipeline.rs` | order of the checks of a request |
//! | `callers.rs` | authentication by tokens, and their confidentiality |
//! | `oauth.rs` | tokens of an authorization server |
//! | `cards.rs` | server cards |
//! | `scopes.rs` | visible and callable actions of a caller, by every path to a call |
//! | `greedy.rs` | limits per caller |
//! | `connections.rs` | clients that are slow, or too many |
//! | `sessions.rs` | sessions that sleep, wake and end |
//! | `drain.rs` | shutdown |
//! | `unit.rs` | the systemd unit of the documentation |
//! | `crowd.rs` | many clients at once |
//! | `many.rs` | many servers on one folder |

mod callers;
mod cards;
mod connections;
mod crowd;
mod drain;
mod greedy;
mod many;
mod oauth;
mod pipeline;
mod scopes;
mod sessions;
mod unit;
