//! The caller of a request, and where the request came from.

use core::net::IpAddr;
use std::sync::Arc;

use loggia_facade::{RootSource, trace::ParentSpan};

use super::{address::AddressBlock, list_id::ListId, request_ids::RequestIds, rights::CallerRights};

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
    pub fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

/// Account to which the use of shared resources is charged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CallerAccount {
    /// A single caller.
    Caller(Caller),
    /// All anonymous callers of one address block.
    Address(AddressBlock),
}

impl CallerAccount {
    /// Account of anonymous callers at this address.
    pub fn at_address(address: IpAddr) -> Self {
        Self::Address(AddressBlock::containing(address))
    }

    /// Returns true if many clients may share the account, such as those behind a proxy on this machine.
    pub fn is_shared(&self) -> bool {
        match self {
            Self::Caller(caller) => *caller == Caller::Anonymous,
            Self::Address(address) => address.is_loopback(),
        }
    }
}

/// Origin of a call: its caller, address and rights.
#[derive(Debug, Clone)]
pub struct CallOrigin {
    /// Caller.
    pub caller: Caller,
    /// Address that the request came from: the client's, or that of a proxy in front of the host. `None` over stdio.
    pub address: Option<IpAddr>,
    /// True if the client can ask a person by a form.
    pub can_ask: bool,
    /// True if the client can ask a person to open a link.
    pub can_open_links: bool,
    /// True if the caller is a person, whose `confirm: true` is consent. A model's is not.
    pub is_person: bool,
    /// Facades and actions that may be called.
    pub rights: CallerRights,
    /// Ids of the request, for the audit log.
    pub request_ids: RequestIds,
    /// The list of tools that the client sees, by which its calls are named.
    pub list: ListId,
    /// Tokens of a result beyond which the client is sent a part. `None`: it reads all.
    pub answer: Option<usize>,
    /// Supplies the roots of the client. `None` if the client is not a program of the local user.
    pub roots: Option<Arc<dyn RootSource>>,
    /// Span of the request.
    pub span: ParentSpan,
}

impl CallOrigin {
    fn with_caller(caller: Caller, rights: CallerRights) -> Self {
        Self {
            caller,
            address: None,
            can_ask: false,
            can_open_links: false,
            is_person: false,
            rights,
            request_ids: RequestIds::default(),
            list: ListId::default(),
            answer: None,
            roots: None,
            span: ParentSpan::default(),
        }
    }

    /// The local user.
    pub fn local() -> Self {
        Self::with_caller(Caller::Local, CallerRights::all())
    }

    /// An unauthenticated caller over HTTP.
    pub fn anonymous() -> Self {
        Self::with_caller(Caller::Anonymous, CallerRights::all())
    }

    /// An authenticated principal, by its name in the log.
    pub fn named(name: &str, rights: CallerRights) -> Self {
        Self::with_caller(Caller::Named(name.into()), rights)
    }

    /// Sets the address that the request came from.
    #[must_use]
    pub fn with_address(mut self, address: Option<IpAddr>) -> Self {
        self.address = address;
        self
    }

    /// Account of the caller. `None` for the local user, to whom no shares apply.
    pub fn account(&self) -> Option<CallerAccount> {
        match (&self.caller, self.address) {
            (Caller::Local, _) => None,
            (Caller::Anonymous, Some(address)) => Some(CallerAccount::at_address(address)),
            (caller, _) => Some(CallerAccount::Caller(caller.clone())),
        }
    }

    /// Sets whether the client can ask a person by a form.
    #[must_use]
    pub fn with_elicitation(mut self, can_ask: bool) -> Self {
        self.can_ask = can_ask;
        self
    }

    /// Sets whether the client can ask a person to open a link.
    #[must_use]
    pub fn with_links(mut self, can_open_links: bool) -> Self {
        self.can_open_links = can_open_links;
        self
    }

    /// Makes the caller a person, who confirms calls by `confirm: true`.
    #[must_use]
    pub fn by_person(mut self) -> Self {
        self.is_person = true;
        self
    }

    /// Sets the ids of the request.
    #[must_use]
    pub fn with_request_ids(mut self, ids: RequestIds) -> Self {
        self.request_ids = ids;
        self
    }

    /// Sets the span of the request.
    #[must_use]
    pub fn with_span(mut self, span: &ParentSpan) -> Self {
        self.span = span.clone();
        self
    }

    /// Sets the list that the client sees, and the tokens of a result that it reads.
    #[must_use]
    pub fn with_list(mut self, list: ListId, answer: Option<usize>) -> Self {
        (self.list, self.answer) = (list, answer);
        self
    }

    /// Sets the source of the client's roots.
    #[must_use]
    pub fn with_roots(mut self, roots: Option<Arc<dyn RootSource>>) -> Self {
        self.roots = roots;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anonymous_callers_are_counted_by_network() {
        let at = |address: &str| CallerAccount::at_address(address.parse().unwrap());
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:1"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:10.0.0.1"), at("10.0.0.1"));
        assert_ne!(at("10.0.0.1"), at("10.0.0.2"));
    }

    #[test]
    fn the_person_at_this_machine_shares_with_nobody() {
        let one: IpAddr = "10.0.0.1".parse().unwrap();
        let address = Some(one);
        let named = |name: &str| CallOrigin::named(name, CallerRights::all()).with_address(address).account();
        assert_eq!(CallOrigin::local().account(), None);
        assert_ne!(named("ada"), named("bob"));
        assert_eq!(
            named("ada"),
            CallOrigin::named("ada", CallerRights::all()).account(),
            "wherever she calls from"
        );
        assert_eq!(
            CallOrigin::anonymous().with_address(address).account(),
            Some(CallerAccount::at_address(one))
        );
        assert!(CallOrigin::anonymous().account().is_some());
    }
}
