//! Tools that can be called only as tasks (2025-11-25).

use std::sync::Arc;

use loggia_facade::Facade;
use serde_json::json;

use crate::support::{FakePort, FakeUpstream, assert_sound, call_with, data, until};

#[tokio::test]
async fn a_task_is_one_call() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    assert!(facade.surface().action("work").expect("an action").long_running);
    let port = Arc::new(FakePort::default());
    let work = {
        let (facade, port) = (facade.clone(), port.clone());
        tokio::spawn(async move { call_with(&facade, port, "work", json!({})).await })
    };
    until("its status is reported", async || !port.progress.lock().unwrap().is_empty()).await;
    assert_eq!(data(&facade, "finish", json!({})).await, json!({"tasks": 1, "cancelled": []}));
    assert_eq!(work.await.expect("no panic").expect("a reply").data, json!({"task": "task-0"}));
    let progress = port.progress.lock().unwrap().clone();
    assert_eq!(progress.len(), 1, "an unchanged status is reported once: {progress:?}");
    assert_eq!(progress[0].message.as_deref(), Some("half done"));
    // A server may answer such a call at once.
    assert_eq!(data(&facade, "work", json!({"at_once": true})).await, json!("done at once"));
}

#[tokio::test]
async fn a_dropped_call_cancels_its_task() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    let work = {
        let facade = facade.clone();
        tokio::spawn(async move { data(&facade, "work", json!({})).await })
    };
    until("the task runs", async || data(&facade, "finish", json!({})).await["tasks"] == 1).await;
    work.await.expect("it is finished");
    let second = tokio::spawn({
        let (facade, port) = (facade.clone(), Arc::new(FakePort::default()));
        async move { call_with(&facade, port, "work", json!({})).await }
    });
    let counts = async || data(&facade, "cancelled", json!({})).await;
    until("the second task runs", async || counts().await["tasks"] == 2).await;
    second.abort();
    until("it is cancelled", async || counts().await["cancelled_tasks"] == json!(["task-1"])).await;
    assert_sound(&facade).await;
}
