//! The plugin's own durable state.

use std::sync::Arc;

use loggia_facade::{
    Effect, Failure, ScopeKey, code,
    trace::{ParentSpan, SpanKind, error_type, names},
};
use loggia_state::{ChangeOperation, StateChange, StateEntry, StateError, StatePage, StateSpace, StateStore};
use serde_json::json;

use super::phases::{Capability, ConfigureContext, PrepareContext};
use crate::{LoadError, meter::CpuMeter, probes::GuestTape, space::SpaceChoice};

/// The store of a plugin.
pub(crate) struct StateCapability {
    store: StateStore,
    is_per_caller: bool,
}

impl Capability for StateCapability {
    type CallState = StateAccess;

    fn configure(context: &ConfigureContext<'_>) -> Result<Option<Self>, LoadError> {
        let is_per_caller = context.grants.store.is_some_and(|granted| granted.is_per_caller);
        Ok(context.store.clone().map(|store| Self { store, is_per_caller }))
    }

    fn prepare(&self, context: &mut PrepareContext<'_>) -> StateAccess {
        StateAccess {
            store: self.store.clone(),
            tape: context.tape.cloned(),
            is_per_caller: self.is_per_caller,
            may_commit: context.effect != Effect::Read,
            scope: context.scope.clone(),
            meter: Arc::clone(context.meter),
            span: context.span.clone(),
        }
    }
}

/// State of a plugin, as far as one call may use it.
pub(crate) struct StateAccess {
    store: StateStore,
    /// Keeps what the call reads and writes, if anything does.
    tape: Option<Arc<dyn GuestTape>>,
    /// The shared space is each caller's own.
    is_per_caller: bool,
    /// False for a `read` action.
    may_commit: bool,
    /// Key of the caller's own space.
    scope: Option<ScopeKey>,
    /// Charged for the time that the store's threads take.
    meter: Arc<CpuMeter>,
    /// Span of the guest.
    span: ParentSpan,
}

impl StateAccess {
    /// Returns the entries of these keys, in their order.
    pub(crate) async fn get(
        &self,
        choice: SpaceChoice,
        keys: Vec<String>,
    ) -> Result<Vec<Option<StateEntry>>, Failure> {
        let space = self.space(choice)?;
        let asked = self.tape.is_some().then(|| keys.clone());
        let found = self.run("get", move |store| store.get(space, &keys)).await?;
        if let Some(tape) = &self.tape {
            for (key, entry) in asked.iter().flatten().zip(&found) {
                tape.keep_value(choice, key, entry.as_ref().map(|entry| &*entry.value));
            }
        }
        Ok(found)
    }

    /// Returns a page of the entries whose keys begin with `prefix` and come after `after`.
    pub(crate) async fn scan(
        &self,
        choice: SpaceChoice,
        prefix: String,
        after: Option<String>,
        limit: u32,
        at: Option<u64>,
    ) -> Result<StatePage, Failure> {
        let space = self.space(choice)?;
        let asked = self.tape.is_some().then(|| prefix.clone());
        let page =
            self.run("scan", move |store| store.scan(space, &prefix, after.as_deref(), limit, at)).await?;
        if let (Some(tape), Some(prefix)) = (&self.tape, asked) {
            let keep = |page: &StatePage| {
                page.items.iter().for_each(|entry| tape.keep_value(choice, &entry.key, Some(&entry.value)));
            };
            keep(&page);
            // A replay finds that there are more, too. A recording must not fail its call.
            if let Some(last) = page.items.last().filter(|_| page.more).map(|entry| entry.key.clone())
                && let Ok(next) =
                    self.run("scan", move |store| store.scan(space, &prefix, Some(&last), 1, None)).await
            {
                keep(&next);
            }
        }
        Ok(page)
    }

    /// Commits all of these changes or none. A `read` action may only check.
    pub(crate) async fn commit(
        &self,
        choice: SpaceChoice,
        changes: Vec<StateChange>,
    ) -> Result<u64, Failure> {
        let writes = changes.iter().any(|change| change.operation != ChangeOperation::Check);
        if writes && !self.may_commit {
            let failure = Failure::new(code::DENIED, "access denied: a read action may not change the state");
            return Err(failure.hint("declare the action as `write`"));
        }
        let space = self.space(choice)?;
        let made = self.tape.is_some().then(|| changes.clone());
        let version = self.run("commit", move |store| store.commit(space, changes)).await?;
        if let (Some(tape), Some(changes)) = (&self.tape, &made) {
            tape.keep_changes(choice, changes);
        }
        Ok(version)
    }

    fn space(&self, space: SpaceChoice) -> Result<StateSpace, Failure> {
        match (space, &self.scope) {
            (SpaceChoice::Shared, _) if !self.is_per_caller => Ok(StateSpace::Shared),
            // A plugin may use the same key in both spaces, so they stay apart.
            (SpaceChoice::Shared, Some(ScopeKey(key))) => Ok(StateSpace::Caller(key.map(|byte| !byte))),
            (SpaceChoice::Caller, Some(ScopeKey(key))) => Ok(StateSpace::Caller(*key)),
            (_, None) => {
                let failure =
                    Failure::new(code::DENIED, "access denied: this caller has no state of its own");
                Err(failure.hint(match space {
                    SpaceChoice::Shared => {
                        "anonymous callers have none, and the policy grants no shared state"
                    }
                    SpaceChoice::Caller => "anonymous callers have none; the shared state can be used",
                }))
            }
        }
    }

    /// Runs an operation on a thread that may wait for a disk or for another process, at the call's expense.
    async fn run<T: Send + 'static>(
        &self,
        name: &'static str,
        operation: impl FnOnce(&StateStore) -> Result<T, StateError> + Send + 'static,
    ) -> Result<T, Failure> {
        let mut span = self.span.begin(SpanKind::Internal, || names::state_span(name));
        span.set(names::STATE, name);
        let store = self.store.clone();
        let mut working = self.meter.run_blocking(move || operation(&store));
        let done = match (&mut *working).await {
            Ok(done) => done.map_err(to_failure),
            Err(_) => Err(to_failure(StateError::Storage("the thread that used it ended".to_owned()))),
        };
        span.finish(done.as_ref().err().map(|failure| error_type(&failure.code)));
        done
    }
}

/// Converts an error of the store into the plugin's failure. Storage errors are logged: only the operator can do
/// something about them.
fn to_failure(error: StateError) -> Failure {
    let message = error.to_string();
    match error {
        StateError::Conflict(keys) => {
            let failure = Failure::new(code::CONFLICT, message).hint("read the keys again and retry");
            Failure { details: Some(json!({ "keys": keys })), ..failure }
        }
        StateError::Moved => Failure::new(code::CONFLICT, message).hint("restart the scan"),
        StateError::Quota { .. } => Failure::new(code::UNAVAILABLE, message)
            .hint("delete unneeded keys, or ask the operator to raise `grants.store.quota`"),
        StateError::Invalid(_) => Failure::new(code::INVALID_PARAMS, message),
        StateError::Busy => {
            let failure = Failure::new(code::UNAVAILABLE, message).hint("try again");
            Failure { retry_after_ms: Some(1000), ..failure }
        }
        StateError::Storage(_) => {
            tracing::error!("{message}");
            Failure::new(code::UNAVAILABLE, "the state cannot be used")
                .hint("the server's log has the reason")
        }
    }
}
