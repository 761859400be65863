//! Who calls.

use std::sync::Arc;

use super::{Mark, Rights};

/// The one whose calls a run, a scope or a limit belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Caller {
    /// The person at this machine: stdio and the command line.
    Local,
    /// An authenticated principal.
    Named(Arc<str>),
    /// Nobody in particular, told apart from everybody else in the same position by nothing: owns nothing.
    Anonymous,
}

impl Caller {
    /// Whether what belongs to this caller belongs to that one. An anonymous caller's run is whoever's holds its
    /// unguessable handle.
    pub fn is(&self, other: &Self) -> bool {
        self == other
    }
}

/// Where a call comes from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Who calls.
    pub caller: Caller,
    /// Whether a person can be asked through whoever calls.
    pub can_ask: bool,
    /// What may be called.
    pub rights: Rights,
    /// By which names the request is known elsewhere.
    pub mark: Mark,
}

impl Origin {
    /// The person at this machine.
    pub fn local() -> Self {
        Self { caller: Caller::Local, can_ask: false, rights: Rights::all(), mark: Mark::default() }
    }

    /// A caller over HTTP without authentication.
    pub fn anonymous() -> Self {
        Self { caller: Caller::Anonymous, can_ask: false, rights: Rights::all(), mark: Mark::default() }
    }

    /// An authenticated principal, by the name under which it stands in the log.
    pub fn named(name: &str, rights: Rights) -> Self {
        Self { caller: Caller::Named(name.into()), can_ask: false, rights, mark: Mark::default() }
    }

    /// The same caller, through whom a person can be asked, or not.
    #[must_use]
    pub fn asking(mut self, can_ask: bool) -> Self {
        self.can_ask = can_ask;
        self
    }

    /// The same caller, of whose request these names are known.
    #[must_use]
    pub fn marked(mut self, mark: Mark) -> Self {
        self.mark = mark;
        self
    }
}
