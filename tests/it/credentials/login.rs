//! `loggia credential login`: an authorization server issues a credential, and replaces it before it expires.

use std::{
    process::Stdio,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
};

use anyhow::{Context, Result, ensure};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use loggia_tests::{
    Client, Era, Folder, HttpHost, Kind, Served, Token, binary, scratch, soon, state,
    web::{Answer, Asked, Authority, Web},
    wire,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// An authorization server. It checks what a client must prove.
#[derive(Default)]
pub(super) struct Issuer {
    /// Access tokens issued so far.
    pub(super) issued: AtomicUsize,
    /// Refuses refresh tokens.
    revokes: AtomicBool,
    /// Access tokens expire at once.
    expires: AtomicBool,
    challenge: Mutex<String>,
}

/// Parameters of a query or form.
pub(super) fn pairs(text: &str) -> Vec<(String, String)> {
    url::form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

pub(super) fn find<'a>(pairs: &'a [(String, String)], name: &str) -> &'a str {
    pairs.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
}

fn reply(status: u16, body: Value) -> Answer {
    Answer::Plain(status, vec![("content-type", "application/json".to_owned())], body.to_string().into())
}

impl Issuer {
    /// Answers a request to the token endpoint.
    fn token(&self, asked: &Asked) -> Answer {
        let form = pairs(&String::from_utf8_lossy(&asked.body));
        let is_valid = match find(&form, "grant_type") {
            "authorization_code" => {
                let verifier = Sha256::digest(find(&form, "code_verifier"));
                let challenge = URL_SAFE_NO_PAD.encode(verifier);
                find(&form, "code") == "the-code" && challenge == *self.challenge.lock().expect("no panic")
            }
            "refresh_token" => {
                let current = format!("refresh-{}", self.issued.load(SeqCst));
                !self.revokes.load(SeqCst) && find(&form, "refresh_token") == current
            }
            _ => false,
        };
        // The id and the secret of the registration, as HTTP's basic authentication.
        let basic = asked.headers.get("authorization").map(String::as_str);
        if !is_valid || basic != Some("Basic bG9nZ2lhOnJlZ2lzdHJhdGlvbi1zZWNyZXQ=") {
            return reply(400, json!({"error": "invalid_grant"}));
        }
        let number = self.issued.fetch_add(1, SeqCst) + 1;
        let lifetime = if self.expires.load(SeqCst) { 1 } else { 3600 };
        reply(
            200,
            json!({"access_token": format!("access-token-{number}"), "token_type": "Bearer",
                "refresh_token": format!("refresh-{number}"), "expires_in": lifetime}),
        )
    }
}

/// A shop whose credentials an authorization server issues.
pub(super) struct Shop {
    pub(super) folder: Folder,
    pub(super) settings: String,
    pub(super) trusted: std::path::PathBuf,
    pub(super) issuer: Arc<Issuer>,
    pub(super) web: Web,
    pub(super) endpoint: Web,
}

impl Shop {
    pub(super) async fn open() -> Result<Self> {
        let authority = Authority::new("trusted")?;
        let issuer = Arc::new(Issuer::default());
        let shared = issuer.clone();
        let endpoint = Web::start(move |asked: &Asked| match asked.path.as_str() {
            "/token" => shared.token(asked),
            _ => Answer::text("a page"),
        })
        .await?;
        // Tells which access token came.
        let web = Web::secure(&authority, "localhost", |asked: &Asked| {
            let sent = asked.headers.get("authorization").map(String::as_str).unwrap_or_default();
            reply(200, json!({"number": sent.rsplit('-').next()}))
        })
        .await?;
        let folder = Folder::new();
        let trusted = folder.beside("trusted").join("authorities.pem");
        std::fs::write(&trusted, authority.pem())?;
        folder.write(
            "shop.api.toml",
            &format!(
                "format = 1\nname = \"shop\"\nsummary = \"A shop.\"\nserver = \"https://localhost:{port}\"\n[[operation]]\n\
                 action = \"number\"\nmethod = \"GET\"\npath = \"/\"\nsummary = \"Shows the number.\"\n",
                port = web.port
            ),
        );
        folder.write(
            "shop.toml",
            &format!(
                "[grants]\nhttp = [\"https://localhost:{port}\", \"https://127.0.0.1:{port}\"]\nsecrets = [{{ per-caller = true, \
                 host = \"localhost:{port}\", header = \"Authorization\", format = \"Bearer {{}}\" }}]\n",
                port = web.port
            ),
        );
        let settings = format!(
            "[login.shop]\nauthorize = \"{}\"\ntoken = \"{}\"\nclient-id = \"loggia\"\nclient-secret = \"registration-secret\"\n\
             scopes = [\"read\", \"write\"]\n",
            endpoint.url("/authorize"),
            endpoint.url("/token")
        );
        Ok(Self { folder, settings, trusted, issuer, web, endpoint })
    }

    /// Writes a settings file of one's own. With the server's, which has tokens, a login would change nothing of them; without
    /// its tokens, the server would refuse all callers.
    pub(super) fn config(&self) -> Result<std::path::PathBuf> {
        let config = self.folder.beside("login").join("loggia.toml");
        std::fs::write(&config, &self.settings)?;
        Ok(config)
    }

    /// Starts a login; the command, and the link that it prints.
    async fn begin(&self, caller: &str) -> Result<(Child, String)> {
        let config = self.config()?;
        let mut child = Command::new(binary())
            .args(["credential", "login", "shop", "--caller", caller, "--config"])
            .arg(config)
            .env("LOGGIA_STATE", state(self.folder.path()))
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("no stderr")?).lines();
        let link = loop {
            let line = soon("the link", lines.next_line()).await??.context("no link")?;
            if line.starts_with("http://") {
                break line;
            }
        };
        // The last lines are read by the test through the exit code alone.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok((child, link))
    }

    /// Does what a browser does: the server sends it back to where the link says.
    pub(super) async fn browse(
        &self,
        method: &str,
        link: &str,
        query: impl Fn(&str) -> String,
    ) -> Result<wire::Told> {
        let query_of_link = pairs(link.split_once('?').context("no query")?.1);
        ensure!(find(&query_of_link, "scope") == "read write", "{link}");
        *self.issuer.challenge.lock().expect("no panic") = find(&query_of_link, "code_challenge").to_owned();
        let redirect = find(&query_of_link, "redirect_uri");
        let place = redirect.strip_prefix("http://").and_then(|rest| rest.split_once('/'));
        let (authority, path) = place.with_context(|| link.to_owned())?;
        let path = format!("/{path}?{}", query(find(&query_of_link, "state")));
        let request = format!("{method} {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
        wire::send(authority, request.as_bytes()).await
    }

    async fn answer(&self, link: &str, query: impl Fn(&str) -> String) -> Result<u16> {
        Ok(self.browse("GET", link, query).await?.status)
    }

    async fn log_in(&self, caller: &str) -> Result<()> {
        let (mut child, link) = self.begin(caller).await?;
        let status = self.answer(&link, |state| format!("code=the-code&state={state}")).await?;
        ensure!(status == 200, "{status}");
        let ended = soon("the end of the login", child.wait()).await??;
        ensure!(ended.success(), "{ended}");
        Ok(())
    }

    pub(super) async fn serve(&self, tokens: &[&Token]) -> Result<Served> {
        Served::configured_with(&self.folder, &self.settings, tokens, |command| {
            command.env("SSL_CERT_FILE", &self.trusted);
        })
        .await
    }
}

async fn connect(host: &HttpHost, token: &Token) -> Result<Client> {
    Client::http_by(host, Era::Stateless, Kind::default(), token).await
}

/// The number of the access token that a call sent.
pub(super) async fn number(client: &Client) -> Result<Value> {
    let envelope = client.envelope("shop", json!({"action": "number"})).await?;
    Ok(if envelope["ok"] == true { envelope["data"]["number"].clone() } else { envelope })
}

/// H95.
#[tokio::test]
async fn a_login_issues_credentials_and_renews_them() -> Result<()> {
    let (shop, ada, bob) =
        (Shop::open().await?, Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?);
    shop.log_in("ada").await?;
    let served = shop.serve(&[&ada, &bob]).await?;
    let client = connect(&served.host, &ada).await?;
    assert_eq!(number(&client).await?, "1");
    assert_eq!(number(&client).await?, "1", "it is not replaced without need");
    // Another caller has none.
    let other = connect(&served.host, &bob).await?;
    assert_eq!(number(&other).await?["code"], "denied");
    other.end().await?;
    // An expiring token is replaced once, by whichever of many calls comes first.
    shop.issuer.expires.store(true, SeqCst);
    shop.log_in("ada").await?;
    shop.issuer.expires.store(false, SeqCst);
    let calls = futures_util::future::try_join_all((0..20).map(|_| number(&client))).await?;
    assert!(calls.iter().all(|number| number == "3"), "{calls:?}");
    assert_eq!(shop.issuer.issued.load(SeqCst), 3);
    // A refresh token that the server no longer accepts ends the login.
    shop.issuer.expires.store(true, SeqCst);
    shop.log_in("ada").await?;
    shop.issuer.revokes.store(true, SeqCst);
    loggia_tests::eventually(async || {
        let refused = number(&client).await.map_err(|error| error.to_string())?;
        if refused["code"] == "denied" { Ok(()) } else { Err(refused.to_string()) }
    })
    .await;
    let asked = shop.endpoint.asked().len();
    assert_eq!(number(&client).await?["code"], "denied");
    assert_eq!(shop.endpoint.asked().len(), asked, "the server is not asked for each call");
    let sent = shop.web.asked().len();
    ensure!(sent >= 22, "{sent}");
    client.end().await
}

#[tokio::test]
async fn only_the_answer_to_a_login_ends_it() -> Result<()> {
    let shop = Shop::open().await?;
    let (mut child, link) = shop.begin("ada").await?;
    for query in ["code=the-code&state=guessed", "code=the-code", "", "state=guessed&error=access_denied"] {
        assert_eq!(shop.answer(&link, |_| query.to_owned()).await?, 400, "{query}");
    }
    assert!(shop.endpoint.asked().is_empty(), "no code was exchanged");
    let denied = |state: &str| format!("error=access_denied&state={state}");
    assert_eq!(shop.answer(&link, denied).await?, 200);
    assert_eq!(soon("the end of the login", child.wait()).await??.code(), Some(1));
    // A facade without an authorization server.
    let output = Command::new(binary())
        .args(["credential", "login", "other"])
        .env("LOGGIA_STATE", scratch())
        .output()
        .await?;
    let text = String::from_utf8(output.stderr)?;
    ensure!(output.status.code() == Some(1) && text.contains("no `[login.other]`"), "{text}");
    Ok(())
}
