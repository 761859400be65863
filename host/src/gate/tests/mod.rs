//! The gate over facades that do as they are told.

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

use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{
    Action, Answer, Call, Detail, Effect, Envelope, Facade, Failure, Fault, FaultKind, Input, Object,
    Progress, Question, Reply, Request, Stop, Surface, code,
};
use loggia_schema::{Contract, Terms};
use serde_json::{Value, json};
use tokio::{runtime::Handle, sync::Notify};

use super::{
    Chain, Event, Exec, Executor, Gate, Inline, InvokeRule, Lanes, Origin, Rights, Rules, RunId, work::Work,
};
use crate::{
    catalog::{Catalog, Entry, Slot},
    publish::Exposure,
};

/// What a puppet does with a call.
type Act = Box<dyn Fn(Call) -> BoxFuture<'static, Result<Reply, Stop>> + Send + Sync>;

/// A facade that does as it is told.
pub(crate) struct Puppet {
    surface: Arc<Surface>,
    act: Act,
}

impl Facade for Puppet {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn dispatch(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Reply, Stop>> {
        (self.act)(call)
    }
}

fn action(name: &str, effect: Effect) -> Action {
    let Value::Object(params) =
        json!({"type": "object", "properties": {"n": {"type": "integer", "default": 1}}})
    else {
        unreachable!()
    };
    Action {
        name: name.to_owned(),
        summary: "Does as it is told.".to_owned(),
        effect,
        idempotent: false,
        open_world: false,
        long_running: false,
        details: false,
        aliases: Vec::new(),
        params: Arc::new(params),
        data: None,
        examples: Vec::new(),
    }
}

/// A puppet with one action of each effect.
pub(crate) fn puppet<F>(name: &str, act: impl Fn(Call) -> F + Send + Sync + 'static) -> Puppet
where
    F: Future<Output = Result<Reply, Stop>> + Send + 'static,
{
    let surface = Surface {
        name: name.to_owned(),
        title: name.to_owned(),
        version: "0.1.0".to_owned(),
        summary: "A puppet.".to_owned(),
        instructions: None,
        default_action: None,
        actions: vec![
            action("look", Effect::Read),
            action("touch", Effect::Write),
            action("smash", Effect::Destructive),
            Action { long_running: true, ..action("dig", Effect::Write) },
        ],
        wants: Vec::new(),
    };
    Puppet { surface: Arc::new(surface), act: Box::new(move |call| act(call).boxed()) }
}

fn invoking(rules: &[&str]) -> Rules {
    let invoke = rules.iter().map(|rule| InvokeRule::parse(rule).unwrap()).collect();
    Rules { invoke, ..Rules::default() }
}

/// A puppet, ready to be called.
pub(crate) fn entry(puppet: Puppet, rules: Rules) -> Entry {
    entry_under(puppet, rules, Terms::default())
}

fn entry_under(puppet: Puppet, rules: Rules, terms: Terms) -> Entry {
    let contract = Contract::new(Arc::clone(&puppet.surface)).unwrap().under(terms).unwrap();
    Entry::new(Arc::new(puppet), contract, rules, Exposure::default(), "test".to_owned())
}

fn gate_with(puppets: Vec<(Puppet, Rules)>, inline: Inline) -> Gate {
    let catalog = Arc::new(Catalog::default());
    catalog.admit();
    let slots: BTreeMap<String, Slot> = puppets
        .into_iter()
        .map(|(puppet, rules)| (puppet.surface.name.clone(), Slot::Serving(Arc::new(entry(puppet, rules)))))
        .collect();
    catalog.swap(slots);
    Gate::new(catalog, Executor::new(lanes(), inline))
}

/// All on one runtime.
pub(crate) fn lanes() -> Lanes {
    Lanes { calls: Handle::current(), heavy: Handle::current() }
}

fn gate(puppets: Vec<(Puppet, Rules)>) -> Gate {
    gate_with(puppets, Inline::Slots(4))
}

fn gate_under(puppet: Puppet, rules: Rules, terms: Terms) -> Gate {
    let gate = gate(Vec::new());
    let name = puppet.surface.name.clone();
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

async fn told(mut exec: Exec) -> Value {
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
