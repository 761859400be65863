//! Services of the host: log, progress, configuration, questions to the person, calls to other facades. In addition
//! there are [`state`](crate::state) and [`http`](crate::http), and the standard library: granted directories by
//! [`std::fs`], granted variables by [`std::env`](mod@std::env), clocks, random numbers.
//!
//! Services that the policy does not grant return `denied`. In native builds, without a host, `testing::Host` replaces
//! it; without that, logs are discarded, no configuration is set and no facade answers.

// A service has one file, or a folder. What it calls is its `port`: in a component, the functions of the contract; natively, those of the
// test's host, which the file also gives what a test grants and reads.
mod config;
mod elicit;
mod invoke;
mod log;
mod peer;
mod progress;

#[cfg(not(target_family = "wasm"))]
pub(crate) use self::invoke::PeerDoubles;
pub use self::{
    config::{config, config_or, require_config},
    elicit::{Answer, AnswerForm, choose, confirm, elicit, elicit_as},
    invoke::{Request, facades, invoke, lookup},
    log::{Level, log},
    peer::{Peer, PeerAction, Schema},
    progress::{is_cancelled, progress},
};
