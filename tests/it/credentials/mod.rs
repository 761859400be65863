//! Credentials of callers: each request carries its own caller's, and nobody else's.

mod from_calls;
mod login;
mod shared;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result, ensure};
use loggia_tests::{
    Client, Era, Folder, Kind, Served, Token, binary, state,
    web::{Answer, Asked, Authority, Web},
};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, process::Command, task::JoinSet};

/// Callers that call at once.
const CALLERS: usize = 8;

/// Calls of all callers. `tests/release/run credentials` makes 100,000.
fn calls() -> usize {
    std::env::var("LOGGIA_CREDENTIAL_CALLS").ok().and_then(|calls| calls.parse().ok()).unwrap_or(1_600)
}

fn caller_name(caller: usize) -> String {
    format!("caller-{caller}")
}

fn credential(facade: &str, caller: usize) -> String {
    format!("{facade}-credential-of-{caller}")
}

/// Answers whose credential came: "shop of 3".
fn owner(asked: &Asked) -> Answer {
    let sent = asked.headers.get("authorization").map(String::as_str).unwrap_or_default();
    let owner = sent.strip_prefix("Bearer ").and_then(|sent| sent.split_once("-credential-of-"));
    let owner = owner.map_or("nobody".to_owned(), |(facade, caller)| format!("{facade} of {caller}"));
    Answer::Plain(
        200,
        vec![("content-type", "application/json".to_owned())],
        json!({"owner": owner}).to_string().into(),
    )
}

/// An API and a plugin at one server, whose credentials are their callers'.
struct Shop {
    folder: Folder,
    web: Web,
    trusted: PathBuf,
    tokens: Vec<Token>,
    admin: Token,
}

impl Shop {
    async fn open() -> Result<Self> {
        let authority = Authority::new("trusted")?;
        let web = Web::secure(&authority, "localhost", owner).await?;
        let folder = Folder::with(&["reaches"]);
        let (port, trusted) = (web.port, folder.beside("trusted").join("authorities.pem"));
        fs::write(&trusted, authority.pem())?;
        folder.write(
            "shop.api.toml",
            &format!(
                "format = 1\nname = \"shop\"\nsummary = \"A shop.\"\nserver = \"https://localhost:{port}\"\n[[operation]]\n\
                 action = \"owner\"\nmethod = \"GET\"\npath = \"/owner\"\nsummary = \"Shows the owner.\"\n"
            ),
        );
        let policy = format!(
            "[grants]\nhttp = [\"https://localhost:{port}\", \"https://127.0.0.1:{port}\"]\n\
             secrets = [{{ per-caller = true, host = \"localhost:{port}\", header = \"Authorization\", format = \"Bearer {{}}\" }}]\n"
        );
        for file in ["shop.toml", "reaches.toml"] {
            folder.write(file, &policy);
        }
        let mut tokens = Vec::new();
        for caller in 0..CALLERS {
            tokens.push(Token::new(&caller_name(caller), &["*"]).await?);
        }
        Ok(Self { folder, web, trusted, tokens, admin: Token::new("admin", &["*"]).await? })
    }

    async fn serve(&self, key: Option<&str>) -> Result<Served> {
        let hash =
            self.admin.toml.lines().find_map(|line| line.strip_prefix("hash = ")).context("no hash")?;
        // A host answers a caller's calls faster than the usual rate lets it make them.
        let settings =
            format!("[admin]\nlisten = \"127.0.0.1:0\"\ntoken = {hash}\n[http.per-caller]\nrate = 0\n");
        let tokens: Vec<&Token> = self.tokens.iter().collect();
        Served::configured_with(&self.folder, &settings, &tokens, |command| {
            command.env("SSL_CERT_FILE", &self.trusted);
            key.map(|key| command.env("LOGGIA_CREDENTIAL_KEY", key));
        })
        .await
    }

    /// Runs `loggia credential`; its exit code and output.
    async fn command(&self, words: &[&str], stdin: &str, key: Option<&str>) -> Result<(Option<i32>, String)> {
        let mut command = Command::new(binary());
        command.arg("credential").args(words).env("LOGGIA_STATE", state(self.folder.path()));
        key.map(|key| command.env("LOGGIA_CREDENTIAL_KEY", key));
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        child.stdin.take().context("no stdin")?.write_all(stdin.as_bytes()).await?;
        let output = child.wait_with_output().await?;
        let text = [output.stdout, output.stderr].concat();
        Ok((output.status.code(), String::from_utf8(text)?))
    }

    async fn set(&self, facade: &str, caller: usize, key: Option<&str>) -> Result<()> {
        let words = ["set", facade, "--caller", &caller_name(caller)];
        let (code, text) = self.command(&words, &format!("{}\n", credential(facade, caller)), key).await?;
        ensure!(code == Some(0), "{text}");
        Ok(())
    }

    /// Whose credential a call sent: that of the API, or of the plugin.
    async fn owner(&self, client: &Client, facade: &str) -> Result<Value> {
        let arguments = match facade {
            "shop" => json!({"action": "owner"}),
            _ => json!({"action": "fetch", "url": self.web.at("https", "localhost", "/owner")}),
        };
        client.envelope(facade, arguments).await
    }
}

/// Reads the owner from an envelope of either facade.
fn shown(envelope: &Value) -> String {
    let body = envelope["data"]["body"].as_str().and_then(|body| serde_json::from_str::<Value>(body).ok());
    let data = body.unwrap_or_else(|| envelope["data"].clone());
    data["owner"].as_str().map_or_else(|| envelope.to_string(), str::to_owned)
}

/// A request to `/credentials`.
async fn manage(served: &Served, token: &str, line: &str, body: &str) -> Result<(u16, String)> {
    let request = format!(
        "{line} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n{body}",
        served.admin,
        body.len()
    );
    let (status, _, body) = served.ask(&request).await?;
    Ok((status, body))
}

/// H95.
#[tokio::test(flavor = "multi_thread")]
async fn callers_use_their_own_credentials() -> Result<()> {
    let shop = std::sync::Arc::new(Shop::open().await?);
    for caller in 0..CALLERS {
        shop.set("shop", caller, None).await?;
        shop.set("reaches", caller, None).await?;
    }
    let served = shop.serve(None).await?;
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let client =
            Client::http_by(&served.host, Era::Stateless, Kind::default(), &shop.tokens[caller]).await?;
        let shop = shop.clone();
        callers.spawn(async move {
            for turn in 0..calls() / CALLERS {
                let facade = ["shop", "reaches"][turn % 2];
                let envelope = shop.owner(&client, facade).await?;
                assert_eq!(shown(&envelope), format!("{facade} of {caller}"));
            }
            client.end().await
        });
    }
    while let Some(ended) = callers.join_next().await {
        ended??;
    }
    assert_eq!(shop.web.asked().len(), calls() / CALLERS * CALLERS);
    Ok(())
}

#[tokio::test]
async fn callers_without_a_credential_learn_the_way() -> Result<()> {
    let shop = Shop::open().await?;
    shop.set("shop", 0, None).await?;
    shop.set("reaches", 0, None).await?;
    let served = shop.serve(None).await?;
    let client = Client::http_by(&served.host, Era::Stateless, Kind::default(), &shop.tokens[1]).await?;
    let remedy = |facade: &str| format!("`loggia credential set {facade} --caller NAME`");
    for facade in ["shop", "reaches"] {
        let refused = shop.owner(&client, facade).await?;
        assert_eq!(refused["code"], "denied", "{refused}");
        let error = refused["error"].as_str().unwrap_or_default();
        assert!(error.contains("and there is none for this caller") || facade == "reaches", "{refused}");
        let hint = refused["hint"].as_str().unwrap_or_default();
        assert!(hint.contains(&remedy(facade)), "{refused}");
    }
    assert!(shop.web.asked().is_empty(), "nothing was sent");
    // A credential that is set counts at once, and so does its removal.
    shop.set("shop", 1, None).await?;
    assert_eq!(shown(&shop.owner(&client, "shop").await?), "shop of 1");
    let removed = shop.command(&["remove", "shop", "--caller", "caller-1"], "", None).await?;
    assert_eq!(removed, (Some(0), "removed the credential of caller-1 for `shop`\n".to_owned()));
    assert_eq!(shop.owner(&client, "shop").await?["code"], "denied");
    client.end().await
}

#[tokio::test]
async fn administrators_manage_credentials_over_http() -> Result<()> {
    let shop = Shop::open().await?;
    let served = shop.serve(None).await?;
    let (admin, caller) = (shop.admin.secret.as_str(), shop.tokens[0].secret.as_str());
    let path = "/credentials/shop?caller=caller-0";
    let value = credential("shop", 0);
    for (token, line, body, status) in [
        (caller, format!("PUT {path}"), value.as_str(), 401),
        ("", "GET /credentials".to_owned(), "", 401),
        (admin, format!("PUT {path}"), "short", 400),
        (admin, "PUT /credentials/Shop!".to_owned(), &value, 400),
        (admin, format!("PUT {path}&x=y"), &value, 400),
        (admin, format!("DELETE {path}"), "", 404),
        (admin, format!("PUT {path}"), &value, 204),
    ] {
        let (answered, text) = manage(&served, token, &line, body).await?;
        assert_eq!(answered, status, "{line}: {text}");
        assert!(!text.contains("credential-of"), "{text}");
    }
    let (_, listed) = manage(&served, admin, "GET /credentials", "").await?;
    let mut listed: Value = serde_json::from_str(&listed)?;
    ensure!(listed[0]["stored"].take().is_u64(), "{listed}");
    assert_eq!(listed, json!([{"facade": "shop", "caller": {"named": "caller-0"}, "stored": null}]));
    let client = Client::http_by(&served.host, Era::Stateless, Kind::default(), &shop.tokens[0]).await?;
    assert_eq!(shown(&shop.owner(&client, "shop").await?), "shop of 0");
    assert_eq!(manage(&served, admin, &format!("DELETE {path}"), "").await?.0, 204);
    assert_eq!(shop.owner(&client, "shop").await?["code"], "denied");
    // The other pages stay open.
    assert_eq!(served.get("/healthz").await?.0, 200);
    client.end().await
}

/// All files below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    Ok(found)
}

/// H95.
#[tokio::test]
async fn credentials_are_encrypted_at_rest() -> Result<()> {
    let shop = Shop::open().await?;
    // The base64 of 32 bytes.
    let key = Some("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=");
    shop.set("shop", 0, key).await?;
    let folder = state(shop.folder.path());
    for file in files(&folder)? {
        let bytes = fs::read(&file)?;
        let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        ensure!(!has("credential-of") && !has("caller-0"), "{}", file.display());
        assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o077, 0, "{}", file.display());
    }
    ensure!(!folder.join("credential-key").exists(), "the key of the environment needs no file");
    let (code, listed) = shop.command(&["list"], "", key).await?;
    assert_eq!(code, Some(0), "{listed}");
    ensure!(listed.starts_with("facade\tcaller\tstored\nshop\tcaller-0\t20"), "{listed}");
    // Without the key, nothing is lost and nothing is sent.
    let (code, listed) = shop.command(&["list"], "", None).await?;
    assert_eq!(code, Some(1), "{listed}");
    ensure!(
        listed.contains("encrypted with another key") && listed.contains("1 of 1 credentials"),
        "{listed}"
    );
    let served = shop.serve(None).await?;
    let client = Client::http_by(&served.host, Era::Stateless, Kind::default(), &shop.tokens[0]).await?;
    let refused = shop.owner(&client, "shop").await?;
    assert_eq!(refused["code"], "denied", "{refused}");
    ensure!(!refused.to_string().contains(&*folder.to_string_lossy()), "{refused}");
    served.logs(|line| line.contains("a secret cannot be used") && line.contains("another key")).await;
    assert!(shop.web.asked().is_empty());
    client.end().await?;
    let (code, text) = shop.command(&["list"], "", Some("not a key")).await?;
    assert_eq!(code, Some(2), "{text}");
    ensure!(text.contains("LOGGIA_CREDENTIAL_KEY must be the base64 of 32 bytes"), "{text}");
    Ok(())
}
