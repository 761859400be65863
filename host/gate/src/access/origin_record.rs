//! The origin of a call as other hosts, or the next start of this one, read it.

use core::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{CallOrigin, Caller, CallerRights};

/// Origin of a call, without what only the process of its request knows: the ids of the request and the client's roots.
#[derive(Clone, Serialize, Deserialize)]
pub struct OriginRecord {
    caller: CallerRecord,
    address: Option<IpAddr>,
    can_ask: bool,
    can_open_links: bool,
    /// Scopes; `None`: unrestricted.
    scopes: Option<Vec<String>>,
}

/// Caller of a run.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
enum CallerRecord {
    Local,
    Named(String),
    Anonymous,
}

impl From<&Caller> for CallerRecord {
    fn from(caller: &Caller) -> Self {
        match caller {
            Caller::Local => Self::Local,
            Caller::Named(name) => Self::Named(name.to_string()),
            Caller::Anonymous => Self::Anonymous,
        }
    }
}

impl OriginRecord {
    /// Records an origin.
    pub fn of(origin: &CallOrigin) -> Self {
        Self {
            address: origin.address,
            can_ask: origin.can_ask,
            can_open_links: origin.can_open_links,
            ..Self::of_caller(&origin.caller, &origin.rights)
        }
    }

    /// Records who calls, and nothing of the request.
    pub(crate) fn of_caller(caller: &Caller, rights: &CallerRights) -> Self {
        let scopes = rights.scopes();
        Self { caller: caller.into(), address: None, can_ask: false, can_open_links: false, scopes }
    }

    /// Returns the origin, with the rights that the caller had. A scope that cannot be read grants nothing.
    pub fn to_origin(&self) -> CallOrigin {
        let rights = match &self.scopes {
            None => CallerRights::all(),
            Some(scopes) => CallerRights::from_scopes(scopes.iter().filter_map(|scope| scope.parse().ok())),
        };
        let origin = match &self.caller {
            CallerRecord::Local => CallOrigin { rights, ..CallOrigin::local() },
            CallerRecord::Named(name) => CallOrigin::named(name, rights),
            CallerRecord::Anonymous => CallOrigin { rights, ..CallOrigin::anonymous() },
        };
        origin.with_address(self.address).with_elicitation(self.can_ask).with_links(self.can_open_links)
    }

    /// Name of the caller, as in the log.
    pub(crate) fn caller_name(&self) -> String {
        match &self.caller {
            CallerRecord::Local => "(local)".to_owned(),
            CallerRecord::Named(name) => name.clone(),
            CallerRecord::Anonymous => "(anonymous)".to_owned(),
        }
    }

    /// Returns true if the origin is of this caller.
    pub(crate) fn is_of(&self, caller: &Caller) -> bool {
        self.caller == caller.into()
    }

    /// Returns true if both are of one caller.
    pub(crate) fn is_of_same_caller(&self, other: &Self) -> bool {
        self.caller == other.caller
    }
}
