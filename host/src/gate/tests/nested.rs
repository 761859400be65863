//! Calls that a facade makes.

use super::*;

/// Calls another facade's action with its own call's session, and passes on what it gets.
fn forwards(name: &str, to: &'static str, action: &'static str) -> Puppet {
    puppet(name, move |call: Call| async move { call.session.invoke(request(to, action)).await })
}

#[tokio::test]
async fn a_nested_call_may_do_what_the_policy_and_the_effect_allow() {
    let check = async |own: &str, rules: &[&str], target: &'static str, expected: (&str, &str)| {
        let callee = puppet("b", async |_| Ok(Reply::data("done")));
        let gate = gate(vec![(forwards("a", "b", target), invoking(rules)), (callee, Rules::default())]);
        let envelope = call(&gate, request("a", own)).await;
        let got = if envelope["ok"] == true { ("ok", "done") } else { failed(&envelope) };
        assert_eq!(got, expected, "{own} calls {target} by {rules:?}");
    };
    let ok = ("ok", "done");
    check("look", &["b:look"], "look", ok).await;
    check("smash", &["b:*"], "smash", ok).await;
    check("touch", &["b:*"], "touch", ok).await;
    let policy = ("denied", "access denied: the policy does not let `a` call `b`");
    check("look", &[], "look", policy).await;
    check("look", &["b:touch"], "look", policy).await;
    let reads = ("denied", "access denied: a read action may not call `b.touch`, which is write");
    check("look", &["b:*"], "touch", reads).await;
    let writes = ("denied", "access denied: a write action may not call `b.smash`, which is destructive");
    check("touch", &["b:*"], "smash", writes).await;
}

#[tokio::test]
async fn a_facade_that_already_waits_is_not_called_again() {
    let gate = gate(vec![
        (forwards("a", "b", "look"), invoking(&["b:*"])),
        (forwards("b", "a", "look"), invoking(&["a:*"])),
    ]);
    let envelope = call(&gate, request("a", "look")).await;
    assert_eq!(failed(&envelope), ("denied", "access denied: `a` is already waiting for this call"));
}

#[tokio::test]
async fn calls_nest_five_deep() {
    const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let check = async |length: usize, ok: bool| {
        let mut puppets: Vec<(Puppet, Rules)> = NAMES[..length]
            .windows(2)
            .map(|pair| (forwards(pair[0], pair[1], "look"), invoking(&[&format!("{}:*", pair[1])])))
            .collect();
        puppets.push((puppet(NAMES[length - 1], async |_| Ok(Reply::data("deep"))), Rules::default()));
        let envelope = call(&gate(puppets), request("a", "look")).await;
        assert_eq!(envelope["ok"], ok, "{length}: {envelope}");
    };
    check(6, true).await;
    check(7, false).await;
}

#[tokio::test(start_paused = true)]
async fn a_nested_calls_own_clock_ends_it_and_its_caller_goes_on() {
    let callee = puppet("b", async |_| forever().await);
    let caller = puppet("a", async |call: Call| {
        let nested = within(Duration::from_secs(1), request("b", "look"));
        match call.session.invoke(nested).await {
            Err(Stop::Failure(failure)) => Ok(Reply::data(failure.code)),
            other => Ok(Reply::data(format!("{other:?}"))),
        }
    });
    let gate = gate(vec![(caller, invoking(&["b:*"])), (callee, Rules::default())]);
    assert_eq!(call(&gate, request("a", "look")).await["data"], code::TIMED_OUT);
}

#[tokio::test]
async fn without_a_grant_nothing_is_learnt_of_another_facade() {
    for action in ["describe", "nothing", "look"] {
        let other = puppet("b", async |_| Ok(Reply::default()));
        let gate = gate(vec![(forwards("a", "b", action), Rules::default()), (other, Rules::default())]);
        let told = call(&gate, request("a", "look")).await;
        assert_eq!(failed(&told).1, "access denied: the policy does not let `a` call `b`", "{action}");
    }
}
