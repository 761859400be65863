//! The facade trait of Loggia and the plain data it speaks in.
//!
//! Everything that answers calls implements [`Facade`]; everything that makes calls goes through the [`Port`] that
//! the gate implements. This crate knows nothing of WebAssembly, MCP, files or HTTP: it is data and two traits.
//!
//! | module | what it holds |
//! |---|---|
//! | [`surface`] | what a facade publishes: texts, actions, schemas |
//! | [`call`] | one invocation, and the request that began it |
//! | [`reply`] | what came of a call that worked |
//! | [`failure`] | what came of a call that did not: failure, fault, stop |
//! | [`port`] | what a facade may do while it answers |
//! | [`envelope`] | the one JSON shape that every result has |
//! | [`json`] | JSON text of others, parsed within bounds |
//! | [`usage`] | what a facade has used so far |

pub mod call;
pub mod envelope;
pub mod failure;
pub mod json;
pub mod port;
pub mod reply;
pub mod surface;
pub mod usage;

use std::sync::Arc;

use futures_util::future::BoxFuture;

pub use call::{Call, CallId, Detail, Input, Request, ScopeKey};
pub use envelope::{Command, Envelope, Hop};
pub use failure::{Failure, Fault, FaultKind, Limit, Stop, code};
pub use port::{Answer, Level, Port, Progress, Question, Session};
pub use reply::{Block, Content, Next, Page, Reply};
pub use surface::{Action, Effect, Surface, Want};
pub use usage::Usage;

/// A JSON object, in the order in which it was written.
pub type Object = serde_json::Map<String, serde_json::Value>;

/// One domain of actions behind one tool. A changed surface is a new facade.
pub trait Facade: Send + Sync + 'static {
    /// What the facade publishes. The same for as long as the facade lives.
    fn surface(&self) -> &Arc<Surface>;

    /// Answers one call. The parameters were validated against the action's schema and hold its defaults.
    ///
    /// The future may be polled on one runtime first and then moved to another, so it must not rely on the thread
    /// it began on. Dropping it ends the call.
    fn dispatch(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Reply, Stop>>;

    /// What its calls have used so far, where it keeps count.
    fn usage(&self) -> Usage {
        Usage::default()
    }
}
