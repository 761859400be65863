//! Guards of calls: what they change, and that nothing passes one that fails.

use std::sync::Mutex;

use futures_util::future::BoxFuture;
use loggia_facade::{CallGuard, Content, GuardVerdict, GuardedCall};
use loggia_policy::model::BreakerConfig;

use super::{
    memory_journal::{MemoryJournal, MemoryRuns},
    spans::KeptSpans,
    *,
};
use crate::{
    access::CallerKeys,
    guard::{GuardPost, GuardReach, GuardRoster, GuardRule, GuardState},
};

/// What a guard does.
#[derive(Clone, Copy)]
enum Deed {
    Allow,
    Refuse,
    /// Adds one to `n`, or marks a text by the guard's name.
    Change,
    /// Gives this text.
    Give(&'static str),
    Fault,
    Hang,
}

struct FakeGuard {
    name: &'static str,
    before: Deed,
    after: Deed,
    /// What it was shown.
    seen: Arc<Mutex<Vec<String>>>,
}

impl FakeGuard {
    fn verdict(
        &self,
        deed: Deed,
        change: impl Fn() -> String,
    ) -> BoxFuture<'static, Result<GuardVerdict, Fault>> {
        let verdict = match deed {
            Deed::Allow => Ok(GuardVerdict::Allow),
            Deed::Refuse => {
                Ok(GuardVerdict::Refuse(Failure::new("denied", format!("{} says no", self.name))))
            }
            Deed::Change => Ok(GuardVerdict::Replace(change())),
            Deed::Give(text) => Ok(GuardVerdict::Replace(text.to_owned())),
            Deed::Fault => Err(Fault {
                log: Some("more of hunter2".to_owned()),
                ..Fault::new(FaultKind::Panic, self.name, "it quotes hunter2")
            }),
            Deed::Hang => return std::future::pending().boxed(),
        };
        std::future::ready(verdict).boxed()
    }
}

impl CallGuard for FakeGuard {
    fn origin(&self) -> &str {
        "sha256:0"
    }

    fn before(self: Arc<Self>, call: Arc<GuardedCall>) -> BoxFuture<'static, Result<GuardVerdict, Fault>> {
        let GuardedCall { facade, action, params, scope, .. } = &*call;
        let known = if scope.is_some() { " known" } else { "" };
        self.seen.lock().unwrap().push(format!("{} before {facade}.{action} {params}{known}", self.name));
        let n = serde_json::from_str::<Value>(params).unwrap()["n"].as_u64().unwrap_or_default();
        self.verdict(self.before, || json!({ "n": n + 1 }).to_string())
    }

    fn after(
        self: Arc<Self>,
        call: Arc<GuardedCall>,
        outcome: String,
    ) -> BoxFuture<'static, Result<GuardVerdict, Fault>> {
        let GuardedCall { facade, action, params, .. } = &*call;
        self.seen.lock().unwrap().push(format!("{} after {facade}.{action} {params}: {outcome}", self.name));
        self.verdict(self.after, || outcome.replace("hunter2", self.name))
    }
}

/// Guards, and what they were shown.
#[derive(Default)]
struct Guards {
    posts: Vec<Arc<GuardPost>>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Guards {
    fn of(guards: &[(&'static str, &str, Deed, Deed)]) -> Self {
        let mut all = Self::default();
        for &(name, facades, before, after) in guards {
            all.add((name, 0, facades), (before, after), None);
        }
        all
    }

    fn add(
        &mut self,
        (name, order, facades): (&'static str, usize, &str),
        (before, after): (Deed, Deed),
        keys: Option<CallerKeys>,
    ) {
        let facades = match facades {
            "*" => GuardReach::All,
            names => GuardReach::Named(names.split(' ').map(str::to_owned).collect()),
        };
        let rule = GuardRule { name: name.to_owned(), facades, order, before: true, after: true };
        let post = GuardPost::new(rule, keys);
        let seen = Arc::clone(&self.seen);
        post.set(GuardState::Ready(Arc::new(FakeGuard { name, before, after, seen })));
        self.posts.push(Arc::new(post));
    }

    fn stores(&self) -> GateStores {
        GateStores { guards: Some(Arc::new(GuardRoster::new(self.posts.clone()))), ..GateStores::default() }
    }

    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

/// A secret in every part of a result.
fn secret_reply(n: &Value) -> Reply {
    let content = Content { block: loggia_facade::Block::Text("hunter2".into()), extras: Object::new() };
    Reply {
        message: Some(format!("hunter2 {n}")),
        content: vec![content],
        ..Reply::data(json!({"text": "hunter2"}))
    }
}

/// A facade that tells secrets, and counts its calls.
fn secretive(name: &str, calls: &Arc<Mutex<usize>>) -> PuppetFacade {
    let calls = Arc::clone(calls);
    puppet(name, move |call: Call| {
        *calls.lock().unwrap() += 1;
        let progress = Progress { done: 1.0, total: None, message: Some("hunter2".into()) };
        call.session.progress(progress);
        call.session.log(loggia_facade::LogLevel::Info, "hunter2");
        async move {
            match call.action.as_str() {
                "smash" => Err(Stop::Failure(Failure {
                    details: Some(json!("hunter2")),
                    ..Failure::new("conflict", "hunter2")
                })),
                _ => Ok(secret_reply(&call.params["n"])),
            }
        }
    })
}

fn stage(guards: &Guards) -> (Gate, Arc<Mutex<usize>>) {
    let calls = Arc::default();
    let gate = one(secretive("a", &calls));
    (with_stores(&gate, guards.stores()), calls)
}

const NO: Deed = Deed::Allow;

#[tokio::test]
async fn guards_look_in_order_and_see_changes() {
    let mut guards =
        Guards::of(&[("two", "*", Deed::Change, Deed::Change), ("one", "a b", Deed::Change, NO)]);
    guards.add(("first", 0, "b"), (Deed::Refuse, Deed::Refuse), None);
    guards.add(("zero", 9, "*"), (NO, NO), None);
    let (gate, _) = stage(&guards);
    let envelope = finish(tool(&gate, "a", json!({"action": "look", "n": 5}))).await;
    assert_eq!(
        envelope,
        json!({
            "ok": true, "action": "look", "data": {"text": "two"}, "message": "two 7", "resolved_inputs": {"n": 7}
        })
    );
    let outcome = |text: &str| {
        json!({"reply": {
            "data": {"text": text}, "message": format!("{text} 7"),
            "content": [{"block": 0, "type": "text", "text": text}]
        }})
        .to_string()
    };
    assert_eq!(
        guards.seen(),
        [
            r#"one before a.look {"n":5}"#.to_owned(),
            r#"two before a.look {"n":6}"#.to_owned(),
            r#"zero before a.look {"n":7}"#.to_owned(),
            format!(r#"one after a.look {{"n":7}}: {}"#, outcome("hunter2")),
            format!(r#"two after a.look {{"n":7}}: {}"#, outcome("hunter2")),
            format!(r#"zero after a.look {{"n":7}}: {}"#, outcome("two")),
        ]
    );
}

#[tokio::test]
async fn nothing_passes_a_guard_that_refuses_or_fails() {
    let before = "unavailable: the guard `g` of `a.touch` failed; the call was not made";
    let after = "unavailable: the guard `g` of `a.touch` failed; the result is withheld";
    let ran = "the action was run: check what it did before calling it again";
    for (deeds, code, message, hint, calls) in [
        ((Deed::Refuse, NO), "denied", "g says no", "", 0),
        ((NO, Deed::Refuse), "denied", "g says no", ran, 1),
        ((Deed::Fault, NO), "unavailable", before, "the server's log", 0),
        ((NO, Deed::Fault), "unavailable", after, ran, 1),
        ((Deed::Give("[1]"), NO), "unavailable", before, "the server's log", 0),
        ((Deed::Give("{"), NO), "unavailable", before, "the server's log", 0),
        ((Deed::Give(r#"{"n": "x"}"#), NO), "unavailable", before, "the server's log", 0),
        ((Deed::Give(r#"{"m": 1}"#), NO), "unavailable", before, "the server's log", 0),
        ((NO, Deed::Give("{}")), "unavailable", after, ran, 1),
        ((NO, Deed::Give(r#"{"failure": {"code": "x", "message": "y"}}"#)), "unavailable", after, ran, 1),
    ] {
        let guards = Guards::of(&[("g", "a", deeds.0, deeds.1)]);
        let (gate, made) = stage(&guards);
        let envelope = finish(tool(&gate, "a", json!({"action": "touch", "n": 1}))).await;
        let text = |key: &str| envelope[key].as_str().unwrap_or_default().to_owned();
        assert_eq!((&*text("code"), &*text("error")), (code, message));
        assert!(text("hint").starts_with(hint), "{envelope}");
        assert_eq!(
            (&envelope["details"], *made.lock().unwrap()),
            (&json!({"guard": "g"}), calls),
            "{envelope}"
        );
        assert!(!envelope.to_string().contains("hunter2"), "{envelope}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_is_not_loaded_blocks_its_facades() {
    let (gate, calls) = {
        let rule = |name: &str, before| GuardRule {
            name: name.to_owned(),
            facades: GuardReach::Named(["a".to_owned()].into()),
            order: 0,
            before,
            after: !before,
        };
        let posts = vec![Arc::new(GuardPost::new(rule("g", false), None))];
        let calls = Arc::<Mutex<usize>>::default();
        let gate = gate(vec![
            (secretive("a", &calls), FacadeRules::default()),
            (puppet("b", async |_| Ok(Reply::data(1))), FacadeRules::default()),
        ]);
        let roster = Arc::new(GuardRoster::new(posts));
        (with_stores(&gate, GateStores { guards: Some(roster), ..GateStores::default() }), calls)
    };
    let look = async || finish(tool(&gate, "a", json!({"action": "look"}))).await;
    let blocked = "unavailable: the guard `g` of `a.look` is not loaded; the call was not made";
    assert_eq!(look().await["error"], blocked, "after the time that a call waits");
    let post = Arc::clone(&gate.guards().unwrap().posts()[0]);
    let waiting = tokio::spawn({
        let call = tool(&gate, "a", json!({"action": "look"}));
        finish(call)
    });
    let loaded = || {
        let seen = Arc::default();
        GuardState::Ready(Arc::new(FakeGuard { name: "g", before: NO, after: Deed::Change, seen }))
    };
    post.set(loaded());
    assert_eq!(waiting.await.unwrap()["data"], json!({"text": "g"}), "it waited for the guard");
    post.set(GuardState::Failed);
    assert_eq!(look().await["error"], blocked);
    assert_eq!(*calls.lock().unwrap(), 1, "a guard of results alone is needed before the call");
    assert_eq!(finish(tool(&gate, "b", json!({"action": "look"}))).await["data"], 1);
}

#[tokio::test]
async fn failures_of_the_facade_pass_guards_too() {
    let guards = Guards::of(&[("g", "*", NO, Deed::Change)]);
    let (gate, _) = stage(&guards);
    let envelope = finish(tool(&gate, "a", json!({"action": "smash"}))).await;
    assert_eq!((&envelope["code"], &envelope["error"]), (&json!("conflict"), &json!("g")));
    assert_eq!(envelope["details"], json!("g"));
}

#[tokio::test]
async fn nested_calls_and_hops_are_guarded() {
    let guards = Guards::of(&[("g", "a", NO, Deed::Change)]);
    let calls = Arc::default();
    let relays = puppet("b", async |call: Call| {
        let mut reply = call.session.invoke(request("a", "look")).await?;
        if call.action == "touch" {
            reply.next = Some(loggia_facade::Next {
                facade: "a".into(),
                action: "look".into(),
                params: Object::new(),
                reason: None,
            });
        }
        Ok(reply)
    });
    let rules = FacadeRules { chain: ChainRule::Follow, ..invoking(&["a:*"]) };
    let gate = gate(vec![(secretive("a", &calls), FacadeRules::default()), (relays, rules)]);
    let gate = with_stores(&gate, guards.stores());
    for arguments in [json!({"action": "look"}), json!({"action": "touch"})] {
        let envelope = finish(tool(&gate, "b", arguments)).await.to_string();
        assert!(envelope.contains(r#"{"text":"g"}"#) && !envelope.contains("hunter2"), "{envelope}");
    }
    assert_eq!(guards.seen().len(), 2 * *calls.lock().unwrap());
}

#[tokio::test]
async fn items_of_batches_are_guarded() {
    let guards = Guards::of(&[("g", "a", NO, Deed::Change)]);
    let terms = ActionPolicy { batch: true, ..ActionPolicy::default() };
    let gate = gate_under(secretive("a", &Arc::default()), FacadeRules::default(), terms);
    let gate = with_stores(&gate, guards.stores());
    let items = json!({"action": "batch", "items": [{"action": "look"}, {"action": "smash"}]});
    let envelope = finish(tool(&gate, "a", items)).await.to_string();
    assert!(envelope.contains(r#"{"text":"g"}"#) && !envelope.contains("hunter2"), "{envelope}");
    assert_eq!(guards.seen().len(), 4);
}

/// What clients see of a run, and what is recorded of it.
#[tokio::test]
async fn runs_and_journals_hold_guarded_results() {
    let guards = Guards::of(&[("g", "*", Deed::Change, Deed::Change)]);
    let runs = MemoryRuns::default();
    let gate = one(secretive("a", &Arc::default()));
    let stores = GateStores { journal: Some(MemoryJournal::new(&runs, 1, usize::MAX)), ..guards.stores() };
    let gate = with_stores(&gate, stores);
    let exec = tool(&gate, "a", json!({"action": "dig", "n": 4, "wait": false}));
    exec.persist().await;
    let begun = json_of(exec.detach_as_run().unwrap());
    let id = begun["data"]["run"]["id"].as_str().unwrap().to_owned();
    let status = json!({"action": "run_status", "run_id": id, "wait": true, "include_trace": true});
    let ended = finish(tool(&gate, "a", status)).await;
    let run = &ended["data"]["run"];
    assert_eq!((&run["result"]["data"], &run["result"]["message"]), (&json!({"text": "g"}), &json!("g 5")));
    assert_eq!(run["result"]["resolved_inputs"], json!({"n": 5}));
    assert!(run["progress"].get("message").is_none(), "no guard saw it: {run}");
    assert!(!ended.to_string().contains("hunter2"), "{ended}");
    for run in runs.lock().unwrap().iter() {
        for recorded in run.entries.iter().chain(&run.outcome) {
            assert!(!String::from_utf8_lossy(recorded).contains("hunter2"));
        }
        assert!(run.outcome.is_some());
    }
}

#[tokio::test]
async fn a_person_consents_to_replaced_parameters() {
    let guards = Guards::of(&[("g", "*", Deed::Change, NO)]);
    let terms = ActionPolicy { confirm: vec!["touch".into()], ..ActionPolicy::default() };
    let gate = gate_under(secretive("a", &Arc::default()), FacadeRules::default(), terms);
    let gate = with_stores(&gate, guards.stores());
    let Value::Object(arguments) = json!({"action": "touch", "n": 4}) else { unreachable!() };
    let origin = CallOrigin::local().with_elicitation(true);
    let mut exec = gate.call_tool(origin, "a", arguments).unwrap();
    let envelope = loop {
        match exec.next().await {
            CallEvent::Done(envelope) => break json_of(*envelope),
            CallEvent::Asks(asks) => {
                for (key, question) in &asks {
                    assert!(question.message.contains(r#"with {"n":5}?"#), "{}", question.message);
                    exec.answer(key, Answer::Accepted(json!({"confirm": true})));
                }
            }
            CallEvent::Progress(_) | CallEvent::AwaitsApproval => {}
        }
    };
    assert_eq!(envelope["message"], "hunter2 5");
    assert_eq!(guards.seen()[0], r#"g before a.touch {"n":4}"#);
}

#[tokio::test(start_paused = true)]
async fn a_hanging_guard_does_not_charge_the_facade() {
    let breaker = BreakerConfig { faults: 1, ..FacadeRules::default().breaker };
    let rules = FacadeRules { breaker, ..FacadeRules::default() };
    for deeds in [(Deed::Hang, NO), (NO, Deed::Hang)] {
        let guards = Guards::of(&[("g", "*", deeds.0, deeds.1)]);
        let gate = gate(vec![(secretive("a", &Arc::default()), rules.clone())]);
        let gate = with_stores(&gate, guards.stores());
        let envelope = finish(tool(&gate, "a", json!({"action": "look"}))).await;
        assert_eq!(envelope["code"], "timed_out");
        assert!(!envelope.to_string().contains("hunter2"), "{envelope}");
        assert_eq!(gate.snapshot().facades[0].1.breaker, 0, "it is closed");
    }
}

#[tokio::test]
async fn a_guard_knows_callers_only_if_granted() {
    let mut guards = Guards::of(&[("g", "*", NO, NO)]);
    guards.add(("k", 1, "*"), (NO, NO), Some(CallerKeys::new([7; 32])));
    let (gate, _) = stage(&guards);
    call(&gate, request("a", "look")).await;
    let seen = guards.seen();
    assert_eq!(&seen[..2], [r#"g before a.look {"n":1}"#, r#"k before a.look {"n":1} known"#]);
    let post = gate.guards().unwrap().posts()[1].clone();
    let own = post.scope_of(&crate::access::Caller::Local).unwrap();
    assert_ne!(Some(own), CallerKeys::new([7; 32]).key_for(&crate::access::Caller::Local, "k"));
}

#[tokio::test]
async fn looks_are_counted_and_are_spans() {
    let guards = Guards::of(&[
        ("allows", "*", NO, Deed::Change),
        ("fails", "*", NO, Deed::Fault),
        ("refuses", "*", Deed::Refuse, NO),
    ]);
    guards.posts[1].set(GuardState::Failed);
    let spans = Arc::new(KeptSpans::default());
    let stores = GateStores { spans: Some(spans.clone()), ..guards.stores() };
    let gate = with_stores(&one(secretive("a", &Arc::default())), stores);
    finish(tool(&gate, "a", json!({"action": "look"}))).await;
    guards.posts[1].set(GuardState::Ready(Arc::new(FakeGuard {
        name: "fails",
        before: NO,
        after: Deed::Fault,
        seen: Arc::default(),
    })));
    finish(tool(&gate, "a", json!({"action": "look"}))).await;
    guards.posts[2].set(GuardState::Ready(Arc::new(FakeGuard {
        name: "refuses",
        before: NO,
        after: NO,
        seen: Arc::default(),
    })));
    finish(tool(&gate, "a", json!({"action": "look"}))).await;
    let posts = guards.posts.iter();
    let looks = posts.map(|post| {
        let looks = post.looks().filter(|(_, count)| *count > 0);
        let looks = looks.map(|(look, count)| format!("{} {count}", look.as_str())).collect::<Vec<_>>();
        format!("{}: {}", post.rule.name, looks.join(", "))
    });
    insta::assert_snapshot!(format!("{}\n\n{}", looks.collect::<Vec<_>>().join("\n"), spans.tree()));
}
