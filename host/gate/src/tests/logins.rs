//! Logins that a call needs first.

use std::sync::Mutex;

use futures_util::future::BoxFuture;
use loggia_facade::ScopeKey;
use tokio::sync::watch;

use super::*;
use crate::access::{Caller, CallerKeys, CallerLogins, LoginPreview, LoginRefusal, LoginStep, PendingLogin};

const LINK: &str = "https://auth.example/authorize?state=1";
const CODE: &str = "10AB-CDEF";

/// An authorization server: one login, which all callers share.
struct Server {
    needs_code: bool,
    step: watch::Sender<LoginStep>,
    tries: Mutex<u8>,
}

impl Server {
    fn new(needs_code: bool) -> Arc<Self> {
        Arc::new(Self { needs_code, step: watch::Sender::new(LoginStep::Open), tries: Mutex::new(2) })
    }

    /// What happens at the link.
    fn becomes(&self, step: LoginStep) {
        self.step.send_replace(step);
    }

    fn is_done(&self) -> bool {
        *self.step.borrow() == LoginStep::Done
    }
}

struct Pending(bool, watch::Receiver<LoginStep>);

impl PendingLogin for Pending {
    fn link(&self) -> &str {
        LINK
    }

    fn needs_code(&self) -> bool {
        self.0
    }

    fn step(&self) -> LoginStep {
        self.1.borrow().clone()
    }

    fn wait_beyond<'a>(&'a self, step: &'a LoginStep) -> BoxFuture<'a, LoginStep> {
        let mut steps = self.1.clone();
        async move { steps.wait_for(|now| now != step).await.unwrap().clone() }.boxed()
    }
}

struct Logins(Arc<Server>);

impl CallerLogins for Logins {
    fn require(
        &self,
        _: &Caller,
        _: &ScopeKey,
    ) -> BoxFuture<'static, Result<Option<Box<dyn PendingLogin>>, Failure>> {
        let pending = Pending(self.0.needs_code, self.0.step.subscribe());
        let pending = (!self.0.is_done()).then(|| Box::new(pending) as Box<dyn PendingLogin>);
        async { Ok(pending) }.boxed()
    }

    fn preview(&self, _: &Caller, _: &ScopeKey) -> Option<LoginPreview> {
        let needs_code = self.0.needs_code;
        match *self.0.step.borrow() {
            LoginStep::Done => None,
            LoginStep::NeedsCode => Some(LoginPreview::Code),
            _ if needs_code => Some(LoginPreview::Link { link: LINK.to_owned(), needs_code }),
            _ => Some(LoginPreview::Later),
        }
    }

    fn redeem(&self, _: &Caller, _: &ScopeKey, code: &str) -> BoxFuture<'static, Result<(), LoginRefusal>> {
        let mut tries = self.0.tries.lock().unwrap();
        let redeemed = match *self.0.step.borrow() {
            LoginStep::NeedsCode if code == CODE => Ok(()),
            LoginStep::NeedsCode if *tries > 1 => {
                *tries -= 1;
                Err(LoginRefusal::Wrong(*tries))
            }
            LoginStep::NeedsCode => Err(LoginRefusal::Ended("too many wrong codes".to_owned())),
            _ => Err(LoginRefusal::Unasked),
        };
        if redeemed.is_ok() {
            self.0.becomes(LoginStep::Done);
        }
        async { redeemed }.boxed()
    }
}

/// A gate whose facade needs a login at this server. Its policy lets it ask nothing.
fn gate_at(server: &Arc<Server>) -> Gate {
    let gate = gate(Vec::new());
    let shop = entry(puppet("shop", async |_| Ok(Reply::data("bought"))), FacadeRules::default());
    let mut shop = shop
        .with_caller_keys(Some(CallerKeys::new([1; 32])))
        .with_logins(Some(Arc::new(Logins(Arc::clone(server)))));
    if server.needs_code {
        shop.contract = shop.contract.with_login_codes().unwrap();
    }
    gate.catalog().swap(BTreeMap::from([("shop".to_owned(), CatalogSlot::Serving(Arc::new(shop)))]));
    gate
}

fn ada() -> CallOrigin {
    CallOrigin::named("ada", CallerRights::all())
}

fn look(gate: &Gate, origin: CallOrigin, more: Value) -> Exec {
    let Value::Object(mut arguments) = json!({"action": "look"}) else { unreachable!() };
    let Value::Object(more) = more else { unreachable!() };
    arguments.extend(more);
    gate.call_tool(origin, "shop", arguments).unwrap()
}

/// The next question of a call, with its key.
async fn asked(exec: &mut Exec) -> (String, Question) {
    match exec.next().await {
        CallEvent::Asks(asks) => asks.into_iter().next().unwrap(),
        CallEvent::Done(envelope) => panic!("it does not ask: {}", json_of(*envelope)),
        CallEvent::Progress(_) | CallEvent::AwaitsApproval => panic!("it asks"),
    }
}

/// What a caller reads.
fn texts(envelope: &Value) -> String {
    let text = |key: &str| envelope[key].as_str().unwrap_or_default().to_owned();
    format!("{}\n{}\n{}", text("code"), text("error"), text("hint"))
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_the_login() {
    let server = Server::new(false);
    let gate = gate_at(&server);
    let mut exec = look(&gate, CallOrigin::local().with_links(true), json!({}));
    let (key, question) = asked(&mut exec).await;
    assert_eq!(
        question.message,
        "[shop, link to auth.example] Log in to use `shop`. The call goes on once you have."
    );
    assert_eq!(question.kind, QuestionKind::Link { url: LINK.to_owned() });
    assert!(exec.answer(&key, Answer::Accepted(Value::Null)));
    // Longer than the wall clock: the call is parked.
    let waits = tokio::time::timeout(Duration::from_secs(120), exec.next()).await;
    assert!(waits.is_err());
    server.becomes(LoginStep::Done);
    assert_eq!(finish(exec).await["data"], "bought");
    // Nothing is asked again.
    assert_eq!(finish(look(&gate, CallOrigin::local(), json!({}))).await["data"], "bought");
}

#[tokio::test(start_paused = true)]
async fn a_login_that_ends_closes_its_question() {
    for (step, expected) in [
        (LoginStep::Done, "bought"),
        (
            LoginStep::Failed("the person\nrefused".to_owned()),
            "access denied: the login to `shop` failed: the person refused",
        ),
    ] {
        let server = Server::new(false);
        let mut exec = look(&gate_at(&server), CallOrigin::local().with_links(true), json!({}));
        let (key, _) = asked(&mut exec).await;
        server.becomes(step);
        exec.question_closed(key).await;
        let envelope = finish(exec).await;
        assert_eq!(envelope["data"].as_str().unwrap_or(failed(&envelope).1), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_login_the_caller_gets_the_link() {
    let mut seen = Vec::new();
    for needs_code in [false, true] {
        let server = Server::new(needs_code);
        let gate = gate_at(&server);
        seen.push(texts(&finish(look(&gate, ada(), json!({}))).await));
        // Nobody answers.
        let mut exec = look(&gate, ada().with_links(true), json!({}));
        asked(&mut exec).await;
        let CallEvent::Done(envelope) = exec.next().await else { panic!("it ends") };
        seen.push(texts(&json_of(*envelope)));
        // The person is on the way, and does not arrive.
        let mut exec = look(&gate, ada().with_links(true), json!({}));
        let (key, _) = asked(&mut exec).await;
        exec.answer(&key, Answer::Accepted(Value::Null));
        let CallEvent::Done(envelope) = exec.next().await else { panic!("it ends") };
        let envelope = json_of(*envelope);
        assert_eq!(envelope["details"], json!({ "link": LINK }));
        assert_eq!(Some(&texts(&envelope)), seen.last());
        seen.push(texts(&finish(look(&gate, ada().with_links(true), json!({}))).await));
    }
    insta::assert_snapshot!(seen.join("\n\n"));
}

#[tokio::test(start_paused = true)]
async fn the_person_enters_the_code_in_the_call() {
    let server = Server::new(true);
    let gate = gate_at(&server);
    let mut exec = look(&gate, ada().with_links(true).with_elicitation(true), json!({}));
    let mut messages = Vec::new();
    let (key, question) = asked(&mut exec).await;
    messages.push(question.message);
    exec.answer(&key, Answer::Accepted(Value::Null));
    server.becomes(LoginStep::NeedsCode);
    for code in ["wrong", CODE] {
        let (key, question) = asked(&mut exec).await;
        messages.push(question.message);
        assert!(matches!(question.kind, QuestionKind::Form { .. }));
        exec.answer(&key, Answer::Accepted(json!({ "code": code })));
    }
    assert_eq!(finish(exec).await["data"], "bought");
    insta::assert_snapshot!(messages.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn a_form_closes_when_another_call_logs_in() {
    let server = Server::new(true);
    let gate = gate_at(&server);
    server.becomes(LoginStep::NeedsCode);
    let mut exec = look(&gate, ada().with_elicitation(true), json!({}));
    let (key, _) = asked(&mut exec).await;
    let other = look(&gate, ada(), json!({"login_code": CODE}));
    assert_eq!(finish(other).await["data"], "bought");
    exec.question_closed(key).await;
    assert_eq!(finish(exec).await["data"], "bought");
}

#[tokio::test(start_paused = true)]
async fn codes_are_sent_with_a_call() {
    let server = Server::new(true);
    let gate = gate_at(&server);
    let mut seen = Vec::new();
    let early = finish(look(&gate, ada(), json!({"login_code": CODE}))).await;
    seen.push(texts(&early));
    server.becomes(LoginStep::NeedsCode);
    for more in [json!({}), json!({"login_code": "wrong"}), json!({"login_code": "wrong"})] {
        seen.push(texts(&finish(look(&gate, ada(), more)).await));
    }
    insta::assert_snapshot!(seen.join("\n\n"));
    assert_eq!(finish(look(&gate, ada(), json!({"login_code": CODE}))).await["data"], "bought");
}

#[tokio::test(start_paused = true)]
async fn unauthenticated_callers_reach_the_facade() {
    let gate = gate_at(&Server::new(true));
    let exec = look(&gate, CallOrigin::anonymous().with_links(true), json!({}));
    assert_eq!(finish(exec).await["data"], "bought", "the facade itself refuses the call");
}

#[tokio::test(start_paused = true)]
async fn a_facade_may_vanish_during_the_login() {
    let server = Server::new(false);
    let gate = gate_at(&server);
    let mut exec = look(&gate, CallOrigin::local().with_links(true), json!({}));
    asked(&mut exec).await;
    gate.catalog().swap(BTreeMap::new());
    server.becomes(LoginStep::Done);
    assert_eq!(failed(&finish(exec).await), ("unavailable", "`shop` is no longer served"));
}

/// H96.
#[tokio::test(start_paused = true)]
async fn facades_cannot_send_codes() {
    let server = Server::new(true);
    server.becomes(LoginStep::NeedsCode);
    let gate = gate_at(&server);
    let snapshot = gate.catalog().snapshot();
    let Some(CatalogSlot::Serving(shop)) = snapshot.slots.get("shop") else { panic!("it is served") };
    let asks = puppet("a", async |call: Call| {
        let params = json!({"login_code": CODE}).as_object().unwrap().clone();
        let input = Input::Action { action: "look".into(), params, detail: Detail::Standard };
        call.session.invoke(Request { input, ..request("shop", "look") }).await
    });
    let slots = [
        ("shop".to_owned(), CatalogSlot::Serving(Arc::clone(shop))),
        ("a".to_owned(), CatalogSlot::Serving(Arc::new(entry(asks, invoking(&["shop:*"]))))),
    ];
    gate.catalog().swap(BTreeMap::from(slots));
    let envelope = finish(gate.start(ada(), request("a", "look"))).await;
    assert_eq!(failed(&envelope), ("denied", "access denied: the login to `shop` waits for its code"));
    assert!(!server.is_done());
}

#[tokio::test(start_paused = true)]
async fn descriptions_tell_of_logins() {
    let mut seen = Vec::new();
    for needs_code in [false, true] {
        let server = Server::new(needs_code);
        let gate = gate_at(&server);
        let describe = |origin: CallOrigin| {
            let arguments = json!({"action": "describe"}).as_object().unwrap().clone();
            finish(gate.call_tool(origin, "shop", arguments).unwrap())
        };
        seen.push(format!("{:#}", describe(ada()).await["data"]["login"]));
        server.becomes(LoginStep::NeedsCode);
        seen.push(format!("{:#}", describe(ada()).await["data"]["login"]));
        assert_eq!(describe(CallOrigin::anonymous()).await["data"].get("login"), None);
        server.becomes(LoginStep::Done);
        assert_eq!(describe(ada()).await["data"].get("login"), None);
    }
    insta::assert_snapshot!(seen.join("\n"));
}
