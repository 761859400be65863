//! Who calls.

// Addresses alone: no socket is opened here.
use core::net::IpAddr;
use std::sync::Arc;

use super::{address::AddressBlock, request_ids::Mark, rights::Rights};

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

/// Whose share a call uses, where callers share what there is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Account {
    /// A caller by itself.
    Caller(Caller),
    /// All callers without a name at one address.
    Address(AddressBlock),
}

impl Account {
    /// The account of callers without a name at this address.
    pub fn at(address: IpAddr) -> Self {
        Self::Address(AddressBlock::of(address))
    }

    /// Whether it may be that of a proxy on this machine, behind which each client is another.
    pub fn is_many(&self) -> bool {
        match self {
            Self::Caller(caller) => *caller == Caller::Anonymous,
            Self::Address(address) => address.is_loopback(),
        }
    }
}

/// Where a call comes from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Who calls.
    pub caller: Caller,
    /// The address that the request came from: the client's, or that of the proxy before the host. None over stdio.
    pub address: Option<IpAddr>,
    /// Whether a person can be asked through whoever calls.
    pub can_ask: bool,
    /// What may be called.
    pub rights: Rights,
    /// By which names the request is known elsewhere.
    pub request_ids: Mark,
}

impl Origin {
    fn with_caller(caller: Caller, rights: Rights) -> Self {
        Self { caller, address: None, can_ask: false, rights, request_ids: Mark::default() }
    }

    /// The person at this machine.
    pub fn local() -> Self {
        Self::with_caller(Caller::Local, Rights::all())
    }

    /// A caller over HTTP without authentication.
    pub fn anonymous() -> Self {
        Self::with_caller(Caller::Anonymous, Rights::all())
    }

    /// An authenticated principal, by the name under which it stands in the log.
    pub fn named(name: &str, rights: Rights) -> Self {
        Self::with_caller(Caller::Named(name.into()), rights)
    }

    /// The same caller, whose request came from this address.
    #[must_use]
    pub fn sent_from(mut self, address: Option<IpAddr>) -> Self {
        self.address = address;
        self
    }

    /// Whose share its calls use. None for the person at this machine, who shares with nobody.
    pub fn account(&self) -> Option<Account> {
        match (&self.caller, self.address) {
            (Caller::Local, _) => None,
            (Caller::Anonymous, Some(address)) => Some(Account::at(address)),
            (caller, _) => Some(Account::Caller(caller.clone())),
        }
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
        self.request_ids = mark;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_without_a_name_are_counted_by_their_network() {
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
