//! The call of a run, as the journal keeps it: enough to make it again for its caller.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use loggia_facade::{Command, Detail, Object};
use serde::{Deserialize, Serialize};

use super::port::NewRun;
use crate::{
    access::{CallOrigin, Caller, CallerRights, OriginRecord},
    catalog::CatalogEntry,
    plan::PlannedCall,
};

/// Call of a run.
#[derive(Serialize, Deserialize)]
pub(crate) struct RunHead {
    #[serde(flatten)]
    origin: OriginRecord,
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

impl RunHead {
    /// Captures a call that begins now.
    pub(crate) fn capture(origin: &CallOrigin, planned: &PlannedCall) -> Self {
        Self {
            origin: OriginRecord::of(origin),
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
            origin: OriginRecord::of_caller(call.caller, call.rights),
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
        self.origin.caller_name()
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
        self.origin.is_of(&origin.caller)
            && (origin.rights.are_unrestricted() || self.actions.iter().all(may_call))
    }

    /// Returns true for a call of the same action by the same caller.
    pub(crate) fn is_same_call(&self, other: &Self) -> bool {
        self.origin.is_of_same_caller(&other.origin)
            && (&self.facade, &self.actions) == (&other.facade, &other.actions)
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

    /// Returns the origin of the call, with the rights that the caller had when it began.
    pub(crate) fn origin(&self) -> CallOrigin {
        self.origin.to_origin()
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
            params_text: None,
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
