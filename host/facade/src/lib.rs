//! The facade trait of Loggia and the plain data it speaks in.
//!
//! Everything that answers calls implements [`Facade`]; everything that makes calls goes through the [`Port`] that
//! the gate implements. This crate knows nothing of WebAssembly, MCP, files or HTTP: it is data and two traits.
//!
//! | module | what it holds |
//! |---|---|
//! | [`start`] | actions that start by themselves |
//! | [`surface`] | what a facade publishes: texts, actions, schemas |
//! | [`facade`] | the trait that answers calls |
//! | [`call`] | one invocation |
//! | [`request`] | the request for one |
//! | [`reply`] | what came of a call that worked |
//! | [`data`] | its data, as a tree or as text |
//! | [`failure`] | what came of a call that did not: failure, fault, stop |
//! | [`port`] | what a facade may do while it answers |
//! | [`guard`] | what looks at calls and their outcomes |
//! | [`envelope`] | the one JSON shape that every result has |
//! | [`journal`] | the durable record of a call |
//! | [`json`] | JSON text of others, parsed within bounds |
//! | [`object`] | JSON objects |
//! | [`roots`] | directories that a client names as its roots |
//! | [`trace`] | spans of a request |
//! | [`usage`] | what a facade has used so far |

pub mod call;
pub mod data;
pub mod envelope;
pub mod facade;
pub mod failure;
pub mod guard;
pub mod journal;
pub mod json;
pub mod object;
pub mod port;
pub mod reply;
pub mod request;
pub mod roots;
pub mod start;
pub mod surface;
pub mod trace;
pub mod usage;

pub use call::{Call, CallId, ScopeKey};
pub use data::ReplyData;
pub use envelope::{Command, Envelope, Hop};
pub use facade::Facade;
pub use failure::{Failure, Fault, FaultKind, Limit, Stop, code};
pub use guard::{CallGuard, GuardVerdict, GuardedCall, OutcomeError, render_outcome, replace_outcome};
pub use journal::{CallJournal, EntrySource, JournalWriter};
pub use object::Object;
pub use port::{Answer, LogLevel, PeerAction, Port, Progress, Question, QuestionKind, Session};
pub use reply::{Block, Content, Next, Page, Reply};
pub use request::{Detail, Input, Request};
pub use roots::{ClientRoot, ClientRoots, MAX_ROOTS, RefusedRoot, RootSource};
pub use start::{StartCause, StartRule};
pub use surface::{Action, ActionResource, Effect, Surface, SurfaceView, Want};
pub use usage::Usage;
