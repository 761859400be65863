//! Starts what is due.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use jiff::Timestamp;
use loggia_facade::{Object, StartCause, StartRule};
use loggia_gate::call::{CallStart, Gate, StartOutcome};
use loggia_server::mcp::SealSecret;
use tokio_util::sync::CancellationToken;

use super::{
    cause::{derive_id, to_request},
    schedule::DueTimes,
    service::ServiceIdentity,
};

/// Longest time between two looks at the rules and the clock, either of which may change.
const LOOK_PERIOD: Duration = Duration::from_secs(20);

/// Starts workflows at their times.
pub struct Scheduler {
    gate: Gate,
    services: BTreeMap<String, ServiceIdentity>,
    /// Secret from which the handles of runs are derived.
    secret: SealSecret,
    /// The time of day.
    clock: fn() -> Timestamp,
    /// Reasons that were reported: each once.
    reported: BTreeSet<String>,
}

/// A rule of a facade that is served.
struct ServedRule {
    facade: String,
    rule: StartRule,
    times: DueTimes,
    params: Object,
}

impl Scheduler {
    /// Creates a scheduler for the identities of the settings.
    pub fn new(gate: Gate, services: BTreeMap<String, ServiceIdentity>, secret: SealSecret) -> Self {
        Self { gate, services, secret, clock: Timestamp::now, reported: BTreeSet::new() }
    }

    /// Starts what becomes due, until `stop` is cancelled. A time at which no host ran is not made up for.
    pub async fn run(mut self, stop: CancellationToken) {
        self.gate.catalog().wait_until_admitted().await;
        let mut seen = (self.clock)();
        loop {
            let rules = self.scheduled_rules();
            let pause = next_pause(&rules, (self.clock)());
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            let now = (self.clock)();
            for served in self.scheduled_rules() {
                if let Some(due) = served.times.last_between(seen, now) {
                    self.start(&served, due).await;
                }
            }
            // Also if the clock was set back: what was started at these times has its handle already.
            seen = now;
        }
    }

    /// Lists the schedules of the facades that are served, whose services are in the settings.
    fn scheduled_rules(&mut self) -> Vec<ServedRule> {
        let snapshot = self.gate.catalog().snapshot();
        let mut served = Vec::new();
        for entry in snapshot.serving() {
            let facade = &entry.surface().name;
            for rule in entry.facade.start_rules() {
                let StartCause::Schedule { cron, time_zone, params } = &rule.cause else { continue };
                let name = format!("{facade}.{}", rule.action);
                if !self.services.contains_key(&rule.service) {
                    let service = &rule.service;
                    self.report(format!(
                        "`{name}` does not start by itself: the settings have no [service.{service}]"
                    ));
                    continue;
                }
                match DueTimes::parse(cron, time_zone) {
                    Ok(times) => served.push(ServedRule {
                        facade: facade.clone(),
                        rule: rule.clone(),
                        times,
                        params: params.clone(),
                    }),
                    Err(reason) => self.report(format!("`{name}` does not start by itself: {reason}")),
                }
            }
        }
        served
    }

    /// Logs a reason, the first time.
    fn report(&mut self, reason: String) {
        if !self.reported.contains(&reason) {
            tracing::warn!("{reason}");
            self.reported.insert(reason);
        }
    }

    async fn start(&mut self, served: &ServedRule, due: Timestamp) {
        let ServedRule { facade, rule: StartRule { action, service, .. }, params, .. } = served;
        let Some(identity) = self.services.get(service) else { return };
        let key = format!("schedule/{facade}/{action}/{service}/{due}");
        let call = CallStart {
            origin: identity.origin(service),
            request: to_request(facade, action, params.clone(), key.clone()),
            id: derive_id((self.secret)().as_ref(), &key),
            may_overlap: false,
        };
        match self.gate.start_call(call).await {
            Ok(StartOutcome::Started) => {
                tracing::info!(facade, action, service, "started by the schedule of {due}")
            }
            Ok(StartOutcome::Overlaps) => {
                tracing::warn!(facade, action, service, "not started at {due}: the run before has not ended");
            }
            Err(failure) => {
                let hint = failure.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
                tracing::warn!(facade, action, service, "not started at {due}: {}{hint}", failure.message);
            }
        }
    }
}

/// Returns the time until the next rule is due.
fn next_pause(rules: &[ServedRule], now: Timestamp) -> Duration {
    let next = rules.iter().filter_map(|served| served.times.next_after(now)).min();
    let until = next.and_then(|next| Duration::try_from(next.duration_since(now)).ok());
    until.map_or(LOOK_PERIOD, |until| until.min(LOOK_PERIOD))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, OnceLock};

    use loggia_facade::Reply;
    use loggia_gate::{
        access::{CallOrigin, CallerRights},
        catalog::{Catalog, CatalogSlot, ToolPublisher},
        schedule::{Executor, InlinePolicy},
        testing::{entry, lanes, puppet},
    };
    use loggia_policy::{model::FacadeRules, settings::Service};
    use serde_json::json;
    use tokio::time::Instant;

    use super::*;
    use crate::starts::to_services;

    /// Time of day of a test: it goes with tokio's paused clock.
    fn test_clock() -> Timestamp {
        static BEGAN: OnceLock<Instant> = OnceLock::new();
        let began: Timestamp = "2026-11-20T06:58:30Z".parse().unwrap();
        began + BEGAN.get_or_init(Instant::now).elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn workflows_start_at_their_times_in_the_name_of_their_services() {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let made = Arc::clone(&calls);
        let mut facade = puppet("a", move |call| {
            made.lock().unwrap().push((call.action, call.params["n"].clone(), test_clock().to_string()));
            async { Ok(Reply::data("done")) }
        });
        let rule = |action: &str, service: &str, zone: &str| StartRule {
            action: action.into(),
            service: service.into(),
            cause: StartCause::Schedule {
                cron: "0,20 7-8 * * *".into(),
                time_zone: zone.into(),
                params: json!({"n": 3}).as_object().unwrap().clone(),
            },
        };
        facade.start_rules = vec![
            rule("look", "reports", "UTC"),
            rule("look", "nobody", "UTC"),
            rule("look", "reports", "Europe/Atlantis"),
            // Not in its scopes.
            rule("smash", "reports", "UTC"),
        ];
        let catalog = Arc::new(Catalog::new(ToolPublisher::default()));
        let served = CatalogSlot::Serving(Arc::new(entry(facade, FacadeRules::default())));
        catalog.swap(BTreeMap::from([("a".to_owned(), served)]));
        catalog.mark_admitted();
        let gate = Gate::new(catalog, Executor::new(lanes(), InlinePolicy::Slots(4)));
        let reports = Service { scopes: vec!["a:look".parse().unwrap()], hook_secret: None };
        let services = to_services(&BTreeMap::from([("reports".to_owned(), reports)]));
        let mut scheduler = Scheduler::new(gate, services, Arc::new(|| Some([7; 32])));
        scheduler.clock = test_clock;
        let stop = CancellationToken::new();
        let run = scheduler.run(stop.clone());
        tokio::select! {
            () = run => panic!("it stopped"),
            () = tokio::time::sleep(Duration::from_secs(2 * 3600)) => {}
        }
        let times: Vec<String> = calls.lock().unwrap().iter().map(|(_, _, at)| at[..16].to_owned()).collect();
        assert_eq!(times, ["2026-11-20T07:00", "2026-11-20T07:20", "2026-11-20T08:00", "2026-11-20T08:20"]);
        assert!(calls.lock().unwrap().iter().all(|(action, n, _)| action == "look" && *n == 3));
    }

    #[test]
    fn calls_are_made_in_the_name_of_the_service() {
        let service = Service { scopes: vec!["a:look".parse().unwrap()], hook_secret: None };
        let identity = &to_services(&BTreeMap::from([("reports".to_owned(), service)]))["reports"];
        let origin = identity.origin("reports");
        assert_eq!(
            format!("{:?}", origin.caller),
            format!("{:?}", CallOrigin::named("service:reports", CallerRights::all()).caller)
        );
        assert!(origin.rights.allows("a", "look") && !origin.rights.allows("a", "smash"));
    }
}
