//! Workflows behind the gate.

use loggia_schema::{Contract, sanitise_surface};
use loggia_workflow::{WorkflowFacade, definition, surface::build_surface};

use super::*;

/// The facade `flow` of these workflows' text, with these puppets.
pub(super) fn beside(text: &str, concurrency: usize, puppets: Vec<PuppetFacade>) -> Gate {
    let invoke: Vec<String> = puppets.iter().map(|puppet| format!("{}:*", puppet.surface.name)).collect();
    let invoke: Vec<&str> = invoke.iter().map(String::as_str).collect();
    let rules = FacadeRules { elicit: true, questions: 16, concurrency, ..invoking(&invoke) };
    let asking = FacadeRules { elicit: true, ..FacadeRules::default() };
    let gate = gate(puppets.into_iter().map(|puppet| (puppet, asking.clone())).collect());
    serve_workflows(&gate, "flow", text, rules);
    gate
}

/// Serves the workflows of a text as a facade, beside those that a gate has.
pub(super) fn serve_workflows(gate: &Gate, name: &str, text: &str, rules: FacadeRules) {
    let definition = definition::parse_file(text).unwrap_or_else(|problems| panic!("{problems}"));
    let workflows: Vec<_> = definition.workflows.iter().cloned().map(Arc::new).collect();
    let snapshot = gate.catalog().snapshot();
    let peers = |facade: &str, action: &str| snapshot.lookup(facade, action);
    let surface = Arc::new(sanitise_surface(build_surface(name, &definition, &workflows, &peers).surface));
    let contract = Contract::new(Arc::clone(&surface)).unwrap();
    let facade = WorkflowFacade::new(surface, workflows, None);
    let flow =
        CatalogEntry::new(Arc::new(facade), contract, rules, FacadeExposure::default(), "test".to_owned());
    let mut slots = snapshot.slots.clone();
    slots.insert(name.to_owned(), CatalogSlot::Serving(Arc::new(flow)));
    gate.catalog().swap(slots);
}

fn person() -> CallOrigin {
    CallOrigin::local().with_elicitation(true)
}

/// Follows a call without answering its questions.
async fn unanswered(gate: &Gate, request: Request) -> Value {
    let mut exec = gate.start(person(), request);
    loop {
        if let CallEvent::Done(envelope) = exec.next().await {
            return json_of(*envelope);
        }
    }
}

const ASKS: &str = "
name: ask
description: Asks, then works.
steps:
  - {id: sure, type: elicitation, message: Sure?, timeout: 20s, onCancel: {action: continue}, schema: {type: object, properties: {yes: {type: boolean}}}}
  - {id: work, tool: a.touch, dependsOn: [sure]}
  - {id: rest, tool: a.look, dependsOn: [work]}
";

#[tokio::test(start_paused = true)]
async fn an_unanswered_question_follows_the_definition() {
    let gate = beside(ASKS, 8, vec![puppet("a", async |_| Ok(Reply::data("done")))]);
    let reply = unanswered(&gate, request("flow", "ask")).await;
    assert_eq!(reply["ok"], true, "{reply}");
}

const DROPS: &str = "
name: ask
description: Calls what asks, gives up, then works.
steps:
  - {id: sure, tool: b.look, timeout: 20s, onError: {action: continue}}
  - {id: work, tool: a.touch, dependsOn: [sure]}
  - {id: rest, tool: a.look, dependsOn: [work]}
";

#[tokio::test(start_paused = true)]
async fn a_dropped_question_leaves_a_permit() {
    let slow = puppet("a", async |_| {
        tokio::time::sleep(Duration::from_secs(10)).await;
        Ok(Reply::data("done"))
    });
    let asks = puppet("b", async |call: Call| {
        call.session.elicit(Question::form("Sure?", Object::new())).await?;
        Ok(Reply::default())
    });
    let gate = beside(DROPS, 1, vec![slow, asks]);
    let (one, two) = (gate.clone(), gate.clone());
    let begun = tokio::time::Instant::now();
    let first = async { unanswered(&one, request("flow", "ask")).await };
    let second = async {
        tokio::time::sleep(Duration::from_secs(21)).await;
        let reply = unanswered(&two, request("flow", "ask")).await;
        (reply, begun.elapsed().as_secs())
    };
    let (first, (second, after)) = tokio::join!(first, second);
    assert_eq!((&first["ok"], &second["ok"]), (&json!(true), &json!(true)), "{first} {second}");
    // The first ends after 40 s; then the second waits for 20 s and works for another 20.
    assert_eq!(after, 80, "it waits its turn");
}

#[tokio::test]
async fn one_caller_cannot_use_up_all_questions() {
    let steps: String = (0..10)
        .map(|n| format!("  - {{id: q{n}, type: elicitation, message: Sure?, schema: {{type: object, properties: {{}}}}, onError: {{action: continue}}}}\n"))
        .collect();
    let text = format!("name: ask\ndescription: Asks.\nsteps:\n{steps}");
    let gate = beside(&text, 8, vec![]);
    let mut execs: Vec<Exec> = (0..4).map(|_| gate.start(person(), request("flow", "ask"))).collect();
    let mut open = Vec::new();
    for exec in &mut execs {
        loop {
            match exec.next().await {
                CallEvent::Asks(asks) => break open.push(asks.len()),
                CallEvent::Done(envelope) => panic!("{}", json_of(*envelope)),
                CallEvent::Progress(_) | CallEvent::AwaitsApproval => {}
            }
        }
    }
    assert_eq!(open, [10, 10, 10, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_workflow_returns_all_permits() {
    let text = "
name: many
description: Ten steps that take long.
steps:
  - {id: each, type: forEach, collection: '[1,2,3,4,5,6,7,8,9,10]', step: {tool: a.touch}}
";
    let begun = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = Arc::clone(&begun);
    let slow = puppet("a", move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        forever()
    });
    let gate = beside(text, 1, vec![slow]);
    for round in 1..=4 {
        let mut exec = gate.start(CallOrigin::local(), request("flow", "many"));
        while begun.load(Ordering::Relaxed) < 10 * round {
            let CallEvent::Progress(_) = exec.next().await else { panic!("it ended") };
        }
        drop(exec);
        // The one call at a time that may run has ended: the next begins.
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
