//! Shared helpers: servers for workflows, and a desk that sees each call and can delay it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context, Result};
use loggia_tests::{
    Client, Era, Folder, HttpHost, Kind, eventually, fixture,
    web::{Answer, Asked, Web},
};
use serde_json::{Value, json};

/// Handling of an action's calls at the desk.
#[derive(Debug, Clone)]
pub enum Word {
    /// The first calls fail, with this code; later ones succeed.
    Fails(usize, &'static str),
    /// Calls get this answer.
    Answers(Value),
    /// Calls wait until they are cancelled.
    Waits,
    /// Calls wait until this many calls, of any action, are in progress.
    Meets(usize),
}

type Words = Arc<Mutex<BTreeMap<String, Word>>>;

/// A folder of workflows and of the servers that they call.
pub struct Stage {
    /// The folder.
    pub plugins: Folder,
    /// Server that receives a report of each call.
    pub desk: Web,
    words: Words,
}

/// A file of `tests/fixtures/workflows`, by name.
pub fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/workflows/{name}.workflow.yaml"))
}

/// Text of an example.
pub fn text(name: &str) -> String {
    fs::read_to_string(example(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

impl Stage {
    /// A folder with these examples, and with all servers that they call.
    pub async fn with(examples: &[&str]) -> Result<Self> {
        let stage = Self::empty().await?;
        for name in examples {
            stage.servers(&text(name));
            stage.write(name, &text(name));
        }
        Ok(stage)
    }

    /// A folder with this one workflow, and with all servers that it calls.
    pub async fn of(name: &str, text: &str) -> Result<Self> {
        let stage = Self::empty().await?;
        stage.servers(text);
        stage.write(name, text);
        Ok(stage)
    }

    /// A folder with nothing in it.
    pub async fn empty() -> Result<Self> {
        let words = Words::default();
        let told = words.clone();
        let desk = Web::start(move |asked| answer(asked, &told)).await?;
        Ok(Self { plugins: Folder::new(), desk, words })
    }

    /// Writes a workflow as a careful operator does.
    pub fn write(&self, name: &str, text: &str) {
        self.plugins.write(&format!(".{name}.new"), text);
        let path = |name: &str| self.plugins.path().join(name);
        fs::rename(path(&format!(".{name}.new")), path(&format!("{name}.workflow.yaml"))).expect("renamed");
    }

    /// Puts the servers in place that this workflow's steps call.
    fn servers(&self, text: &str) {
        let tools =
            text.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("tool: "));
        let servers: BTreeSet<&str> = tools.filter_map(|tool| Some(tool.split_once('.')?.0)).collect();
        servers.into_iter().for_each(|name| self.server(name, ""));
    }

    /// Puts a server in place, with more in its policy.
    pub fn server(&self, name: &str, more: &str) {
        let desk = self.desk.url("");
        self.plugins.write(
            &format!("{name}.toml"),
            &format!(
                "[grants]\nconfig = {{ desk = {desk:?} }}\nhttp = [{{ url = {desk:?}, reads = [\"POST\"] }}]\n\
                 [expose]\nname = {name:?}\n{more}"
            ),
        );
        self.plugins.put(name, &fixture("backends"));
    }

    /// Sets the handling of an action's calls from now on.
    pub fn says(&self, action: &str, word: Word) {
        self.words.lock().unwrap_or_else(PoisonError::into_inner).insert(action.to_owned(), word);
    }

    /// Calls that reached the servers, in order of arrival.
    pub fn calls(&self) -> Vec<(String, Value)> {
        let call = |asked: Asked| {
            let body = serde_json::from_slice(&asked.body).unwrap_or_default();
            (asked.path.trim_start_matches('/').to_owned(), body)
        };
        self.desk.asked().into_iter().map(call).collect()
    }

    /// Number of calls of an action.
    pub fn times(&self, action: &str) -> usize {
        self.calls().iter().filter(|(called, _)| called == action).count()
    }

    /// Waits until an action was called so often.
    pub async fn called(&self, action: &str, times: usize) {
        eventually(async || match self.times(action) {
            there if there >= times => Ok(()),
            there => Err(format!("{there} calls of {action}")),
        })
        .await;
    }

    /// Waits until no call is in progress.
    pub async fn quiet(&self) {
        eventually(async || match self.desk.now() {
            0 => Ok(()),
            there => Err(format!("{there} calls are under way")),
        })
        .await;
    }

    /// A client without a person, on stdio.
    pub async fn client(&self) -> Result<Client> {
        Client::stdio(self.plugins.path(), Era::Stateful).await
    }

    /// A client of that kind, on stdio.
    pub async fn client_as(&self, era: Era, kind: Kind) -> Result<Client> {
        Client::stdio_as(self.plugins.path(), era, kind).await
    }

    /// A host on HTTP.
    pub async fn host(&self) -> Result<HttpHost> {
        HttpHost::start(self.plugins.path()).await
    }

    /// One call of the only workflow in a file, by a client of its own.
    pub async fn run(&self, name: &str, params: Value) -> Result<Value> {
        let client = self.client().await?;
        let envelope = client.envelope(name, json!({"action": name, "params": params})).await?;
        client.end().await?;
        Ok(envelope)
    }
}

fn answer(asked: &Asked, words: &Words) -> Answer {
    let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
    match words.get_mut(asked.path.trim_start_matches('/')) {
        None => Answer::text(""),
        Some(Word::Fails(0, _)) => Answer::text(""),
        Some(Word::Fails(left, code)) => {
            *left -= 1;
            Answer::text(json!({"code": code}).to_string())
        }
        Some(Word::Answers(data)) => Answer::text(json!({"data": data}).to_string()),
        Some(Word::Waits) => Answer::Never,
        Some(Word::Meets(many)) => Answer::Together(*many),
    }
}

/// Run of an envelope.
pub fn run(envelope: &Value) -> Result<(Value, String)> {
    let run = envelope["data"]["run"].clone();
    let id = run["id"].as_str().with_context(|| format!("no run in {envelope}"))?.to_owned();
    Ok((run, id))
}

/// Polls a run until it has this status.
pub async fn becomes(client: &Client, tool: &str, id: &str, status: &str) -> Value {
    eventually(async || {
        let told = client.envelope(tool, json!({"action": "run_status", "run_id": id})).await;
        let run = told.map_err(|error| error.to_string())?["data"]["run"].clone();
        if run["status"] == status { Ok(run) } else { Err(run.to_string()) }
    })
    .await
}

#[tokio::test]
async fn servers_answer_under_their_names() -> Result<()> {
    let stage = Stage::empty().await?;
    stage.server("github", "");
    stage.server("arxiv", "");
    let client = stage.client().await?;
    client.names_become(&["arxiv", "github"]).await;
    let call = json!({"action": "get_pull_request", "pr": 7});
    let expected = json!({"number": 7, "head_sha": "sha-of-7", "asked": {"pr": 7}});
    assert_eq!(client.envelope("github", call.clone()).await?["data"], expected);
    stage.says("get_pull_request", Word::Fails(1, "conflict"));
    let failed = client.envelope("github", call.clone()).await?;
    assert_eq!(
        (&failed["code"], &failed["hint"]),
        (&json!("conflict"), &json!("try it tomorrow")),
        "{failed}"
    );
    assert_eq!(client.envelope("github", call.clone()).await?["data"], expected);
    stage.says("get_pull_request", Word::Answers(json!(5)));
    assert_eq!(client.envelope("github", call).await?["data"], 5);
    let result =
        client.call("arxiv", json!({"action": "search_papers", "query": "tea", "max_results": 1})).await?;
    let result = serde_json::to_value(result)?;
    assert_eq!(result["structuredContent"]["data"], Value::Null, "{result}");
    assert!(
        result["content"][1]["text"].as_str().unwrap_or_default().starts_with("{\"papers\":["),
        "{result}"
    );
    assert_eq!((stage.times("get_pull_request"), stage.times("search_papers")), (4, 1));
    client.end().await
}
