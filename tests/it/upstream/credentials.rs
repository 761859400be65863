//! Upstreams over HTTP that know their callers: Loggia in front of another Loggia, which knows callers by their tokens.

use anyhow::{Result, ensure};
use loggia_tests::{Client, Era, Folder, Kind, Served, Token, binary, state};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, process::Command, task::JoinSet};

use super::fake::serve;

/// Callers that call at once.
const CALLERS: usize = 4;
/// Calls of each.
const CALLS: usize = 50;

/// Stores a credential.
async fn store(folder: &Folder, caller: &str, value: &str) -> Result<()> {
    let mut child = Command::new(binary())
        .args(["credential", "set", "inner", "--caller", caller])
        .env("LOGGIA_STATE", state(folder.path()))
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(value.as_bytes()).await?;
    }
    ensure!(child.wait().await?.success(), "the credential was not stored");
    Ok(())
}

async fn tokens(names: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    for caller in 0..CALLERS {
        tokens.push(Token::new(&format!("{names}-{caller}"), &["*"]).await?);
    }
    Ok(tokens)
}

async fn connect(served: &Served, token: &Token) -> Result<Client> {
    Client::http_by(&served.host, Era::Stateless, Kind::default(), token).await
}

/// Asks the inner server who calls, through the outer one.
async fn whoami(client: &Client) -> Result<Value> {
    client.envelope("inner", json!({"action": "reaches", "arguments": {"action": "whoami"}})).await
}

/// H95.
#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_knows_each_caller() -> Result<()> {
    let (inner_tokens, outer_tokens) = (tokens("inner").await?, tokens("outer").await?);
    let inner_folder = Folder::with(&["reaches"]);
    inner_folder.write("reaches.toml", "[grants]\ncaller = true\n");
    let operator = Token::new("operator", &["*"]).await?;
    let known: Vec<&Token> = inner_tokens.iter().chain([&operator]).collect();
    let inner = Served::configured(&inner_folder, "", &known).await?;

    let folder = Folder::with(&["echo"]);
    let settings = format!(
        "[upstream.inner]\nurl = {:?}\nheaders = {{ authorization = \"Bearer {}\" }}\n\
         caller-header = {{ name = \"authorization\", format = \"Bearer {{}}\" }}\n",
        inner.host.url, operator.secret
    );
    let outer = Served::configured(&folder, &settings, &outer_tokens.iter().collect::<Vec<_>>()).await?;
    serve(&outer, &["inner"]).await;
    for (caller, token) in inner_tokens.iter().enumerate().skip(1) {
        store(&folder, &format!("outer-{caller}"), &token.secret).await?;
    }

    // Whom the inner server sees without Loggia in between.
    let mut names = Vec::new();
    for token in &inner_tokens {
        let client = connect(&inner, token).await?;
        names.push(client.envelope("reaches", json!({"action": "whoami"})).await?["data"].clone());
        client.end().await?;
    }
    let distinct: std::collections::BTreeSet<String> = names.iter().map(Value::to_string).collect();
    ensure!(distinct.len() == CALLERS, "{distinct:?}");
    let mut callers = JoinSet::new();
    for (caller, token) in outer_tokens.iter().enumerate() {
        let (client, name) = (connect(&outer, token).await?, names[caller].clone());
        callers.spawn(async move {
            for _ in 0..CALLS {
                let envelope = whoami(&client).await?;
                if caller == 0 {
                    ensure!(envelope["code"] == "denied", "{envelope}");
                    let hint = envelope["hint"].as_str().unwrap_or_default();
                    ensure!(hint.contains("loggia credential set inner"), "{envelope}");
                } else {
                    ensure!(envelope["data"]["data"] == name, "{caller}: {envelope}");
                }
            }
            client.end().await
        });
    }
    while let Some(ended) = callers.join_next().await {
        ended??;
    }

    // A credential that the server refuses is the caller's affair.
    let client = connect(&outer, &outer_tokens[0]).await?;
    store(&folder, "outer-0", "not-a-token-of-it").await?;
    let refused = whoami(&client).await?;
    ensure!(refused["code"] == "denied", "{refused}");
    ensure!(
        refused["error"].as_str().is_some_and(|error| error.contains("refused the credentials")),
        "{refused}"
    );
    store(&folder, "outer-0", &inner_tokens[0].secret).await?;
    let envelope = whoami(&client).await?;
    ensure!(envelope["data"]["data"] == names[0], "{envelope}");
    client.end().await
}
