//! Tests of the gate over facades that they control.

mod approvals;
mod batches;
mod calls;
mod chains;
mod counted;
mod durable;
mod fair;
mod guards;
pub(crate) mod heap;
mod large;
mod links;
mod listed;
mod logins;
mod memory_journal;
mod nested;
mod parked;
mod prompts;
mod repeated;
mod resources;
mod rights;
mod runs;
mod sagas;
mod spans;
mod threads;
mod workflows;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::FutureExt;
use loggia_facade::{
    Answer, Call, Detail, Envelope, Facade, Failure, Fault, FaultKind, Input, Object, Progress, Question,
    QuestionKind, Reply, Request, Stop, Surface, code,
};
use loggia_policy::model::{ChainRule, FacadeRules, InvokeRule};
use loggia_schema::ActionPolicy;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    access::{CallOrigin, CallerRights},
    call::{Exec, Gate, GateStores},
    catalog::{Catalog, CatalogEntry, CatalogSlot, FacadeExposure},
    flow::CallerQuotas,
    journal::Journal,
    run::{CallEvent, RunId},
    schedule::{Executor, InlinePolicy, RuntimeHandles, ScheduledCall},
    testing::{PuppetFacade, entry, entry_under, lanes, puppet},
};

fn invoking(rules: &[&str]) -> FacadeRules {
    let invoke = rules.iter().map(|rule| InvokeRule::parse(rule).unwrap()).collect();
    FacadeRules { invoke, ..FacadeRules::default() }
}

fn gate_with(puppets: Vec<(PuppetFacade, FacadeRules)>, inline: InlinePolicy) -> Gate {
    let catalog = Arc::new(Catalog::default());
    catalog.mark_admitted();
    let slots: BTreeMap<String, CatalogSlot> = puppets
        .into_iter()
        .map(|(puppet, rules)| {
            (puppet.surface().name.clone(), CatalogSlot::Serving(Arc::new(entry(puppet, rules))))
        })
        .collect();
    catalog.swap(slots);
    Gate::new(catalog, Executor::new(lanes(), inline))
}

fn gate(puppets: Vec<(PuppetFacade, FacadeRules)>) -> Gate {
    gate_with(puppets, InlinePolicy::Slots(4))
}

/// A gate with the catalog of another, and these stores.
fn with_stores(gate: &Gate, stores: GateStores) -> Gate {
    let executor = Executor::new(lanes(), InlinePolicy::Slots(4));
    Gate::with_stores(Arc::clone(gate.catalog()), executor, CallerQuotas::default(), stores)
}

/// A gate with the catalog of another, and this journal.
fn with_journal(gate: &Gate, journal: Arc<dyn Journal>) -> Gate {
    with_stores(gate, GateStores { journal: Some(journal), ..GateStores::default() })
}

fn gate_under(puppet: PuppetFacade, rules: FacadeRules, terms: ActionPolicy) -> Gate {
    let gate = gate(Vec::new());
    let name = puppet.surface().name.clone();
    let entry = Arc::new(entry_under(puppet, rules, terms));
    gate.catalog().swap(BTreeMap::from([(name, CatalogSlot::Serving(entry))]));
    gate
}

fn one(puppet: PuppetFacade) -> Gate {
    gate(vec![(puppet, FacadeRules::default())])
}

fn request(facade: &str, action: &str) -> Request {
    let input = Input::Action { action: action.to_owned(), params: Object::new(), detail: Detail::Standard };
    Request::new(facade, input)
}

/// A call as an MCP client makes it.
fn tool(gate: &Gate, name: &str, arguments: Value) -> Exec {
    let Value::Object(arguments) = arguments else { unreachable!() };
    gate.call_tool(CallOrigin::local(), name, arguments).unwrap()
}

async fn finish(mut exec: Exec) -> Value {
    loop {
        match exec.next().await {
            CallEvent::Done(envelope) => return json_of(*envelope),
            CallEvent::Asks(asks) => exec.decline_all(&asks),
            CallEvent::Progress(_) | CallEvent::AwaitsApproval => {}
        }
    }
}

fn within(timeout: Duration, request: Request) -> Request {
    Request { timeout: Some(timeout), ..request }
}

fn json_of(envelope: Envelope) -> Value {
    Value::Object(envelope.into_parts().0)
}

async fn call(gate: &Gate, request: Request) -> Value {
    let mut exec = gate.start(CallOrigin::local(), request);
    loop {
        match exec.next().await {
            CallEvent::Done(envelope) => return json_of(*envelope),
            CallEvent::Asks(asks) => exec.decline_all(&asks),
            CallEvent::Progress(_) | CallEvent::AwaitsApproval => {}
        }
    }
}

fn failed(envelope: &Value) -> (&str, &str) {
    (envelope["code"].as_str().unwrap_or_default(), envelope["error"].as_str().unwrap_or_default())
}

fn fault(facade: &str, kind: FaultKind) -> Fault {
    Fault::new(kind, facade, "failed")
}

async fn forever() -> Result<Reply, Stop> {
    std::future::pending().await
}
