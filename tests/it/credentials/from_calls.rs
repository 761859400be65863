//! Callers log in from their calls: the person opens a link, and the call goes on.

use std::{path::PathBuf, sync::atomic::Ordering::SeqCst};

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join;
use loggia_tests::{
    Client, ERAS, Era, Folder, HttpHost, Kind, Token, accepted, binary, heard, opened, state, wire,
};
use serde_json::{Value, json};
use tokio::{process::Command, sync::mpsc};

use super::login::{Shop, find, number, pairs};

/// The answer of a person who granted access.
fn granted(state: &str) -> String {
    format!("code=the-code&state={state}")
}

/// The link of a question, or of a failed call.
fn link(of: &Value) -> Result<String> {
    let link = of.get("url").or_else(|| of["details"].get("link")).and_then(Value::as_str);
    link.map(str::to_owned).with_context(|| format!("no link: {of}"))
}

/// The code that a page shows.
fn code(page: &wire::Told) -> Result<String> {
    let code = page.body.split_once("<code>").and_then(|(_, rest)| rest.split_once("</code>"));
    code.map(|(code, _)| code.to_owned()).with_context(|| page.body.clone())
}

fn state_of(link: &str) -> String {
    find(&pairs(link.split_once('?').map_or("", |(_, query)| query)), "state").to_owned()
}

/// Questions to the person behind a client, which is called meanwhile.
fn take_questions(client: &mut Client) -> mpsc::UnboundedReceiver<Value> {
    std::mem::replace(&mut client.questions, mpsc::unbounded_channel().1)
}

/// A call with the code of a login.
async fn with_code(client: &Client, code: &str) -> Result<Value> {
    client.envelope("shop", json!({"action": "number", "login_code": code})).await
}

/// What `loggia credential list` prints, without times.
async fn listed(shop: &Shop) -> Result<Vec<String>> {
    let mut command = Command::new(binary());
    command.args(["credential", "list"]).env("LOGGIA_STATE", state(shop.folder.path()));
    let text = String::from_utf8(command.output().await?.stdout)?;
    let owner = |line: &str| line.rsplit_once('\t').map(|(owner, _)| owner.replace('\t', " "));
    Ok(text.lines().skip(1).filter_map(owner).collect())
}

async fn stdio(shop: &Shop, era: Era, kind: Kind) -> Result<Client> {
    let config = shop.config()?;
    Client::stdio_as_with(shop.folder.path(), era, kind, |command| {
        command.arg("--config").arg(config).env("SSL_CERT_FILE", &shop.trusted);
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_while_its_person_logs_in() -> Result<()> {
    for era in ERAS {
        let shop = Shop::open().await?;
        let mut client = stdio(&shop, era, Kind::person([opened()]).links()).await?;
        let mut questions = take_questions(&mut client);
        let person = async {
            let question = heard("the link", &mut questions).await?;
            let message = question["message"].as_str().unwrap_or_default();
            ensure!(message.contains("Log in to use `shop`. The call goes on once you have."), "{question}");
            ensure!(listed(&shop).await?.is_empty());
            let page = shop.browse("GET", &link(&question)?, granted).await?;
            ensure!(page.status == 200, "{}", page.body);
            Ok(question)
        };
        let (answer, question) = try_join(number(&client), person).await?;
        assert_eq!(answer, "1");
        assert_eq!(listed(&shop).await?, ["shop (local user)"]);
        // Nothing is asked again, and the port is closed.
        assert_eq!(number(&client).await?, "1");
        assert!(questions.try_recv().is_err());
        assert!(shop.browse("GET", &link(&question)?, granted).await.is_err(), "the port is closed");
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn clients_without_links_pass_logins_on() -> Result<()> {
    let shop = Shop::open().await?;
    let client = stdio(&shop, Era::Stateful, Kind::default()).await?;
    let described = client.envelope("shop", json!({"action": "describe"})).await?;
    assert_eq!(described["data"]["login"]["hint"], "the first call begins it and returns its link");
    let refused = number(&client).await?;
    let link = link(&refused)?;
    assert_eq!(refused["error"], format!("access denied: `shop` needs a login first: {link}"));
    assert_eq!(
        refused["hint"],
        "give the person the link; once they have logged in there, make the same call again"
    );
    // Another call joins the same login, and `describe` shows it.
    assert_eq!(number(&client).await?["details"]["link"], link);
    let described = client.envelope("shop", json!({"action": "describe"})).await?;
    assert_eq!(described["data"]["login"]["link"], link);
    assert!(shop.web.asked().is_empty(), "nothing was sent");
    assert_eq!(shop.browse("GET", &link, granted).await?.status, 200);
    loggia_tests::eventually(async || {
        let answer = number(&client).await.map_err(|error| error.to_string())?;
        if answer == "1" { Ok(()) } else { Err(answer.to_string()) }
    })
    .await;
    let described = client.envelope("shop", json!({"action": "describe"})).await?;
    assert_eq!(described["data"].get("login"), None);
    client.end().await
}

#[tokio::test]
async fn a_refused_login_ends_the_call() -> Result<()> {
    let shop = Shop::open().await?;
    let mut client = stdio(&shop, Era::Stateful, Kind::person([opened()]).links()).await?;
    let mut questions = take_questions(&mut client);
    let denied = |state: &str| format!("error=access_denied&error_description=No%20thanks&state={state}");
    let person = async {
        let question = heard("the link", &mut questions).await?;
        Ok(shop.browse("GET", &link(&question)?, denied).await?.status)
    };
    let (refused, status) = try_join(number(&client), person).await?;
    assert_eq!(status, 200);
    assert_eq!(
        refused["error"],
        "access denied: the login to `shop` failed: the authorization server refused: No thanks"
    );
    assert!(listed(&shop).await?.is_empty());
    client.end().await
}

/// A shop over HTTP, with an audit trail.
struct Served {
    shop: Shop,
    served: loggia_tests::Served,
    trail: PathBuf,
    ada: Token,
    bob: Token,
}

impl Served {
    async fn start() -> Result<Self> {
        let mut shop = Shop::open().await?;
        let (ada, bob) = (Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?);
        let trail = shop.folder.beside("trail").join("audit.jsonl");
        shop.settings = format!("{}\n[audit]\nfile = {:?}\n", shop.settings, trail);
        let served = shop.serve(&[&ada, &bob]).await?;
        Ok(Self { shop, served, trail, ada, bob })
    }

    async fn connect(&self, token: &Token, era: Era, kind: Kind) -> Result<Client> {
        Client::http_by(&self.served.host, era, kind, token).await
    }
}

/// H96.
#[tokio::test(flavor = "multi_thread")]
async fn the_person_at_the_link_passes_on_a_code() -> Result<()> {
    for era in ERAS {
        let server = Served::start().await?;
        let mut client = server.connect(&server.ada, era, Kind::person([opened()]).links()).await?;
        let mut questions = take_questions(&mut client);
        let bob = server.connect(&server.bob, era, Kind::default()).await?;
        let person = async {
            let link = link(&heard("the link", &mut questions).await?)?;
            // Meanwhile another caller has a login of its own.
            let other = self::link(&number(&bob).await?)?;
            ensure!(state_of(&other) != state_of(&link), "{other}");
            let page = server.shop.browse("GET", &link, granted).await?;
            ensure!(page.status == 200, "{}", page.body);
            ensure!(page.body.contains("<b>ada</b>") && page.body.contains("<b>shop</b>"), "{}", page.body);
            ensure!(listed(&server.shop).await?.is_empty(), "nothing is stored before the code");
            let form = heard("the form", &mut questions).await?;
            ensure!(
                form["message"] == "[shop] Enter the code that the last page of the login to `shop` shows.",
                "{form}"
            );
            client.service.service().answer(accepted(json!({"code": "0000-0000"})));
            let again = heard("the form again", &mut questions).await?;
            ensure!(
                again["message"].as_str().is_some_and(|text| text.contains("4 more can be tried")),
                "{again}"
            );
            // The code is worth nothing to another caller.
            let refused = with_code(&bob, &code(&page)?).await?;
            let error = refused["error"].as_str().unwrap_or_default();
            ensure!(error.contains("needs a login before there is a code"), "{refused}");
            client.service.service().answer(accepted(json!({"code": code(&page)?})));
            Ok(page)
        };
        let (answer, page) = try_join(number(&client), person).await?;
        assert_eq!(answer, "1");
        assert_eq!(listed(&server.shop).await?, ["shop ada"]);
        assert_eq!(number(&bob).await?["code"], "denied");
        client.end().await?;
        bob.end().await?;
        let trail = loggia_tests::eventually(async || {
            let text = std::fs::read_to_string(&server.trail).map_err(|error| error.to_string())?;
            if text.contains("credential_stored") { Ok(text) } else { Err(text) }
        })
        .await;
        let stored = trail.lines().find(|line| line.contains("credential_stored")).context("no line")?;
        ensure!(stored.contains("\"owner\":\"ada\"") && stored.contains("\"how\":\"login\""), "{stored}");
        ensure!(!trail.contains("access-token") && !trail.contains(&code(&page)?), "{trail}");
        let log = server.served.log.lock().expect("a log").join("\n");
        ensure!(!log.contains("access-token") && !log.contains("the-code"), "{log}");
    }
    Ok(())
}

/// H96.
#[tokio::test]
async fn codes_are_sent_with_calls() -> Result<()> {
    let server = Served::start().await?;
    let (shop, ada) = (&server.shop, server.connect(&server.ada, Era::Stateless, Kind::default()).await?);
    let tools = ada.service.list_all_tools().await?;
    let tool = tools.iter().find(|tool| tool.name == "shop").context("no tool")?;
    ensure!(tool.input_schema["properties"].get("login_code").is_some(), "{tool:?}");
    let described = ada.envelope("shop", json!({"action": "describe"})).await?;
    let link = described["data"]["login"]["link"].as_str().context("no link")?.to_owned();
    let refused = number(&ada).await?;
    assert_eq!(self::link(&refused)?, link, "`describe` and calls share a login");
    assert_eq!(
        refused["hint"],
        "give the person the link; when its last page shows a code, ask for it and make the same call with \
         \"login_code\": \"CODE\""
    );
    let page = shop.browse("GET", &link, granted).await?;
    let code = code(&page)?;
    let waits = number(&ada).await?;
    assert_eq!(waits["error"], "access denied: the login to `shop` waits for its code");
    let wrong = with_code(&ada, "0000-0000").await?;
    assert_eq!(wrong["error"], "access denied: the `login_code` is wrong; 4 more can be tried");
    assert!(shop.web.asked().is_empty() && listed(shop).await?.is_empty());
    let called = with_code(&ada, &code.to_lowercase()).await?;
    assert_eq!(called["data"]["number"], "1", "{called}");
    // The code is of no use any more, and does no harm.
    assert_eq!(with_code(&ada, &code).await?["data"]["number"], "1");
    assert_eq!(listed(shop).await?, ["shop ada"]);
    // Wrong codes end a login.
    let bob = server.connect(&server.bob, Era::Stateless, Kind::default()).await?;
    let link = self::link(&number(&bob).await?)?;
    shop.browse("GET", &link, granted).await?;
    let mut last = Value::Null;
    for _ in 0..5 {
        last = with_code(&bob, &code).await?;
    }
    let ended = "access denied: the login to `shop` failed: the code is wrong, as were those before it, so the login has ended";
    assert_eq!(last["error"], ended);
    assert_ne!(self::link(&number(&bob).await?)?, link, "another login begins");
    ada.end().await?;
    bob.end().await
}

/// H96.
#[tokio::test]
async fn hostile_returns_change_nothing() -> Result<()> {
    let server = Served::start().await?;
    let shop = &server.shop;
    let ada = server.connect(&server.ada, Era::Stateless, Kind::default()).await?;
    let link = link(&number(&ada).await?)?;
    let own = state_of(&link);
    for query in [
        String::new(),
        "code=the-code".to_owned(),
        format!("state={own}"),
        "code=the-code&state=guessed".to_owned(),
        format!("code=the-code&state={own}&state=guessed"),
        format!("code=the-code&code=other&state={own}"),
        format!("error=access_denied&error=other&state={own}"),
        format!("code=the-code&state={own}%00"),
        format!("code=the-code&state={}", own.to_lowercase()),
        format!("code=the-code&state={own}&x={}", "y".repeat(9000)),
    ] {
        let page = shop.browse("GET", &link, |_| query.clone()).await?;
        ensure!([400, 414].contains(&page.status), "{query:.80} {}", page.status);
        assert_eq!(page.header("cache-control"), Some("no-store"));
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        ensure!(!page.body.contains(&own), "{}", page.body);
    }
    for method in ["HEAD", "POST", "OPTIONS"] {
        assert_eq!(shop.browse(method, &link, granted).await?.status, 405, "{method}");
    }
    assert!(shop.endpoint.asked().is_empty(), "no code was exchanged");
    // Markup of the server's text is shown as text.
    let page = shop
        .browse("GET", &link, |state| format!("error=%3Cscript%3Ealert(1)%3C/script%3E&state={state}"))
        .await?;
    ensure!(
        page.status == 200 && page.body.contains("&lt;script&gt;") && !page.body.contains("<script>"),
        "{}",
        page.body
    );
    // An answer counts once.
    let link = self::link(&number(&ada).await?)?;
    assert_eq!(shop.browse("GET", &link, granted).await?.status, 200);
    assert_eq!(shop.browse("GET", &link, granted).await?.status, 400);
    assert_eq!(shop.issuer.issued.load(SeqCst), 1);
    assert!(listed(shop).await?.is_empty());
    ada.end().await
}

#[tokio::test]
async fn plugins_and_upstreams_need_logins_too() -> Result<()> {
    let (other, folder) = (Folder::with(&["echo"]), Folder::with(&["reaches"]));
    let inner = HttpHost::start(other.path()).await?;
    let policy = "[grants]\nhttp = [\"https://a.example\"]\n\
                  secrets = [{ per-caller = true, host = \"a.example\", header = \"Authorization\" }]\n";
    folder.write("reaches.toml", policy);
    let login = |name: &str| {
        format!(
            "[login.{name}]\nauthorize = \"https://auth.example/{name}\"\ntoken = \"https://auth.example/token\"\nclient-id = \"loggia\"\n"
        )
    };
    let settings = format!(
        "[upstream.inner]\nurl = {:?}\ncaller-header = {{ name = \"authorization\", format = \"Bearer {{}}\" }}\n{}{}",
        inner.url,
        login("reaches"),
        login("inner")
    );
    let ada = Token::new("ada", &["*"]).await?;
    let served = loggia_tests::Served::configured(&folder, &settings, &[&ada]).await?;
    let client = Client::http_by(&served.host, Era::Stateless, Kind::default(), &ada).await?;
    client.names_become(&["inner", "reaches"]).await;
    for (facade, arguments) in [
        ("reaches", json!({"action": "fetch", "url": "https://a.example"})),
        ("inner", json!({"action": "echo", "arguments": {"action": "say"}})),
    ] {
        let refused = client.envelope(facade, arguments).await?;
        let begins = format!("https://auth.example/{facade}?");
        ensure!(link(&refused)?.starts_with(&begins), "{refused}");
        ensure!(link(&refused)?.contains("%2Foauth%2Fcallback"), "{refused}");
    }
    client.end().await
}

#[tokio::test]
async fn unauthenticated_callers_have_no_logins() -> Result<()> {
    let shop = Shop::open().await?;
    let config = shop.config()?;
    let host = HttpHost::start_with(shop.folder.path(), |command| {
        command.arg("--config").arg(config).env("SSL_CERT_FILE", &shop.trusted);
    })
    .await?;
    let client = Client::http_as(&host, Era::Stateless, Kind::person([opened()]).links()).await?;
    let refused = number(&client).await?;
    ensure!(
        refused["error"].as_str().is_some_and(|text| text.contains("unauthenticated callers cannot have")),
        "{refused}"
    );
    assert_eq!(refused.get("details"), None);
    let described = client.envelope("shop", json!({"action": "describe"})).await?;
    assert_eq!(described["data"].get("login"), None);
    let request = format!(
        "GET /oauth/callback?code=x&state=y HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        host.authority()
    );
    assert_eq!(wire::send(host.authority(), request.as_bytes()).await?.status, 404);
    client.end().await
}

#[tokio::test]
async fn settings_without_a_way_back_are_reported() -> Result<()> {
    let shop = Shop::open().await?;
    let token = Token::new("ada", &["*"]).await?;
    for (more, warns) in [
        ("[http]\nlisten = \"0.0.0.0:0\"\n", true),
        ("[http]\nlisten = \"0.0.0.0:0\"\n[auth]\nresource = \"http://tools.example/mcp\"\n", true),
        ("[http]\nlisten = \"0.0.0.0:0\"\n[auth]\nresource = \"https://tools.example/mcp\"\n", false),
        ("[http]\nlisten = \"127.0.0.1:0\"\n", false),
    ] {
        let file =
            loggia_tests::Served::settings(&shop.folder, &format!("{}{more}", shop.settings), &[&token])?;
        let output = Command::new(binary()).args(["config", "check"]).arg(file).output().await?;
        let text = String::from_utf8([output.stdout, output.stderr].concat())?;
        ensure!(output.status.success(), "{text}");
        assert_eq!(text.contains("callers cannot log in from their calls"), warns, "{more} {text}");
    }
    // A command that makes one call does not wait for a browser.
    let config = shop.config()?;
    let mut command = Command::new(binary());
    command.args(["call", "shop", "number", "--plugins"]).arg(shop.folder.path()).arg("--config").arg(config);
    let output = command.env("LOGGIA_STATE", state(shop.folder.path())).output().await?;
    let text = String::from_utf8([output.stdout, output.stderr].concat())?;
    ensure!(text.contains("`loggia credential set shop --caller NAME`"), "{text}");
    Ok(())
}
