//! Questions that are links.

use super::*;

const URL: &str = "https://a.example/connect?id=1";

fn forms_only() -> CallOrigin {
    CallOrigin::local().with_elicitation(true)
}

fn browser() -> CallOrigin {
    CallOrigin::local().with_links(true)
}

/// A gate whose facade asks to open this link, and replies with the answer.
fn asks_for(url: &'static str, rules: FacadeRules) -> Gate {
    let asks = puppet("a", move |call: Call| async move {
        let answer = call.session.elicit(Question::link("Sign\nin", url)).await?;
        Ok(Reply::data(format!("{answer:?}")))
    });
    gate(vec![(asks, rules)])
}

fn may_ask() -> FacadeRules {
    FacadeRules { elicit: true, ..FacadeRules::default() }
}

#[tokio::test(start_paused = true)]
async fn answers_to_links_have_no_content() {
    for (answer, expected) in [
        (Answer::Accepted(json!({})), "Accepted(Null)"),
        (Answer::Accepted(json!({"token": "x"})), "Accepted(Null)"),
        (Answer::Declined, "Declined"),
        (Answer::Cancelled, "Cancelled"),
    ] {
        let gate = asks_for("https://A.example/connect?id=1", may_ask());
        let mut exec = gate.start(browser(), request("a", "look"));
        let CallEvent::Asks(asks) = exec.next().await else { panic!("it asks") };
        let (key, question) = asks.first_key_value().unwrap();
        assert_eq!(question.message, "[a, link to a.example] Sign in");
        assert_eq!(question.kind, QuestionKind::Link { url: URL.to_owned() });
        // Longer than the wall clock: the call is parked.
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert!(exec.answer(key, answer));
        assert_eq!(finish(exec).await["data"], expected);
    }
}

#[tokio::test]
async fn clients_without_links_pass_them_on() {
    for origin in [forms_only(), CallOrigin::local()] {
        let mut exec = asks_for(URL, may_ask()).start(origin, request("a", "look"));
        let CallEvent::Done(envelope) = exec.next().await else { panic!("it does not ask") };
        let envelope = json_of(*envelope);
        let message = "access denied: the person has to open a link first, which this client cannot show: \
                       https://a.example/connect?id=1";
        assert_eq!(failed(&envelope), ("denied", message));
        assert_eq!(envelope["details"], json!({ "link": URL }));
        let hint = "give the person the link; once they are done there, make the same call again. \
                    The question: [a, link to a.example] Sign in";
        assert_eq!(envelope["hint"], hint);
    }
}

#[tokio::test]
async fn links_obey_the_rules_of_questions() {
    for (url, rules, code, message) in [
        (URL, FacadeRules::default(), "denied", "access denied: the policy does not let `a` ask the person"),
        (
            URL,
            FacadeRules { questions: 0, ..may_ask() },
            "denied",
            "access denied: a call of `a` may ask 0 questions at most",
        ),
        (
            "http://a.example",
            may_ask(),
            "invalid_params",
            "the question's link cannot be shown: it must be https, or http to this machine",
        ),
    ] {
        for origin in [browser(), forms_only()] {
            let exec = asks_for(url, rules.clone()).start(origin, request("a", "look"));
            assert_eq!(failed(&finish(exec).await), (code, message));
        }
    }
}

#[tokio::test]
async fn forms_are_not_asked_by_links() {
    let asks = puppet("a", async |call: Call| {
        call.session.elicit(Question::form("Sure?", Object::new())).await?;
        Ok(Reply::default())
    });
    let exec = gate(vec![(asks, may_ask())]).start(browser(), request("a", "look"));
    assert_eq!(
        failed(&finish(exec).await),
        ("unavailable", "unavailable: this client cannot ask the person")
    );
}

#[tokio::test]
async fn the_status_of_a_run_shows_links() {
    let gate = asks_for(URL, may_ask());
    let mut exec = gate.start(browser(), request("a", "dig"));
    assert!(matches!(exec.next().await, CallEvent::Asks(_)));
    let run = exec.detach_with_handle().unwrap();
    let status = tool(&gate, "a", json!({"action": "run_status", "run_id": run.to_string()}));
    let waiting = json!(["[a, link to a.example] Sign in: https://a.example/connect?id=1"]);
    assert_eq!(finish(status).await["data"]["run"]["waiting_for"], waiting);
}
