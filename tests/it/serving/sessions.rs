//! Sessions of clients before 2026-07-28: they sleep while nothing is heard of them, wake when something is, and end.

use anyhow::{Context, Result};
use loggia_tests::{
    Folder, HttpHost, Served, eventually, fixture, lingers,
    wire::{self, INITIALIZE, Line},
};
use serde_json::{Value, json};

fn add() -> Value {
    json!({"action": "add", "a": 1, "b": 2})
}

const TASKS: &str = "loggia_tasks{runtime=\"io\"}";

const OTHERS: usize = 8;

/// Starts sessions, and waits until they and all sessions that were idle before hibernate, `asleep` in all.
async fn others_sleep(served: &Served, asleep: usize) -> Result<Vec<String>> {
    let mut sessions = Vec::new();
    for _ in 0..OTHERS {
        sessions.push(wire::session(&served.host, "", INITIALIZE).await?);
    }
    served.figures("loggia_sessions_hibernated", |hibernated| hibernated == asleep as f64).await;
    Ok(sessions)
}

#[tokio::test]
async fn idle_sessions_hibernate_and_wake() -> Result<()> {
    let folder = Folder::with(&["echo", "worker"]);
    folder.write("worker.toml", "[grants]\nelicit = true\n");
    let served = Served::configured(&folder, "[http]\nsession-sleep = '1s'", &[]).await?;
    let host = &served.host;
    let floor = served.figure(TASKS).await?.context("tasks")?;
    let asking = INITIALIZE.replace("\"capabilities\":{}", "\"capabilities\":{\"elicitation\":{}}");
    let person = wire::session(host, "", &asking).await?;
    let sessions = others_sleep(&served, 1 + OTHERS).await?;
    assert_eq!(served.figure("loggia_sessions").await?, Some(9.0), "they are there all the same");
    // An active session has two tasks of rmcp; some come and go with the request for metrics.
    served.figures(TASKS, |tasks| tasks <= floor + 4.0).await;
    for (n, session) in sessions.iter().enumerate() {
        let told = wire::ask(host, session, &wire::in_session(n, "echo", &add())).await?;
        assert_eq!((&told.message()?["id"], &told.envelope()?["data"]), (&json!(n), &json!(3.0)), "{told:?}");
    }
    // It knows the client's capabilities: the person is asked.
    let mut call = Line::open(host.authority()).await?;
    let clean = wire::in_session(2, "worker", &json!({"action": "clean"}));
    call.write(wire::post(host, &person, &clean)).await?;
    assert_eq!(call.head().await?.status, 200);
    let question = call.event().await?;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let result = json!({"action": "accept", "content": {"newest": 3, "why": "dust"}});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result}).to_string();
    assert_eq!(wire::ask(host, &person, &answer).await?.status, 202);
    let told = call.event().await?;
    assert_eq!(told["result"]["structuredContent"]["data"], "kept 3 because dust", "{told}");
    // Changes during hibernation are in the list.
    others_sleep(&served, 1 + 2 * OTHERS).await?;
    folder.put("version", &fixture("version_one"));
    served.readies(|_, told| told["serving"] == 3).await;
    let list = r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#;
    let told = wire::ask(host, &sessions[0], list).await?.message()?;
    let tools = told["result"]["tools"].as_array().with_context(|| told.to_string())?;
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap_or_default()).collect();
    assert_eq!(names, ["echo", "version", "worker"]);
    // A deleted session is gone, active or hibernated.
    others_sleep(&served, 1 + 3 * OTHERS).await?;
    let own = host.authority();
    for session in [&sessions[0], &person] {
        let goodbye = format!("DELETE /mcp HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n{session}\r\n");
        assert_eq!(wire::send(own, goodbye.as_bytes()).await?.status, 204);
        assert_eq!(wire::ask(host, session, list).await?.status, 404);
    }
    Ok(())
}

/// One request wakes the session, and the others wait for it.
#[tokio::test]
async fn concurrent_requests_find_a_hibernated_session() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let served = Served::configured(&folder, "[http]\nsession-sleep = '1s'", &[]).await?;
    for session in others_sleep(&served, OTHERS).await? {
        let calls = (0..6).map(|id| {
            let (session, call) = (session.clone(), wire::in_session(id, "echo", &add()));
            let host = &served.host;
            async move { wire::ask(host, &session, &call).await?.envelope() }
        });
        for told in futures_util::future::join_all(calls).await {
            assert_eq!(told?["data"], json!(3.0));
        }
    }
    Ok(())
}

#[tokio::test]
async fn running_calls_keep_their_session_awake() -> Result<()> {
    let folder = Folder::with(&["echo", "lingers"]);
    let data = folder.beside("data");
    folder.write(
        "lingers.toml",
        &format!(
            "[grants]\ndirs = [{{ path = {data:?}, at = \"/data\", access = \"read-write\" }}]\n[limits]\nwall = \"10m\"\n"
        ),
    );
    let served = Served::configured(&folder, "[http]\nsession-sleep = '1s'", &[]).await?;
    let host = &served.host;
    // One call whose client stays, and one whose client disconnects.
    let mut waiting = Vec::new();
    for name in ["stays", "goes"] {
        let session = wire::session(host, "", INITIALIZE).await?;
        let wait = json!({"action": "wait", "mark": format!("/data/{name}"), "until": "/data/go"});
        let mut line = Line::open(host.authority()).await?;
        line.write(wire::post(host, &session, &wire::in_session(2, "lingers", &wait))).await?;
        let there = || data.join(name).is_dir();
        eventually(async || if there() { Ok(()) } else { Err(format!("{name} does not run")) }).await;
        waiting.push((session, line));
    }
    let (gone, line) = waiting.pop().context("two")?;
    drop(line);
    others_sleep(&served, OTHERS).await?;
    // Both calls finish, including the one without a client.
    let calls = "loggia_calls_in_flight{tool=\"lingers\"}";
    assert_eq!(served.figure(calls).await?, Some(2.0));
    loggia_tests::lingers::go(&data, "gone")?;
    let (session, mut line) = waiting.pop().context("one")?;
    assert_eq!(line.head().await?.status, 200);
    let told = line.event().await?;
    assert_eq!(told["result"]["structuredContent"]["data"], "gone", "{told}");
    let ended = "loggia_calls_total{tool=\"lingers\",action=\"wait\",outcome=\"ok\"}";
    served.figures(ended, |calls| calls == 2.0).await;
    for session in [session, gone] {
        let told = wire::ask(host, &session, &wire::in_session(9, "echo", &add())).await?;
        assert_eq!(told.envelope()?["data"], 3.0, "{told:?}");
    }
    Ok(())
}

#[tokio::test]
async fn two_open_requests_with_one_id_are_refused() -> Result<()> {
    let folder = Folder::with(&["lingers"]);
    let data = lingers::lingers(&folder, "lingers");
    let served = Served::configured(&folder, "", &[]).await?;
    let host = &served.host;
    let (one, other) =
        (wire::session(host, "", INITIALIZE).await?, wire::session(host, "", INITIALIZE).await?);
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|mark| wire::in_session(2, "lingers", &lingers::wait(mark)));
    let meanwhile = async {
        // An id belongs to its session.
        lingers::runs(&data, "a").await;
        lingers::runs(&data, "b").await;
        let refused = wire::ask(host, &one, &c).await?;
        lingers::go(&data, "done")?;
        Ok(refused)
    };
    let (first, second, refused) =
        tokio::try_join!(wire::ask(host, &one, &a), wire::ask(host, &other, &b), meanwhile)?;
    assert_eq!((&first.envelope()?["data"], &second.envelope()?["data"]), (&json!("done"), &json!("done")));
    assert_eq!(refused.status, 400);
    let reason = "another request of the session with this id is open: give each request an id of its own";
    let error = json!({"code": -32600, "message": reason});
    assert_eq!(refused.message()?, json!({"jsonrpc": "2.0", "id": 2, "error": error}));
    assert!(!data.join("c").exists(), "the refused call does not run");
    let later = wire::ask(host, &one, &d).await?;
    assert_eq!(later.envelope()?["data"], "done", "the id is free again: {later:?}");
    Ok(())
}

/// A client whose connection broke asks for what it missed.
#[tokio::test]
async fn a_resumed_stream_has_the_whole_result() -> Result<()> {
    let folder = Folder::with(&["lingers"]);
    let data = lingers::lingers(&folder, "lingers");
    let served = Served::configured(&folder, "", &[]).await?;
    let (host, own) = (&served.host, served.host.authority());
    let session = wire::session(host, "", INITIALIZE).await?;
    let mut line = Line::open(own).await?;
    line.write(wire::post(host, &session, &wire::in_session(2, "lingers", &lingers::wait("a")))).await?;
    lingers::runs(&data, "a").await;
    // After a second, the stream begins with an event that has nothing but an id.
    assert_eq!(line.head().await?.status, 200);
    line.until("id: ").await?;
    let id = line.until("\n").await?;
    drop(line);
    lingers::go(&data, "done")?;
    let mut again = Line::open(own).await?;
    again
        .write(format!(
            "GET /mcp HTTP/1.1\r\nHost: {own}\r\nAccept: text/event-stream\r\n{session}Last-Event-ID: {}\r\n\r\n",
            id.trim()
        ))
        .await?;
    assert_eq!(again.head().await?.status, 200);
    let result = again.event().await?["result"].take();
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().context("a text")?)?;
    assert_eq!((&text["data"], &result["structuredContent"]), (&json!("done"), &text), "{result}");
    Ok(())
}

#[tokio::test]
async fn hibernated_listeners_get_notifications() -> Result<()> {
    const CHANGED: &str = "notifications/tools/list_changed";
    let folder = Folder::with(&["echo"]);
    let served = Served::configured(&folder, "[http]\nsession-sleep = '1s'", &[]).await?;
    let host = &served.host;
    let (mut streams, mut sessions) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        let session = wire::session(host, "", INITIALIZE).await?;
        streams.push(wire::listened(host, &session).await?);
        sessions.push(session);
    }
    for round in 0..2 {
        let silent = others_sleep(&served, sessions.len() + (round + 1) * OTHERS).await?;
        folder.put("version", &fixture("version_one"));
        for stream in &mut streams {
            stream.until(CHANGED).await.with_context(|| format!("asleep, round {round}"))?;
        }
        // Awake again, and its stream with it.
        let get = json!({"action": "get"});
        for session in &sessions {
            let told = wire::ask(host, session, &wire::in_session(round, "version", &get)).await?;
            assert_eq!(told.envelope()?["data"], "one", "{told:?}");
        }
        folder.remove("version.wasm");
        for stream in &mut streams {
            stream.until(CHANGED).await.with_context(|| format!("awake, round {round}"))?;
        }
        // Listeners that were not connected get the notification later, possibly twice.
        for session in &silent {
            for time in ["first", "again"] {
                wire::listened(host, session).await?.until(CHANGED).await.context(time)?;
            }
        }
    }
    // The end of a session ends its streams, active or hibernated.
    others_sleep(&served, sessions.len() + 3 * OTHERS).await?;
    for (session, mut stream) in sessions.iter().zip(streams) {
        let own = host.authority();
        let goodbye = format!("DELETE /mcp HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n{session}\r\n");
        assert_eq!(wire::send(own, goodbye.as_bytes()).await?.status, 204);
        stream.until(ENDED).await?;
    }
    Ok(())
}

/// End of a chunked stream.
const ENDED: &str = "\r\n0\r\n\r\n";

/// Beyond its limit, rmcp ends the second-oldest stream.
#[tokio::test]
async fn excess_streams_of_a_session_stay_closed() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let served = Served::configured(&folder, "[http]\nsession-sleep = '5s'", &[]).await?;
    let host = &served.host;
    let session = wire::session(host, "", INITIALIZE).await?;
    let mut streams = Vec::new();
    for _ in 0..40 {
        streams.push(wire::listened(host, &session).await?);
    }
    for stream in &mut streams[1..8] {
        stream.until(ENDED).await?;
    }
    // The others persist, also through hibernation.
    others_sleep(&served, 1 + OTHERS).await?;
    folder.put("version", &fixture("version_one"));
    // One of them carries the change.
    let (ended, open) = (1..8, streams.iter_mut().enumerate());
    let open = open.filter(|(n, _)| !ended.contains(n)).map(|(_, stream)| stream);
    let heard = open.map(|stream| Box::pin(stream.until("notifications/tools/list_changed")));
    futures_util::future::select_ok(heard).await?;
    let told = wire::ask(host, &session, &wire::in_session(1, "echo", &add())).await?;
    assert_eq!(told.envelope()?["data"], 3.0, "{told:?}");
    Ok(())
}

#[tokio::test]
async fn idle_sessions_are_forgotten_until_their_clients_return() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    // Asleep before its end, and not.
    for sleep in ["1s", "1h"] {
        let settings = format!("[http]\nsession-sleep = '{sleep}'\nsession-idle = '2s'\n");
        let served = Served::configured(&folder, &settings, &[]).await?;
        let host = &served.host;
        let session = wire::session(host, "", INITIALIZE).await?;
        let call = wire::in_session(2, "echo", &add());
        assert_eq!(wire::ask(host, &session, &call).await?.envelope()?["data"], 3.0);
        served.figures("loggia_sessions", |sessions| sessions == 0.0).await;
        assert_eq!(wire::ask(host, &session, &call).await?.envelope()?["data"], 3.0, "{sleep}");
        assert_eq!(served.figure("loggia_sessions").await?, Some(1.0));
    }
    Ok(())
}

/// H99: ids of other servers, and changed ones.
#[tokio::test]
async fn sessions_survive_a_restart() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let call = wire::in_session(2, "echo", &add());
    let host = HttpHost::start(folder.path()).await?;
    let session = wire::session(&host, "", INITIALIZE).await?;
    assert_eq!(wire::ask(&host, &session, &call).await?.envelope()?["data"], 3.0);
    drop(host);
    let host = HttpHost::start(folder.path()).await?;
    assert_eq!(wire::ask(&host, &session, &call).await?.envelope()?["data"], 3.0);
    // The client may have missed changes.
    let mut listening = wire::listened(&host, &session).await?;
    listening.until("notifications/tools/list_changed").await?;
    // Ids of other servers, or changed ones, are not valid.
    let other = HttpHost::start(Folder::with(&["echo"]).path()).await?;
    assert_eq!(wire::ask(&other, &session, &call).await?.status, 404);
    let changed = session.replace("Mcp-Session-Id: ", "Mcp-Session-Id: x");
    assert_eq!(wire::ask(&host, &changed, &call).await?.status, 404);
    Ok(())
}
