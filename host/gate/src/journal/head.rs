//! The call of a run, as the journal keeps it: enough to make it again for its caller.

use core::net::IpAddr;
use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use loggia_facade::{Command, Detail, Object};
use serde::{Deserialize, Serialize};

use super::port::NewRun;
use crate::{
    access::{CallOrigin, Caller, CallerRights},
    catalog::CatalogEntry,
    plan::PlannedCall,
};

/// Call of a run.
#[derive(Serialize, Deserialize)]
pub(crate) struct RunHead {
    caller: CallerRecord,
    address: Option<IpAddr>,
    can_ask: bool,
    can_open_links: bool,
    /// Scopes; `None`: unrestricted.
    scopes: Option<Vec<String>>,
    facade: String,
    /// Actions that the caller needs the right to; a batch may have several.
    actions: Vec<String>,
    /// True if the call can go on after a restart. Otherwise it has no parameters but the redacted ones.
    resumes: bool,
    /// True if the call is made again after a restart, since that has no further effect.
    #[serde(default)]
    repeats: bool,
    command: Command,
    params: Object,
    resolved: Object,
    inputs: Object,
    detail: String,
    idempotency_key: Option<String>,
    began_ms: u64,
}

/// A run that cannot go on after a restart.
pub(crate) struct KeptCall<'a> {
    pub caller: &'a Caller,
    pub rights: &'a CallerRights,
    pub facade: &'a str,
    pub actions: &'a [String],
    pub command: &'a Command,
    pub inputs: &'a Object,
    pub began: SystemTime,
}

fn to_milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Caller of a run.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
enum CallerRecord {
    Local,
    Named(String),
    Anonymous,
}

impl CallerRecord {
    fn of(caller: &Caller) -> Self {
        match caller {
            Caller::Local => Self::Local,
            Caller::Named(name) => Self::Named(name.to_string()),
            Caller::Anonymous => Self::Anonymous,
        }
    }
}

impl RunHead {
    /// Captures a call that begins now.
    pub(crate) fn capture(origin: &CallOrigin, planned: &PlannedCall) -> Self {
        Self {
            caller: CallerRecord::of(&origin.caller),
            address: origin.address,
            can_ask: origin.can_ask,
            can_open_links: origin.can_open_links,
            scopes: origin.rights.scopes(),
            facade: planned.entry.surface().name.clone(),
            actions: vec![planned.action().name.clone()],
            resumes: true,
            repeats: false,
            command: planned.command.clone(),
            params: planned.params.clone(),
            resolved: planned.resolved.clone(),
            inputs: planned.inputs.clone(),
            detail: planned.detail.as_str().to_owned(),
            idempotency_key: planned.idempotency_key.clone(),
            began_ms: to_milliseconds(SystemTime::now()),
        }
    }

    /// Captures a call that is made again after a restart.
    pub(crate) fn capture_repeated(origin: &CallOrigin, planned: &PlannedCall) -> Self {
        Self { resumes: false, repeats: true, ..Self::capture(origin, planned) }
    }

    /// Captures a run that cannot go on after a restart.
    pub(crate) fn keep(call: KeptCall<'_>) -> Self {
        Self {
            caller: CallerRecord::of(call.caller),
            address: None,
            can_ask: false,
            can_open_links: false,
            scopes: call.rights.scopes(),
            facade: call.facade.to_owned(),
            actions: call.actions.to_vec(),
            resumes: false,
            repeats: false,
            command: call.command.clone(),
            params: Object::new(),
            resolved: Object::new(),
            inputs: call.inputs.clone(),
            detail: Detail::Standard.as_str().to_owned(),
            idempotency_key: None,
            began_ms: to_milliseconds(call.began),
        }
    }

    /// Writes it as JSON.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Only a map with keys that are not texts cannot be written; there is none.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    ///
    /// The reason, for the log.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    /// Name of the caller, as in the log.
    pub(crate) fn caller_name(&self) -> String {
        match &self.caller {
            CallerRecord::Local => "(local)".to_owned(),
            CallerRecord::Named(name) => name.clone(),
            CallerRecord::Anonymous => "(anonymous)".to_owned(),
        }
    }

    /// All parameters, redacted.
    pub(crate) fn inputs(&self) -> &Object {
        &self.inputs
    }

    /// Facade that was called.
    pub(crate) fn facade(&self) -> &str {
        &self.facade
    }

    /// Action that was called, or `batch`.
    pub(crate) fn action(&self) -> &str {
        self.command.name.as_deref().or(self.actions.first().map(String::as_str)).unwrap_or_default()
    }

    /// True if the call can go on after a restart.
    pub(crate) fn resumes(&self) -> bool {
        self.resumes
    }

    /// True if the call is made again after a restart.
    pub(crate) fn repeats(&self) -> bool {
        self.repeats
    }

    /// Returns true if the run belongs to this caller, whose current rights still allow its actions.
    pub(crate) fn is_visible_to(&self, origin: &CallOrigin) -> bool {
        let may_call = |action: &String| origin.rights.allows(&self.facade, action);
        CallerRecord::of(&origin.caller) == self.caller
            && (origin.rights.are_unrestricted() || self.actions.iter().all(may_call))
    }

    /// Returns true for a call of the same action by the same caller.
    pub(crate) fn is_same_call(&self, other: &Self) -> bool {
        (&self.caller, &self.facade, &self.actions) == (&other.caller, &other.facade, &other.actions)
    }

    /// Describes the run for the journal.
    pub(crate) fn to_run(&self, id: String) -> NewRun {
        NewRun {
            id,
            facade: self.facade.clone(),
            action: self.action().to_owned(),
            head: self.to_bytes(),
            began_ms: self.began_ms,
        }
    }

    /// Echoed in the envelope.
    pub(crate) fn command(&self) -> Command {
        self.command.clone()
    }

    /// Start time.
    pub(crate) fn began(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.began_ms)
    }

    /// Restores the origin of the call, with the rights that the caller had when it began. A scope that cannot be read grants
    /// nothing.
    pub(crate) fn origin(&self) -> CallOrigin {
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

    /// Plans the call again for a version of its facade. `None` if that has no such action. The parameters were validated
    /// before; `confirmed` if the call was running already, and so needs no further consent.
    pub(crate) fn plan(&self, entry: &Arc<CatalogEntry>, confirmed: bool) -> Option<PlannedCall> {
        let actions = &entry.surface().actions;
        Some(PlannedCall {
            entry: Arc::clone(entry),
            action: actions.iter().position(|action| Some(&action.name) == self.actions.first())?,
            command: self.command.clone(),
            params: self.params.clone(),
            resolved: self.resolved.clone(),
            inputs: self.inputs.clone(),
            detail: Detail::parse(&self.detail).unwrap_or_default(),
            wait: None,
            confirmed,
            login_code: None,
            timeout: None,
            idempotency_key: self.idempotency_key.clone(),
        })
    }
}
