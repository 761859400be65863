//! Clients of a fleet: whichever server a request reaches, it finds its session, its question and its run.

use anyhow::{Context, Result, ensure};
use loggia_postgres::testing::PrivateServer;
use loggia_tests::{
    Client, Era, Folder, Kind, Served, Token, eventually, fixture, soon,
    wire::{self, INITIALIZE, Line},
};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, GetTaskParams, InputRequiredResult,
    TaskPayload, TaskStatus, UpdateTaskParams,
};
use serde_json::{Value, json};

/// A workflow that survives its server while it waits.
const ASKS: &str = "
facade: orders
compositeTools:
  - name: approve
    description: Asks first.
    steps:
      - {id: sure, type: elicitation, message: 'Pay?', timeout: 720h,
         schema: {type: object, properties: {yes: {type: boolean}}, required: [yes]}}
";

/// Two servers with their own folders, as on two machines.
struct Pair {
    _database: std::sync::Arc<PrivateServer>,
    folders: [Folder; 2],
    hosts: [Served; 2],
}

impl Pair {
    async fn start() -> Result<Self> {
        Self::for_callers(&[]).await
    }

    async fn for_callers(tokens: &[&Token]) -> Result<Self> {
        let database = PrivateServer::shared();
        let options = database.options();
        let settings = format!(
            "[http]\nsession-sleep = '1s'\n[state]\nurl = '{}'\nschema = '{}'\n",
            options.url, options.schema
        );
        let folders = [machine(), machine()];
        let hosts = [
            Served::configured(&folders[0], &settings, tokens).await?,
            Served::configured(&folders[1], &settings, tokens).await?,
        ];
        Ok(Self { _database: database, folders, hosts })
    }
}

fn machine() -> Folder {
    let folder = Folder::with(&["worker"]);
    folder.write("worker.toml", "[grants]\nelicit = true\n");
    folder.write("orders.workflow.yaml", ASKS);
    folder
}

fn asking() -> String {
    INITIALIZE.replace("\"capabilities\":{}", "\"capabilities\":{\"elicitation\":{}}")
}

#[tokio::test]
async fn a_session_is_found_by_every_server() -> Result<()> {
    let Pair { folders, hosts: [first, second], .. } = &Pair::start().await?;
    let (one, other) = (&first.host, &second.host);
    let session = wire::session(one, "", &asking()).await?;
    for id in 0..3 {
        for host in [one, other] {
            let work = wire::in_session(id, "worker", &json!({"action": "work", "steps": 0}));
            let told = wire::ask(host, &session, &work).await?.envelope()?;
            ensure!(told["data"]["steps"] == 0, "{told}");
        }
    }
    // The question goes out at one server, and its answer comes in at the other.
    for (asks, answers) in [(one, other), (other, one), (one, one)] {
        let mut call = Line::open(asks.authority()).await?;
        let clean = wire::in_session(9, "worker", &json!({"action": "clean"}));
        call.write(wire::post(asks, &session, &clean)).await?;
        ensure!(call.head().await?.status == 200);
        let question = call.event().await?;
        let result = json!({"action": "accept", "content": {"newest": 3, "why": "dust"}});
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result}).to_string();
        ensure!(wire::ask(answers, &session, &answer).await?.status == 202);
        let told = call.event().await?;
        ensure!(told["result"]["structuredContent"]["data"] == "kept 3 because dust", "{told}");
    }
    // So does a cancellation.
    let mut call = Line::open(one.authority()).await?;
    let work = json!({"action": "work", "steps": 100_000, "ms": 50});
    let work = wire::in_session(10, "worker", &work)
        .replace("\"params\":{", "\"params\":{\"_meta\":{\"progressToken\":1},");
    call.write(wire::post(one, &session, &work)).await?;
    call.until("notifications/progress").await?;
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":10}}"#;
    ensure!(wire::ask(other, &session, cancelled).await?.status == 202);
    let cancelled = "loggia_calls_total{tool=\"worker\",action=\"work\",outcome=\"cancelled\"}";
    first.figures(cancelled, |calls| calls == 1.0).await;
    // Notifications come from the server that the client listens to.
    let mut listening = wire::listened(other, &session).await?;
    folders[1].remove("worker.wasm");
    listening.until("notifications/tools/list_changed").await?;
    // A session that its client ends at one server has ended at both.
    let goodbye =
        format!("DELETE /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{session}\r\n", one.authority());
    ensure!(wire::send(one.authority(), goodbye.as_bytes()).await?.status == 204);
    let list = r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#;
    eventually(async || {
        let told = wire::ask(other, &session, list).await.map_err(|error| error.to_string())?;
        if told.status == 404 { Ok(()) } else { Err(format!("{told:?}")) }
    })
    .await;
    Ok(())
}

fn request(tool: &str, arguments: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool.to_owned())
        .with_arguments(arguments.as_object().cloned().unwrap_or_default())
}

async fn once(client: &Client, request: CallToolRequestParams) -> Result<CallToolResponse> {
    Ok(soon("an answer or a question", client.service.peer().call_tool_once(request)).await??)
}

async fn questioned(client: &Client, request: CallToolRequestParams) -> Result<InputRequiredResult> {
    match once(client, request).await? {
        CallToolResponse::InputRequired(asked) => Ok(asked),
        other => anyhow::bail!("no question: {other:?}"),
    }
}

async fn answered(client: &Client, request: CallToolRequestParams) -> Result<Value> {
    match once(client, request).await? {
        CallToolResponse::Complete(result) => result.structured_content.context("no envelope"),
        other => anyhow::bail!("no result: {other:?}"),
    }
}

/// Repeats a request with an answer to its question.
fn with_answer(
    mut request: CallToolRequestParams,
    asked: InputRequiredResult,
    answer: Value,
) -> Result<CallToolRequestParams> {
    let (key, _) = asked.input_requests.context("questions")?.pop_first().context("one")?;
    let answer = json!({"action": "accept", "content": answer});
    request.input_responses = Some([(key, answer)].into());
    request.request_state = asked.request_state;
    Ok(request)
}

#[tokio::test]
async fn a_question_is_answered_at_any_server() -> Result<()> {
    let mut pair = Pair::start().await?;
    let [one, other] = &mut pair.hosts;
    let (one, other) = (&mut one.host, &other.host);
    let at_one = Client::http_as(one, Era::Stateless, Kind::person([])).await?;
    let at_other = Client::http_as(other, Era::Stateless, Kind::person([])).await?;
    let clean = || request("worker", json!({"action": "clean"}));
    let newest = || json!({"newest": 2, "why": "dust"});
    for (asks, answers) in [(&at_one, &at_other), (&at_other, &at_one)] {
        let repeated = with_answer(clean(), questioned(asks, clean()).await?, newest())?;
        let told = answered(answers, repeated.clone()).await?;
        ensure!(told["data"] == "kept 2 because dust", "{told}");
        // A client that lost its connection repeats the request; the call runs only once.
        let told = answered(answers, repeated).await?;
        ensure!(told["data"] == "kept 2 because dust", "{told}");
        // Without an answer it asks again.
        let asked = questioned(asks, clean()).await?;
        let mut again = clean();
        again.request_state = asked.request_state.clone();
        let asked = questioned(answers, again).await?;
        let told = answered(asks, with_answer(clean(), asked, newest())?).await?;
        ensure!(told["data"] == "kept 2 because dust", "{told}");
    }
    // A server that is killed takes the call of a plugin with it, and a workflow goes on elsewhere.
    let lost = with_answer(clean(), questioned(&at_one, clean()).await?, newest())?;
    let approve = || request("orders", json!({"action": "approve"}));
    let left = with_answer(approve(), questioned(&at_one, approve()).await?, json!({"yes": true}))?;
    one.child.start_kill()?;
    one.child.wait().await?;
    let told = answered(&at_other, left).await?;
    ensure!(told["ok"] == true, "{told}");
    let told = answered(&at_other, lost).await?;
    ensure!(told["error"] == "unavailable: the question is no longer open", "{told}");
    Ok(())
}

#[tokio::test]
async fn a_run_is_watched_and_cancelled_at_any_server() -> Result<()> {
    let Pair { hosts: [one, other], .. } = &Pair::start().await?;
    let (one, other) = (&one.host, &other.host);
    for era in loggia_tests::ERAS {
        let at_one = Client::http_as(one, era, Kind::default()).await?;
        let mut at_other = Client::http_as(other, era, Kind::default()).await?;
        let begin = async |steps: u32| -> Result<String> {
            let work = json!({"action": "work", "steps": steps, "ms": 50, "wait": false});
            let begun = at_one.envelope("worker", work).await?;
            Ok(begun["data"]["run"]["id"].as_str().with_context(|| begun.to_string())?.to_owned())
        };
        let run = begin(20).await?;
        let status = |wait: bool| json!({"action": "run_status", "run_id": run, "wait": wait});
        // Its progress is that of the moment.
        eventually(async || {
            let told = at_other.envelope("worker", status(false)).await.map_err(|error| error.to_string())?;
            let progress = &told["data"]["run"]["progress"];
            if progress["message"].is_string() { Ok(()) } else { Err(told.to_string()) }
        })
        .await;
        let told = at_other.envelope("worker", status(true)).await?;
        ensure!(told["data"]["run"]["status"] == "succeeded", "{told}");
        let run = begin(100_000).await?;
        let cancel = json!({"action": "run_cancel", "run_id": run});
        let told = at_other.envelope("worker", cancel).await?;
        ensure!(told["message"] == "the run is being cancelled", "{told}");
        let told =
            at_one.envelope("worker", json!({"action": "run_status", "run_id": run, "wait": true})).await?;
        ensure!(told["data"]["run"]["status"] == "cancelled", "{told}");
        while at_other.questions.try_recv().is_ok() {}
        at_one.end().await?;
        at_other.end().await?;
    }
    Ok(())
}

/// H99.
#[tokio::test]
async fn calls_are_their_callers_own_at_every_server() -> Result<()> {
    let [ada, bob] = [Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?];
    let Pair { hosts: [one, other], .. } = &Pair::for_callers(&[&ada, &bob]).await?;
    let (one, other) = (&one.host, &other.host);
    let hers = Client::http_by(one, Era::Stateless, Kind::person([]), &ada).await?;
    let work = json!({"action": "work", "steps": 100_000, "ms": 50, "wait": false});
    let begun = hers.envelope("worker", work).await?;
    let run = begun["data"]["run"]["id"].as_str().with_context(|| begun.to_string())?;
    let clean = || request("worker", json!({"action": "clean"}));
    let repeated = with_answer(clean(), questioned(&hers, clean()).await?, json!({"newest": 2}))?;
    let his = Client::http_by(other, Era::Stateless, Kind::person([]), &bob).await?;
    for action in ["run_status", "run_cancel"] {
        let told = his.envelope("worker", json!({"action": action, "run_id": run})).await?;
        ensure!(told["code"] == "not_found", "{told}");
    }
    let refused = once(&his, repeated.clone()).await.err().context("it is refused")?.to_string();
    ensure!(refused.contains("`requestState` is not valid for this call"), "{refused}");
    let session = wire::session(one, &ada.header(), INITIALIZE).await?;
    let call = wire::in_session(2, "worker", &json!({"action": "work", "steps": 0}));
    ensure!(wire::ask(other, &session, &call).await?.status == 200);
    let stolen = session.replace(&ada.secret, &bob.secret);
    ensure!(wire::ask(other, &stolen, &call).await?.status == 404);
    let hers = Client::http_by(other, Era::Stateless, Kind::person([]), &ada).await?;
    let told = answered(&hers, repeated).await?;
    ensure!(told["data"] == "kept 2 because ", "{told}");
    let told = hers.envelope("worker", json!({"action": "run_cancel", "run_id": run})).await?;
    ensure!(told["message"] == "the run is being cancelled", "{told}");
    Ok(())
}

/// A new version is served once all have loaded it. A server that cannot load it leaves the load balancer.
#[tokio::test]
async fn versions_are_served_by_all_or_by_none() -> Result<()> {
    let Pair { folders, hosts: [one, other], .. } = &Pair::start().await?;
    let version = async |served: &Served| -> Result<Value> {
        let told = wire::answered(&served.host, "", "version", &json!({"action": "get"})).await?;
        Ok(told.envelope()?["data"].clone())
    };
    let becomes = async |served: &Served, expected: &str| {
        eventually(async || match version(served).await {
            Ok(told) if told == expected => Ok(()),
            told => Err(format!("{told:?}")),
        })
        .await;
    };
    for folder in folders {
        folder.put("version", &fixture("version_one"));
    }
    becomes(one, "one").await;
    becomes(other, "one").await;
    let loads = "loggia_reloads_total{result=\"loaded\"}";
    let before = one.figure(loads).await?.context("a figure")?;
    folders[0].put("version", &fixture("version_two"));
    one.figures(loads, |loaded| loaded > before).await;
    ensure!(version(one).await? == "one" && version(other).await? == "one");
    folders[1].put("version", &fixture("version_two"));
    becomes(one, "two").await;
    becomes(other, "two").await;

    std::fs::write(folders[1].path().join("version.wasm"), "no component")?;
    other.readies(|status, told| status == 200 && told["stale"] == 1).await;
    folders[0].put("version", &fixture("version_one"));
    becomes(one, "one").await;
    let (_, told) = other.readies(|status, _| status == 503).await;
    ensure!(
        told["why"] == "the other servers serve newer versions of plugins, which do not load here",
        "{told}"
    );
    ensure!(version(other).await? == "two");
    folders[1].put("version", &fixture("version_one"));
    other.readies(|status, _| status == 200).await;
    becomes(other, "one").await;
    // What is removed is removed at once.
    folders[0].remove("version.wasm");
    one.readies(|_, told| told["serving"] == 2).await;
    becomes(other, "one").await;
    Ok(())
}

#[tokio::test]
async fn a_task_is_followed_answered_and_cancelled_at_any_server() -> Result<()> {
    let Pair { hosts: [one, other], .. } = &Pair::start().await?;
    let at_one = Client::http_as(&one.host, Era::Stateless, Kind::person([]).tasks()).await?;
    let at_other = Client::http_as(&other.host, Era::Stateless, Kind::person([]).tasks()).await?;
    let peer = at_other.service.peer();
    let begin = async |arguments: Value| match once(&at_one, request("worker", arguments)).await? {
        CallToolResponse::Task(created) => Ok(created.task.task_id),
        told => anyhow::bail!("no task but {told:?}"),
    };
    let becomes = async |id: &str| {
        eventually(async || {
            let told = peer.get_task(GetTaskParams::new(id)).await.map_err(|error| error.to_string())?;
            if told.task.status() == TaskStatus::Working { Err("working".to_owned()) } else { Ok(told.task) }
        })
        .await
    };
    let id = begin(json!({"action": "clean_all"})).await?;
    let TaskPayload::InputRequired { input_requests } = becomes(&id).await.payload else {
        anyhow::bail!("it asks")
    };
    let (key, _) = input_requests.first_key_value().context("a question")?;
    let answer = json!({"action": "accept", "content": {}});
    peer.update_task(UpdateTaskParams::new(&id, [(key.clone(), answer)].into())).await?;
    // Its result is found wherever it ended, and again.
    for _ in 0..2 {
        let TaskPayload::Completed { result } = becomes(&id).await.payload else {
            anyhow::bail!("completed")
        };
        ensure!(result["structuredContent"]["data"] == "all gone", "{result:?}");
    }
    let id = begin(json!({"action": "work", "steps": 100_000, "ms": 5})).await?;
    peer.cancel_task(CancelTaskParams::new(&id)).await?;
    ensure!(becomes(&id).await.status() == TaskStatus::Cancelled);
    let unknown = peer.get_task(GetTaskParams::new("run_x")).await.err().context("no such task")?;
    ensure!(unknown.to_string().contains("Unknown task"), "{unknown}");
    Ok(())
}
