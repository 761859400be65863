//! Authentication by the server's own tokens, and confidentiality of tokens.

use anyhow::{Context, Result};
use loggia_tests::{
    Client, ERAS, Folder, Kind, Served, Token, eventually, memory,
    web::{Answer, Web},
    wire::{self, Told},
};
use serde_json::{Value, json};

fn add() -> Value {
    json!({"action": "add", "a": 1, "b": 2})
}

/// Each part of a token that would be worth something to a thief.
pub fn parts(secret: &str) -> impl Iterator<Item = &str> {
    secret.trim_start_matches("loggia_").split('.').filter(|part| part.len() >= 12)
}

/// Checks that the log, which includes lines of the layers and of rmcp, contains none of these.
pub fn keeps_quiet(served: &Served, secrets: &[&str]) {
    let log = served.log.lock().expect("a log").join("\n");
    assert!(log.contains("not authenticated"), "it is logged at the finest level");
    for part in secrets.iter().flat_map(|secret| parts(secret)) {
        assert!(!log.contains(part), "{part} is in the log");
        // Nor half of it: a log that splits a secret has leaked it.
        assert!(!log.contains(&part[..part.len() / 2]), "half of {part} is in the log");
    }
}

/// Makes a call that rmcp gets, and waits for its line about it.
pub async fn call_by_rmcp(served: &Served, header: &str) -> Result<()> {
    let request = wire::call(&served.host, &format!("{header}Connection: close\r\n"), 1, "echo", &add());
    let response = wire::send(served.host.authority(), wire::weighted(&request).as_bytes()).await?;
    assert_eq!(response.status, 200, "{response:?}");
    served.logs(|line| line.contains("CallToolRequest")).await;
    Ok(())
}

/// H48.
#[tokio::test]
async fn invalid_tokens_are_refused_and_never_logged() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let [good, old, unknown] =
        [Token::new("ada", &["*"]).await?, Token::new("old", &["*"]).await?, Token::new("x", &["*"]).await?];
    // One cannot be made that has expired.
    let expired = Token { toml: format!("{}expires = \"2020-01-01\"\n", old.toml), ..old.clone() };
    let served = Served::configured_with(&folder, "", &[&good, &expired], |command| {
        command.env("LOGGIA_LOG", "trace,rmcp=trace,hyper=trace,plugin=trace");
    })
    .await?;
    let host = &served.host;
    let bearer = |token: &str| format!("Authorization: Bearer {token}\r\n");
    let near = {
        // The last character is a checksum of the others.
        let (rest, last) = good.secret.split_at(good.secret.len() - 1);
        format!("{rest}{}", if last == "x" { "y" } else { "x" })
    };
    let garbage = "Z2FyYmFnZS1nYXJiYWdlLWdhcmJhZ2U";
    let cases: Vec<(&str, String, u16, &str)> = vec![
        ("none", String::new(), 401, "unauthorized"),
        ("another scheme", format!("Authorization: Basic {garbage}\r\n"), 401, "unauthorized"),
        ("garbage", bearer(garbage), 401, "invalid_token"),
        ("no word", bearer("\u{1}"), 400, ""),
        ("two words", bearer("a b"), 400, "invalid_request"),
        ("nothing", "Authorization: Bearer\r\n".into(), 400, "invalid_request"),
        ("8 KiB and more", bearer(&"a".repeat(9 << 10)), 401, "longer than 8 KiB"),
        ("of no server's", bearer(&unknown.secret), 401, "invalid_token"),
        ("nearly right", bearer(&near), 401, "invalid_token"),
        ("expired", bearer(&old.secret), 401, "has expired"),
        ("twice", format!("{0}{0}", good.header()), 400, "send one Authorization header"),
        ("two", format!("{}{}", good.header(), bearer(garbage)), 400, "send one Authorization header"),
        ("in another header", format!("X-Authorization: Bearer {}\r\n", good.secret), 401, "unauthorized"),
        ("in a cookie", format!("Cookie: access_token={}\r\n", good.secret), 401, "unauthorized"),
        ("of a proxy", format!("Proxy-Authorization: Bearer {}\r\n", good.secret), 401, "unauthorized"),
        ("right", good.header(), 200, "\"data\":3"),
        ("right, in other letters", good.header().replace("Bearer", "bEARER"), 200, "\"data\":3"),
    ];
    for (what, headers, status, said) in &cases {
        let told = wire::answered(host, headers, "echo", &add()).await?;
        assert_eq!(told.status, *status, "{what}: {told:?}");
        assert!(told.body.contains(said), "{what}: {told:?}");
        let challenged =
            told.header("www-authenticate").map(|said| said.starts_with("bearer realm=\"loggia\""));
        let by_hyper = said.is_empty();
        assert_eq!(challenged, (*status != 200 && !by_hyper).then_some(true), "{what}: {told:?}");
        for part in parts(&good.secret).chain([garbage]) {
            assert!(!format!("{told:?}").contains(part), "{what}: {told:?}");
        }
    }
    // Tokens in the URL are refused, valid or not, even next to a valid header.
    for (query, headers) in [
        ("access_token", String::new()),
        ("ACCESS_TOKEN", good.header()),
        ("a=b&access%5ftoken", good.header()),
    ] {
        let asked = wire::call(host, &format!("{headers}Connection: close\r\n"), 1, "echo", &add());
        let asked = asked.replacen("POST /mcp ", &format!("POST /mcp?{query}={} ", good.secret), 1);
        let told = wire::send(host.authority(), asked.as_bytes()).await?;
        assert_eq!(told.status, 401, "{query}: {told:?}");
        assert!(told.body.contains("never in the URL"), "{query}: {told:?}");
    }
    // With an MCP client of either lifecycle, and with an invalid token.
    for era in ERAS {
        let client = Client::http_by(host, era, Kind::default(), &good).await?;
        assert_eq!(client.envelope("echo", add()).await?["data"], 3.0);
        client.end().await?;
        assert!(Client::http_by(host, era, Kind::default(), &unknown).await.is_err(), "{era:?}");
    }
    call_by_rmcp(&served, &good.header()).await?;
    keeps_quiet(&served, &[&good.secret, &old.secret, &unknown.secret, garbage]);
    Ok(())
}

#[tokio::test]
async fn tokens_come_and_go_while_the_server_runs() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let [ada, bob] = [Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?];
    let served = Served::configured(&folder, "", &[&ada]).await?;
    // She keeps listening on it as long as she may.
    let session = wire::session(&served.host, &ada.header(), wire::INITIALIZE).await?;
    let mut stream = wire::listened(&served.host, &session).await?;
    let statuses = async || {
        let status = async |token: &Token| {
            anyhow::Ok(wire::answered(&served.host, &token.header(), "echo", &add()).await?.status)
        };
        anyhow::Ok([status(&ada).await?, status(&bob).await?])
    };
    assert_eq!(statuses().await?, [200, 401]);
    let steps: [(&str, &[&Token], [u16; 2], &str); 5] = [
        ("", &[&ada, &bob], [200, 200], "came=\"bob\" went=\"\""),
        ("nonsense = 1", &[&bob], [200, 200], "unknown key `nonsense`"),
        ("", &[&bob], [401, 200], "came=\"\" went=\"ada\""),
        ("", &[], [401, 401], "went=\"bob\""),
        ("[http]\nsessions = 5", &[&ada], [200, 401], "takes effect at the next start"),
    ];
    for (settings, tokens, expected, said) in steps {
        Served::settings(&folder, settings, tokens)?;
        served.logs(|line| line.contains(said)).await;
        eventually(async || match statuses().await {
            Ok(statuses) if statuses == expected => Ok(()),
            other => Err(format!("{said}: {other:?}")),
        })
        .await;
    }
    stream.until("\r\n0\r\n\r\n").await.context("her stream ends with her token")?;
    let log = served.log.lock().expect("a log").join("\n");
    assert!(log.contains("the previous tokens stay valid"), "{log}");
    assert!(!log.contains(&ada.secret) && !log.contains("sha256:"), "{log}");
    Ok(())
}

/// Requiring tokens takes effect at the next start.
#[tokio::test]
async fn adding_a_token_keeps_access_anonymous_until_restart() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let served = Served::configured(&folder, "", &[]).await?;
    Served::settings(&folder, "", &[&Token::new("ada", &["*"]).await?])?;
    served.logs(|line| line.contains("until then, access is unauthenticated")).await;
    assert_eq!(wire::answered(&served.host, "", "echo", &add()).await?.status, 200);
    Ok(())
}

/// H48: plugins and their upstreams see none of the client's credentials.
#[tokio::test]
async fn a_token_reaches_no_plugin_or_upstream() -> Result<()> {
    let web = Web::start(Answer::echo).await?;
    let folder = Folder::with(&["reaches"]);
    folder.write("reaches.toml", &format!("[grants]\nhttp = [{:?}]\n", web.url("")));
    let token = Token::new("ada", &["reaches:*"]).await?;
    let served = Served::configured(&folder, "", &[&token]).await?;
    let headers = format!("{}Cookie: session=cookie-of-ada\r\nX-Request-Id: mine\r\n", token.header());
    let mut told: Vec<Told> = Vec::new();
    for arguments in [
        json!({"action": "fetch", "url": web.url("/")}),
        json!({"action": "surroundings"}),
        json!({"action": "whoami"}),
    ] {
        let answer = wire::answered(&served.host, &headers, "reaches", &arguments).await?;
        assert_eq!(answer.envelope()?["ok"], true, "{answer:?}");
        told.push(answer);
    }
    let asked = web.asked();
    assert_eq!(asked.len(), 1);
    let seen = format!("{told:?} {asked:?}");
    assert!(!asked[0].headers.contains_key("authorization"), "{asked:?}");
    for secret in parts(&token.secret).chain(["cookie-of-ada", "Bearer"]) {
        assert!(!seen.contains(secret), "{secret}: {seen}");
    }
    // The caller has an opaque name that is specific to this plugin, not the operator's.
    let whoami = told[2].envelope()?["data"].clone();
    assert!(whoami.is_null() || !whoami.as_str().context("a name")?.contains("ada"), "{whoami}");
    Ok(())
}

/// H48: guesses cost no memory.
#[tokio::test]
async fn guessing_tokens_costs_no_memory_and_blocks_nobody() -> Result<()> {
    const GUESSES: usize = 2000;
    let folder = Folder::with(&["echo"]);
    let token = Token::new("ada", &["*"]).await?;
    let served = Served::configured(&folder, "", &[&token]).await?;
    let host = &served.host;
    let process = host.child.id().context("it ended")?;
    let right = async || {
        let told = wire::answered(host, &token.header(), "echo", &add()).await?;
        anyhow::ensure!(told.status == 200, "{told:?}");
        Ok(())
    };
    right().await?;
    let before = memory(process, "VmRSS")?;
    let mut line = wire::Line::open(host.authority()).await?;
    for guess in 0..GUESSES {
        line.write(wire::post(host, &format!("Authorization: Bearer {guess:x>500}\r\n"), "")).await?;
        assert_eq!(line.answer().await?.status, 401);
        if guess % 500 == 0 {
            right().await?;
        }
    }
    right().await?;
    let grown = memory(process, "VmRSS")?.saturating_sub(before);
    assert!(grown < 16 << 20, "{grown} bytes more");
    assert_eq!(
        served.figure("loggia_auth_failures_total{reason=\"invalid_token\"}").await?,
        Some(GUESSES as f64)
    );
    Ok(())
}
