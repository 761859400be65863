//! Starts workflows when the state of a plugin has changed.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use loggia_facade::{StartCause, code};
use loggia_gate::call::{CallStart, Gate, StartOutcome};
use loggia_load::PluginAdmitter;
use loggia_server::mcp::SealSecret;
use loggia_state::{
    ChangeCondition, ChangeMark, ChangeOperation, HostRecords, StateChange, StateError, StateSpace,
};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::{
    cause::{derive_id, to_request},
    cursor::{LONG_ROW, StartCursor},
    service::ServiceIdentity,
};

/// Period in which stores are looked at, which is cheap.
const LOOK_PERIOD: Duration = Duration::from_secs(1);
/// Keys of one start, at most.
const MAX_KEYS: u32 = 500;

/// Reasons that are remembered, at most.
const MAX_REPORTED: usize = 256;

/// Watches the state of plugins for the workflows that are served.
pub struct StateWatcher {
    gate: Gate,
    services: BTreeMap<String, ServiceIdentity>,
    /// Secret from which the handles of runs are derived.
    secret: SealSecret,
    admitter: Arc<PluginAdmitter>,
    /// How far each rule's store was found unchanged, beyond its cursor of this version.
    seen: HashMap<String, (u64, ChangeMark)>,
    /// Reasons that were reported: each once.
    reported: BTreeSet<String>,
}

/// A rule of a facade that is served.
#[derive(Clone)]
struct WatchedRule {
    /// Facade and action that it starts, and its service.
    facade: String,
    action: String,
    service: String,
    /// Facade whose state it watches.
    watched: String,
    prefix: String,
    parameter: String,
}

impl WatchedRule {
    /// Key of its cursor.
    fn key(&self) -> String {
        let Self { facade, action, service, watched, .. } = self;
        format!("state/{facade}/{action}/{service}/{watched}")
    }
}

/// A cursor, with the version of its record.
type FoundCursor = (StartCursor, u64);

impl StateWatcher {
    /// Watches for the identities of the settings.
    pub fn new(
        gate: Gate,
        services: BTreeMap<String, ServiceIdentity>,
        secret: SealSecret,
        admitter: Arc<PluginAdmitter>,
    ) -> Self {
        Self { gate, services, secret, admitter, seen: HashMap::new(), reported: BTreeSet::new() }
    }

    /// Starts what follows from changes, until `stop` is cancelled. Changes that were made while no host ran count, too.
    pub async fn run(mut self, stop: CancellationToken) {
        self.gate.catalog().wait_until_admitted().await;
        loop {
            let rules = self.watched_rules();
            self.seen.retain(|key, _| rules.iter().any(|rule| rule.key() == *key));
            for rule in rules {
                self.look(rule).await;
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(LOOK_PERIOD) => {}
            }
        }
    }

    /// Lists the rules of the facades that are served, whose services are in the settings and may use the watched facade.
    fn watched_rules(&mut self) -> Vec<WatchedRule> {
        let snapshot = self.gate.catalog().snapshot();
        let mut served = Vec::new();
        for entry in snapshot.serving() {
            let facade = &entry.surface().name;
            for rule in entry.facade.start_rules() {
                let StartCause::StateChange { facade: watched, prefix, parameter } = &rule.cause else {
                    continue;
                };
                let service = &rule.service;
                let reason = match self.services.get(service) {
                    None => format!("the settings have no [service.{service}]"),
                    Some(identity) if !identity.origin(service).rights.reaches(watched) => {
                        format!(
                            "the scopes of [service.{service}] do not include `{watched}`, whose state it watches"
                        )
                    }
                    Some(_) => {
                        served.push(WatchedRule {
                            facade: facade.clone(),
                            action: rule.action.clone(),
                            service: service.clone(),
                            watched: watched.clone(),
                            prefix: prefix.clone(),
                            parameter: parameter.clone(),
                        });
                        continue;
                    }
                };
                self.report(format!("`{facade}.{}` does not start by itself: {reason}", rule.action));
            }
        }
        served
    }

    /// Logs a reason, the first time.
    fn report(&mut self, reason: String) {
        if !self.reported.contains(&reason) {
            tracing::warn!("{reason}");
            if self.reported.len() >= MAX_REPORTED {
                self.reported.clear();
            }
            self.reported.insert(reason);
        }
    }

    /// Looks at the store of a rule, and makes the start that is recorded.
    async fn look(&mut self, rule: WatchedRule) {
        let name = format!("{}.{}", rule.facade, rule.action);
        let (key, admitter) = (rule.key(), Arc::clone(&self.admitter));
        let (seen, work) = (self.seen.get(&key).cloned(), rule.clone());
        let found = spawn_blocking(move || find_start(&admitter, &work, seen)).await;
        let found = match found {
            Ok(Ok(found)) => found,
            // Another server was quicker, or holds the store.
            Ok(Err(StateError::Conflict(_) | StateError::Busy)) | Err(_) => return,
            Ok(Err(error)) => {
                return self.report(format!("`{name}` does not start by itself: {error}"));
            }
        };
        match found {
            FoundChanges::Nothing => {}
            FoundChanges::Unchanged(version, mark) => _ = self.seen.insert(key, (version, mark)),
            FoundChanges::Start(found) => self.start(rule, found).await,
        }
    }

    async fn start(&mut self, rule: WatchedRule, (cursor, version): FoundCursor) {
        let WatchedRule { facade, action, service, watched, parameter, .. } = &rule;
        let (Some(identity), Some(pending)) = (self.services.get(service), cursor.pending()) else { return };
        let cause = format!("{}/{}", rule.key(), pending.cause());
        let params = pending.to_params(watched, parameter);
        let start = CallStart {
            origin: identity.origin(service),
            request: to_request(facade, action, params, cause.clone()),
            id: derive_id((self.secret)().as_ref(), &cause),
            may_overlap: false,
        };
        match self.gate.start_call(start).await {
            Ok(StartOutcome::Started) => {
                tracing::info!(facade, action, service, "started by a change of the state of `{watched}`");
            }
            // These changes, and those that come in meanwhile, count once it has ended.
            Ok(StartOutcome::Overlaps) => return,
            // It would fail again.
            Err(failure) if failure.code == code::INVALID_PARAMS => self.report(format!(
                "`{facade}.{action}` was not started by a change of the state of `{watched}`: {}",
                failure.message
            )),
            Err(failure) => {
                let hint = failure.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
                return self.report(format!(
                    "`{facade}.{action}` is not started by a change of the state of `{watched}` yet: {}{hint}",
                    failure.message
                ));
            }
        }
        if cursor.is_long_row() {
            tracing::warn!(
                facade,
                action,
                "started {LONG_ROW} times in a row by changes of the state of `{watched}`: if it makes them itself, it goes on \
                 so, every ten seconds"
            );
        }
        let (admitter, next) = (Arc::clone(&self.admitter), cursor.after_start(now()));
        let written =
            spawn_blocking(move || write(&admitter, &rule, &next, ChangeCondition::Version(version)));
        match written.await {
            // Another server has made the same start: its run is the same.
            Ok(Ok(_) | Err(StateError::Conflict(_))) | Err(_) => {}
            // The next look makes the same start, which counts once.
            Ok(Err(error)) => self.report(format!("failed to record the start of a workflow: {error}")),
        }
    }
}

/// What a look has found.
enum FoundChanges {
    /// No change that counts now.
    Nothing,
    /// No change until a mark, beyond the cursor of this version.
    Unchanged(u64, ChangeMark),
    /// A start, which is recorded.
    Start(FoundCursor),
}

/// Finds the start of a rule that is recorded, or records one for what has changed. Blocks.
fn find_start(
    admitter: &PluginAdmitter,
    rule: &WatchedRule,
    seen: Option<(u64, ChangeMark)>,
) -> Result<FoundChanges, StateError> {
    let folder = admitter.open_state_folder()?;
    let store = folder.store(&rule.watched, u64::MAX)?;
    let records = folder.records(HostRecords::Starts);
    let Some(record) = records.get(StateSpace::Shared, &[rule.key()])?.pop().flatten() else {
        // What was there before the rule does not count.
        let revision = store.commit(StateSpace::Shared, Vec::new())?;
        write(admitter, rule, &StartCursor::begin(revision), ChangeCondition::Absent)?;
        return Ok(FoundChanges::Nothing);
    };
    let cursor: StartCursor = serde_json::from_slice(&record.value)
        .map_err(|error| StateError::Storage(format!("the record of its starts is damaged: {error}")))?;
    if cursor.pending().is_some() {
        return Ok(FoundChanges::Start((cursor, record.version)));
    }
    if !cursor.may_start(now()) {
        return Ok(FoundChanges::Nothing);
    }
    let after = match seen {
        Some((version, mark)) if version == record.version => mark,
        _ => cursor.mark(u64::MAX),
    };
    let mut changes = store.changes(StateSpace::Shared, &rule.prefix, after, MAX_KEYS)?;
    if changes.revision < changes.mark.version {
        // Another store has taken the place of the one before.
        let after = cursor.mark(changes.revision);
        changes = store.changes(StateSpace::Shared, &rule.prefix, after, MAX_KEYS)?;
    }
    if changes.keys.is_empty() {
        return Ok(FoundChanges::Unchanged(record.version, changes.mark));
    }
    let next = cursor.with_start(changes, now());
    let version = write(admitter, rule, &next, ChangeCondition::Version(record.version))?;
    Ok(FoundChanges::Start((next, version)))
}

/// Writes the cursor of a rule, unless another server has. Blocks.
fn write(
    admitter: &PluginAdmitter,
    rule: &WatchedRule,
    cursor: &StartCursor,
    expect: ChangeCondition,
) -> Result<u64, StateError> {
    let value = serde_json::to_vec(cursor).map_err(|error| StateError::Invalid(error.to_string()))?;
    let change = StateChange { key: rule.key(), expect, operation: ChangeOperation::Put(value) };
    let records = admitter.open_state_folder()?.records(HostRecords::Starts);
    records.commit(StateSpace::Shared, vec![change])
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
