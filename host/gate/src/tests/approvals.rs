//! Calls that wait for an operator, since their clients cannot ask anyone.

use std::sync::Mutex;

use super::{
    memory_journal::{MemoryJournal, MemoryRuns},
    workflows::beside,
    *,
};
use crate::approval::{
    ApprovalClosing, ApprovalContent, ApprovalDecision, ApprovalDesk, ApprovalState, DecisionOutcome,
    StoredApproval, memory::MemoryApprovals, suite,
};

const HALF_HOUR: Duration = Duration::from_secs(1800);

/// A gate whose approvals are in memory.
struct Stage {
    gate: Gate,
    store: Arc<MemoryApprovals>,
    /// Calls that were made.
    made: Arc<Mutex<Vec<Value>>>,
}

impl Stage {
    /// `a.smash` needs a person's consent; `b` calls `a`.
    fn new(open_for: Duration) -> Self {
        let made = Arc::<Mutex<Vec<Value>>>::default();
        let recorded = Arc::clone(&made);
        let target = puppet("a", move |call: Call| {
            let recorded = Arc::clone(&recorded);
            async move {
                recorded.lock().unwrap().push(json!([call.action, call.params]));
                Ok(Reply::data("done"))
            }
        });
        let caller = puppet("b", async |call: Call| call.session.invoke(request("a", "smash")).await);
        let gate = gate(vec![(caller, invoking(&["a:*"]))]);
        let mut slots = gate.catalog().snapshot().slots.clone();
        slots.insert("a".to_owned(), CatalogSlot::Serving(Arc::new(confirming(target))));
        gate.catalog().swap(slots);
        Self { made, ..Self::over(&gate, open_for, Arc::default()) }
    }

    /// A gate with the catalog of this one.
    fn over(gate: &Gate, open_for: Duration, store: Arc<MemoryApprovals>) -> Self {
        let desk = ApprovalDesk::new(Arc::clone(&store) as _, open_for, None);
        let stores = GateStores { approvals: Some(Arc::new(desk)), ..GateStores::default() };
        let gate = with_stores(gate, stores);
        Self { gate, store, made: Arc::default() }
    }

    /// A call that waits for its approval.
    async fn smash(&self, arguments: Value) -> Exec {
        let Value::Object(mut arguments) = arguments else { unreachable!() };
        arguments.insert("action".into(), "smash".into());
        waiting(tool(&self.gate, "a", arguments.into())).await
    }

    /// The approval that is open, once there is one.
    async fn open(&self) -> StoredApproval {
        loop {
            let last = self.store.stored().last().cloned();
            match last.filter(|stored| stored.decision.is_none() && stored.closed.is_none()) {
                Some(stored) => return stored,
                None => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
    }

    async fn decide(
        &self,
        stored: &StoredApproval,
        accepted: bool,
        answer: Option<Value>,
    ) -> DecisionOutcome {
        let decision = ApprovalDecision { accepted, answer, by: "test".to_owned(), at_ms: 1 };
        let desk = self.gate.approvals().unwrap();
        desk.decide(&stored.record.id, &stored.record.subject, decision).await.unwrap().unwrap()
    }

    fn made(&self) -> Vec<Value> {
        std::mem::take(&mut self.made.lock().unwrap())
    }
}

/// Follows a call until it waits for its approval.
async fn waiting(mut exec: Exec) -> Exec {
    loop {
        match exec.next().await {
            CallEvent::AwaitsApproval => return exec,
            CallEvent::Progress(_) => {}
            CallEvent::Asks(_) => panic!("it asks the client"),
            CallEvent::Done(envelope) => panic!("it ends: {}", json_of(*envelope)),
        }
    }
}

fn confirming(puppet: PuppetFacade) -> CatalogEntry {
    let terms = ActionPolicy { confirm: vec!["smash".into()], ..ActionPolicy::default() };
    entry_under(puppet, FacadeRules::default(), terms)
}

#[tokio::test]
async fn stores_in_memory_pass_the_suite() {
    suite::check(&MemoryApprovals::default()).await;
}

#[tokio::test(start_paused = true)]
async fn a_decision_ends_the_wait() {
    let stage = Stage::new(HALF_HOUR);
    for (accepted, expected) in
        [(true, Ok("done")), (false, Err(("denied", "access denied: an operator denied `smash`")))]
    {
        // What the model says about consent changes nothing.
        let exec = stage.smash(json!({"n": 7, "confirm": true})).await;
        let open = stage.open().await;
        let record = &open.record;
        assert_eq!((record.facade.as_str(), record.action.as_str()), ("a", "smash"));
        assert_eq!(record.question, "Run `smash` (destructive) with {\"n\":7}?");
        assert_eq!(record.content.arguments().map(|n| json!(n)), Some(json!({"n": 7})));
        assert_eq!(stage.made(), [] as [Value; 0], "nothing runs before");
        assert_eq!(stage.decide(&open, accepted, None).await, DecisionOutcome::Recorded);
        let reply = finish(exec).await;
        match expected {
            Ok(data) => assert_eq!((&reply["data"], stage.made().len()), (&json!(data), 1)),
            Err(expected) => assert_eq!((failed(&reply), stage.made().len()), (expected, 0)),
        }
        // It is used: it cannot be decided or used again.
        assert!(matches!(stage.decide(&open, true, None).await, DecisionOutcome::Refused(_)));
        assert_eq!(stage.store.stored().last().unwrap().closed, Some(ApprovalClosing::Used));
    }
}

#[tokio::test(start_paused = true)]
async fn each_call_has_an_approval_of_its_own() {
    let stage = Stage::new(HALF_HOUR);
    let first = stage.smash(json!({"n": 1})).await;
    let one = stage.open().await;
    let second = stage.smash(json!({"n": 1})).await;
    let third = stage.smash(json!({"n": 3})).await;
    while stage.store.stored().len() < 3 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let subjects: Vec<String> =
        stage.store.stored().iter().map(|stored| stored.record.subject.clone()).collect();
    assert!(subjects[0] != subjects[1] && subjects[1] != subjects[2]);
    stage.decide(&one, true, None).await;
    assert_eq!(finish(first).await["ok"], true);
    assert_eq!(stage.made(), [json!(["smash", {"n": 1}])], "the others still wait");
    drop((second, third));
}

#[tokio::test(start_paused = true)]
async fn a_run_shows_its_approvals_to_its_caller_alone() {
    for (accepted, expected) in [
        (Some(true), ApprovalState::Approved),
        (Some(false), ApprovalState::Denied),
        (None, ApprovalState::Expired),
    ] {
        let stage = Stage::new(Duration::from_secs(30));
        let exec = stage.smash(json!({"n": 7})).await;
        let envelope = exec.detach_as_run().unwrap();
        let id = RunId::from_client(envelope.run.as_deref().unwrap());
        let own = CallOrigin::local();
        let [open] = &stage.gate.find_run(&id, &own).unwrap().approvals()[..] else { panic!("one is open") };
        assert_eq!(
            (open.state, open.question.as_str()),
            (ApprovalState::Open, "Run `smash` (destructive) with {\"n\":7}?")
        );
        assert_eq!(json!(open.arguments), json!({"n": 7}));
        assert_eq!(open.expires_ms - open.opened_ms, 30_000);
        assert!(stage.gate.find_run(&id, &CallOrigin::anonymous()).is_err(), "not of others");
        if let Some(accepted) = accepted {
            stage.decide(&stage.open().await, accepted, None).await;
        }
        let run = stage.gate.find_run(&id, &own).unwrap();
        while run.outcome().is_none() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let [ended] = &run.approvals()[..] else { panic!("it is kept") };
        assert_eq!((&ended.id, ended.state, &ended.arguments), (&open.id, expected, &None));
    }
}

#[tokio::test(start_paused = true)]
async fn an_approval_that_is_not_decided_expires() {
    let stage = Stage::new(Duration::from_millis(20));
    let reply = finish(stage.smash(json!({})).await).await;
    assert_eq!(failed(&reply), ("timed_out", "timed out: an operator did not approve `smash` in time"));
    assert_eq!(reply["hint"], "make the call again if it is still wanted");
    assert_eq!(stage.store.stored()[0].closed, Some(ApprovalClosing::Expired));
    let late = stage.store.stored()[0].clone();
    assert!(matches!(stage.decide(&late, true, None).await, DecisionOutcome::Refused(_)));
    assert_eq!(stage.made(), [] as [Value; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_withdraws_its_approval() {
    let stage = Stage::new(HALF_HOUR);
    let exec = stage.smash(json!({})).await;
    let open = stage.open().await;
    drop(exec);
    while stage.store.stored()[0].closed.is_none() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(stage.store.stored()[0].state(1), ApprovalState::Withdrawn);
    assert!(matches!(stage.decide(&open, true, None).await, DecisionOutcome::Refused(_)));
    assert_eq!(stage.made(), [] as [Value; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_reload_between_question_and_answer_voids_the_decision() {
    let stage = Stage::new(HALF_HOUR);
    let exec = stage.smash(json!({})).await;
    let open = stage.open().await;
    let mut slots = stage.gate.catalog().snapshot().slots.clone();
    let other = confirming(puppet("a", async |_| Ok(Reply::data("another version"))));
    slots.insert("a".to_owned(), CatalogSlot::Serving(Arc::new(other)));
    stage.gate.catalog().swap(slots);
    stage.decide(&open, true, None).await;
    let reply = finish(exec).await;
    assert_eq!(
        failed(&reply),
        ("unavailable", "unavailable: `a` was changed while `smash` waited for approval, which is void now")
    );
    assert_eq!(stage.made(), [] as [Value; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_edited_approval_is_void() {
    type Edit = fn(&mut StoredApproval);
    let edits: [(&str, Edit); 4] = [
        ("arguments", |stored| stored.record.content = ApprovalContent::Call(Object::new())),
        ("caller", |stored| stored.record.caller = "ada".to_owned()),
        ("subject", |stored| stored.record.subject = "other".to_owned()),
        ("expiry", |stored| stored.record.expires_ms += 1),
    ];
    for (what, edit) in edits {
        let stage = Stage::new(HALF_HOUR);
        let exec = stage.smash(json!({"n": 7})).await;
        stage.open().await;
        {
            let mut all = stage.store.stored();
            edit(&mut all[0]);
            all[0].decision =
                Some(ApprovalDecision { accepted: true, answer: None, by: "x".to_owned(), at_ms: 1 });
        }
        let reply = finish(exec).await;
        let expected = ("denied", "access denied: the approval of `smash` is not valid for this call");
        assert_eq!((failed(&reply), stage.made().len()), (expected, 0), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_shows_that_it_waits() {
    let stage = Stage::new(HALF_HOUR);
    let exec = stage.smash(json!({})).await;
    let detached = json_of(exec.detach_as_run().unwrap());
    let id = stage.open().await.record.id;
    assert_eq!(
        detached["message"],
        "`smash` waits for a person's approval; `run_status` returns its state and result"
    );
    let run = &detached["data"]["run"];
    assert_eq!((&run["status"], &run["poll_after_ms"]), (&json!("waiting"), &json!(10_000)), "{run}");
    assert_eq!(
        run["waiting_for"],
        json!([format!("an operator must approve `smash` (approval {id})")]),
        "{run}"
    );
    let open = stage.open().await;
    stage.decide(&open, true, None).await;
    let status = json!({"action": "run_status", "run_id": run["id"], "wait": true});
    let ended = finish(tool(&stage.gate, "a", status)).await;
    assert_eq!(ended["data"]["run"]["status"], "succeeded", "{ended}");
}

#[tokio::test(start_paused = true)]
async fn nested_calls_name_those_that_led_to_them() {
    let stage = Stage::new(HALF_HOUR);
    let exec = waiting(tool(&stage.gate, "b", json!({"action": "smash"}))).await;
    let open = stage.open().await;
    assert_eq!((open.record.facade.as_str(), open.record.through.clone()), ("a", vec!["b.smash".to_owned()]));
    stage.decide(&open, true, None).await;
    assert_eq!(finish(exec).await["ok"], true);
}

#[tokio::test(start_paused = true)]
async fn a_person_confirms_for_themselves_and_a_client_that_asks_asks() {
    let stage = Stage::new(HALF_HOUR);
    let confirmed = json!({"action": "smash", "confirm": true});
    let Value::Object(arguments) = confirmed else { unreachable!() };
    let person = CallOrigin::local().by_person();
    let exec = stage.gate.call_tool(person, "a", arguments.clone()).unwrap();
    assert_eq!(finish(exec).await["ok"], true);
    let mut exec = stage.gate.call_tool(CallOrigin::local().with_elicitation(true), "a", arguments).unwrap();
    assert!(matches!(exec.next().await, CallEvent::Asks(_)));
    assert_eq!(stage.store.stored().len(), 0);
}

const FLOW: &str = "
name: settle
description: Asks, then settles.
steps:
  - {id: sure, type: elicitation, message: Which?, timeout: 10m, schema: {type: object, properties: {name: {type: string}}, required: [name]}}
  - {id: book, tool: a.touch, condition: '{{ eq .steps.sure.output.content.name \"tea\" }}', dependsOn: [sure]}
";

#[tokio::test(start_paused = true)]
async fn questions_of_workflows_are_answered_by_operators() {
    let journal = MemoryJournal::new(&MemoryRuns::default(), 1, usize::MAX);
    let made = Arc::<Mutex<Vec<Value>>>::default();
    let recorded = Arc::clone(&made);
    let target = puppet("a", move |call: Call| {
        recorded.lock().unwrap().push(json!(call.params));
        async { Ok(Reply::default()) }
    });
    let gate = beside(FLOW, 4, vec![target]);
    let store = Arc::<MemoryApprovals>::default();
    let desk = Arc::new(ApprovalDesk::new(Arc::clone(&store) as _, HALF_HOUR, None));
    let stores = GateStores { journal: Some(journal), approvals: Some(desk), ..GateStores::default() };
    let gate = with_stores(&gate, stores);
    let stage = Stage { gate, store, made };
    for (answer, expected) in [(Some(json!({"name": "tea"})), true), (None, false)] {
        let exec = waiting(stage.gate.start(CallOrigin::local(), request("flow", "settle"))).await;
        let open = stage.open().await;
        assert_eq!(open.record.question, "Which?");
        assert!(matches!(&open.record.content, ApprovalContent::Form(_)));
        assert_eq!(open.record.expires_ms - open.record.opened_ms, 600_000, "the question's own time");
        let unfit = ApprovalDecision { accepted: true, answer: None, by: "x".into(), at_ms: 1 };
        let desk = stage.gate.approvals().unwrap();
        let refused = desk.decide(&open.record.id, &open.record.subject, unfit).await.unwrap();
        assert!(refused.unwrap_err().to_string().contains("does not fit"));
        stage.decide(&open, answer.is_some(), answer).await;
        let reply = finish(exec).await;
        assert_eq!((reply["ok"] == true, stage.made().len()), (expected, usize::from(expected)), "{reply}");
    }
}
