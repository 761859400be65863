//! The caller of a request, and where the request came from.

use core::net::IpAddr;
use std::sync::Arc;

use super::{address::AddressBlock, request_ids::Mark, rights::Rights};

/// Owner of calls, runs and state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Caller {
    /// The local user: stdio and the command line.
    Local,
    /// An authenticated principal.
    Named(Arc<str>),
    /// An unauthenticated caller. All of them are one caller, who owns nothing.
    Anonymous,
}

impl Caller {
    /// Returns true if what belongs to one caller belongs to the other. Anonymous callers are all the same: a run of theirs is
    /// protected by its unguessable handle alone.
    pub fn is(&self, other: &Self) -> bool {
        self == other
    }
}

/// Account to which the use of shared resources is charged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Account {
    /// A single caller.
    Caller(Caller),
    /// All anonymous callers of one address block.
    Address(AddressBlock),
}

impl Account {
    /// Account of anonymous callers at this address.
    pub fn at(address: IpAddr) -> Self {
        Self::Address(AddressBlock::of(address))
    }

    /// Returns true if many clients may share the account, such as those behind a proxy on this machine.
    pub fn is_many(&self) -> bool {
        match self {
            Self::Caller(caller) => *caller == Caller::Anonymous,
            Self::Address(address) => address.is_loopback(),
        }
    }
}

/// Origin of a call: its caller, address and rights.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Caller.
    pub caller: Caller,
    /// Address that the request came from: the client's, or that of a proxy in front of the host. `None` over stdio.
    pub address: Option<IpAddr>,
    /// True if the client can ask a person.
    pub can_ask: bool,
    /// Facades and actions that may be called.
    pub rights: Rights,
    /// Ids of the request, for the audit log.
    pub request_ids: Mark,
}

impl Origin {
    fn with_caller(caller: Caller, rights: Rights) -> Self {
        Self { caller, address: None, can_ask: false, rights, request_ids: Mark::default() }
    }

    /// The local user.
    pub fn local() -> Self {
        Self::with_caller(Caller::Local, Rights::all())
    }

    /// An unauthenticated caller over HTTP.
    pub fn anonymous() -> Self {
        Self::with_caller(Caller::Anonymous, Rights::all())
    }

    /// An authenticated principal, by its name in the log.
    pub fn named(name: &str, rights: Rights) -> Self {
        Self::with_caller(Caller::Named(name.into()), rights)
    }

    /// Sets the address that the request came from.
    #[must_use]
    pub fn sent_from(mut self, address: Option<IpAddr>) -> Self {
        self.address = address;
        self
    }

    /// Account of the caller. `None` for the local user, to whom no shares apply.
    pub fn account(&self) -> Option<Account> {
        match (&self.caller, self.address) {
            (Caller::Local, _) => None,
            (Caller::Anonymous, Some(address)) => Some(Account::at(address)),
            (caller, _) => Some(Account::Caller(caller.clone())),
        }
    }

    /// Sets whether the client can ask a person.
    #[must_use]
    pub fn asking(mut self, can_ask: bool) -> Self {
        self.can_ask = can_ask;
        self
    }

    /// Sets the ids of the request.
    #[must_use]
    pub fn marked(mut self, ids: Mark) -> Self {
        self.request_ids = ids;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anonymous_callers_are_counted_by_network() {
        let at = |address: &str| Account::at(address.parse().unwrap());
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:1"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:10.0.0.1"), at("10.0.0.1"));
        assert_ne!(at("10.0.0.1"), at("10.0.0.2"));
    }

    #[test]
    fn the_person_at_this_machine_shares_with_nobody() {
        let one: IpAddr = "10.0.0.1".parse().unwrap();
        let address = Some(one);
        let named = |name: &str| Origin::named(name, Rights::all()).sent_from(address).account();
        assert_eq!(Origin::local().account(), None);
        assert_ne!(named("ada"), named("bob"));
        assert_eq!(named("ada"), Origin::named("ada", Rights::all()).account(), "wherever she calls from");
        assert_eq!(Origin::anonymous().sent_from(address).account(), Some(Account::at(one)));
        assert!(Origin::anonymous().account().is_some());
    }
}
