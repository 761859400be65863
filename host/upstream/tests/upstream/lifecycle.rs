//! Starts, restarts and changes of upstreams.

use std::{sync::Arc, time::Duration};

use loggia_facade::{Facade, code};
use loggia_upstream::{TransportSpec, UpstreamEvent};
use serde_json::json;
use tokio::time::Instant;

use crate::support::{FakeUpstream, LONG, assert_sound, data, failure, spec};

#[tokio::test]
async fn both_lifecycles_are_spoken() {
    for (mode, title, instructions) in [
        ("normal", "Fake Server", "Use it for tests."),
        ("stateless", "", "Stateless."),
        ("dies-at-discover", "Fake Server", "Use it for tests."),
    ] {
        let mut upstream = FakeUpstream::start(mode);
        let facade = upstream.facade().await;
        assert_eq!(facade.surface().instructions.as_deref(), Some(instructions), "{mode}");
        assert_eq!(facade.surface().title, title, "{mode}");
        assert_sound(&facade).await;
    }
}

#[tokio::test]
async fn outages_give_their_reason() {
    let mut upstream = FakeUpstream::start("dies");
    assert_eq!(upstream.outage().await, "its process ended with exit status: 7");

    let mut missing = spec("normal");
    if let TransportSpec::Stdio(stdio) = &mut missing.transport {
        stdio.command = "/nowhere/no-such-command".into();
    }
    let reason = FakeUpstream::of(missing).outage().await;
    assert!(reason.starts_with("its command cannot be started: No such file"), "{reason}");
}

#[tokio::test]
async fn restarts_back_off() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    failure(&facade, "die", json!({})).await;
    // The first restart is free, the second waits.
    failure(&facade, "die", json!({})).await;
    let failed = failure(&facade, "echo", json!({})).await;
    assert_eq!(failed.code, code::UNAVAILABLE);
    assert!(failed.message.contains("exit status: 3"), "{failed}");
    let wait = failed.retry_after_ms.expect("a time");
    assert!(wait <= 500, "{wait}");
    upstream.outage().await;
    let again = upstream.facade().await;
    assert!(Arc::ptr_eq(&facade, &again), "its tools are the same");
    assert_sound(&facade).await;
}

#[tokio::test]
async fn changed_tools_are_another_facade() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    data(&facade, "grow", json!({})).await;
    let grown = upstream.facade_that(|facade| facade.surface().action("list_2").is_some()).await;
    assert_sound(&grown).await;
    // The old one still works.
    assert_sound(&facade).await;
}

#[tokio::test]
async fn constant_changes_are_listed_once_a_second() {
    let mut upstream = FakeUpstream::start("changes");
    upstream.facade().await;
    let began = Instant::now();
    let mut changes = 0_u32;
    while changes < 2 {
        tokio::time::timeout(LONG, upstream.events.changed())
            .await
            .expect("it changes in time")
            .expect("it is watched");
        assert!(matches!(&*upstream.events.borrow_and_update(), UpstreamEvent::Ready(_)));
        changes += 1;
    }
    assert!(began.elapsed() >= Duration::from_millis(900), "{:?}", began.elapsed());
}

#[tokio::test]
async fn children_inherit_little() {
    let mut spec = spec("normal");
    if let TransportSpec::Stdio(stdio) = &mut spec.transport {
        stdio.env = [("OWN".to_owned(), "value".to_owned()), ("TZ".into(), "UTC".into())].into();
    }
    let mut upstream = FakeUpstream::of(spec);
    let facade = upstream.facade().await;
    let env = data(&facade, "env", json!({})).await;
    assert_eq!((&env["OWN"], &env["TZ"]), (&json!("value"), &json!("UTC")));
    // Cargo sets many for its tests. `python3` may be a script that sets some of its own.
    let others: Vec<_> =
        env.as_object().expect("variables").keys().filter(|name| name.starts_with("CARGO")).collect();
    assert!(others.is_empty(), "{others:?}");
}
