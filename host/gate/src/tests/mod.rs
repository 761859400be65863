//! Tests of the gate over facades that they control.

mod batches;
mod calls;
mod chains;
mod counted;
mod fair;
pub(crate) mod heap;
mod nested;
mod parked;
mod rights;
mod runs;
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
    Reply, Request, Stop, Surface, code,
};
use loggia_schema::ActionPolicy;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    access::{Chain, InvokeRule, Origin, Rights, Rules},
    call::{Exec, Gate},
    catalog::{Catalog, Entry, Exposure, Slot},
    run::{Event, RunId},
    schedule::{Executor, Inline, Lanes, ScheduledCall},
    testing::{Puppet, entry, entry_under, lanes, puppet},
};

fn invoking(rules: &[&str]) -> Rules {
    let invoke = rules.iter().map(|rule| InvokeRule::parse(rule).unwrap()).collect();
    Rules { invoke, ..Rules::default() }
}

fn gate_with(puppets: Vec<(Puppet, Rules)>, inline: Inline) -> Gate {
    let catalog = Arc::new(Catalog::default());
    catalog.admit();
    let slots: BTreeMap<String, Slot> = puppets
        .into_iter()
        .map(|(puppet, rules)| (puppet.surface().name.clone(), Slot::Serving(Arc::new(entry(puppet, rules)))))
        .collect();
    catalog.swap(slots);
    Gate::new(catalog, Executor::new(lanes(), inline))
}

fn gate(puppets: Vec<(Puppet, Rules)>) -> Gate {
    gate_with(puppets, Inline::Slots(4))
}

fn gate_under(puppet: Puppet, rules: Rules, terms: ActionPolicy) -> Gate {
    let gate = gate(Vec::new());
    let name = puppet.surface().name.clone();
    let entry = Arc::new(entry_under(puppet, rules, terms));
    gate.catalog().swap(BTreeMap::from([(name, Slot::Serving(entry))]));
    gate
}

fn one(puppet: Puppet) -> Gate {
    gate(vec![(puppet, Rules::default())])
}

fn request(facade: &str, action: &str) -> Request {
    let input = Input::Action { action: action.to_owned(), params: Object::new(), detail: Detail::Standard };
    Request { facade: facade.to_owned(), input, timeout: None, idempotency_key: None }
}

/// A call as an MCP client makes it.
fn tool(gate: &Gate, name: &str, arguments: Value) -> Exec {
    let Value::Object(arguments) = arguments else { unreachable!() };
    gate.call_tool(Origin::local(), name, arguments).unwrap()
}

async fn finish(mut exec: Exec) -> Value {
    loop {
        match exec.next().await {
            Event::Done(envelope) => return json_of(*envelope),
            Event::Asks(asks) => exec.decline(&asks),
            Event::Progress(_) => {}
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
    let mut exec = gate.start(Origin::local(), request);
    loop {
        match exec.next().await {
            Event::Done(envelope) => return json_of(*envelope),
            Event::Asks(asks) => exec.decline(&asks),
            Event::Progress(_) => {}
        }
    }
}

fn failed(envelope: &Value) -> (&str, &str) {
    (envelope["code"].as_str().unwrap_or_default(), envelope["error"].as_str().unwrap_or_default())
}

fn fault(facade: &str, kind: FaultKind) -> Fault {
    Fault { kind, facade: facade.to_owned(), message: "failed".to_owned(), limit: None, log: None }
}

async fn forever() -> Result<Reply, Stop> {
    std::future::pending().await
}
