//! The authorization server's keys: fetched, reloaded, and refused.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    Router,
    http::{HeaderMap, Uri, header::AUTHORIZATION},
    response::IntoResponse,
    routing::any,
};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::*;

/// An authorization server, with the requests that it received.
struct TestIssuer {
    at: String,
    asked: Arc<Mutex<Vec<String>>>,
    fetched: Arc<AtomicUsize>,
}

async fn start_issuer(
    answer: impl Fn() -> axum::response::Response + Clone + Send + Sync + 'static,
) -> TestIssuer {
    let (asked, fetched) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
    let (asks, fetches) = (asked.clone(), fetched.clone());
    let router = Router::new().fallback(any(move |uri: Uri| {
        asks.lock().unwrap().push(uri.path().to_owned());
        fetches.fetch_add(1, Ordering::SeqCst);
        let answer = answer();
        async move { answer }
    }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    TestIssuer { at, asked, fetched }
}

async fn eventually(mut so: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !so().await {
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until the log contains a text.
async fn wait_for_log(log: &CapturedLog, text: &str) {
    eventually(async || log.text().contains(text)).await;
}

#[tokio::test]
async fn h48_unknown_keys_fetch_once_from_one_url() {
    let (log, _guard) = CapturedLog::start();
    let keys = Arc::new(SigningKeys::generate());
    let public = keys.public().to_string();
    let issuer = start_issuer(move || public.clone().into_response()).await;
    let auth = authenticator(&format!("{}/keys?tenant=1", issuer.at), &[], Path::new("."));
    let good = bearer(&keys.token(json!({})));
    let (status, challenge, body) = authenticate(&auth, &good, "/mcp").await.unwrap_err();
    assert_eq!((status, challenge.as_str()), (503, ""), "before the keys are there: {body}");
    let refusal = auth.authenticate(&good, &Uri::from_static("/mcp")).await.unwrap_err();
    assert_eq!(refusal.into_response().headers()["retry-after"], "5");
    assert!(!auth.is_ready());
    auth.start();
    wait_for_log(&log, "read the token keys from").await;
    assert!(auth.is_ready());
    assert!(authenticate(&auth, &good, "/mcp").await.is_ok());

    let elsewhere = |other: Value| bearer(&keys.headed(other));
    let made_up: Vec<HeaderMap> =
        (0..200).map(|n| elsewhere(json!({"kid": format!("made up {n}")}))).collect();
    for refused in join_all(made_up.iter().map(|headers| authenticate(&auth, headers, "/mcp"))).await {
        assert_eq!(refused.unwrap_err().0, 401);
    }
    let theirs = format!("{}/theirs", issuer.at);
    for header in
        [json!({"jku": theirs}), json!({"x5u": theirs}), json!({"kid": theirs}), json!({"kid": "/keys"})]
    {
        drop(authenticate(&auth, &elsewhere(header), "/mcp").await);
    }
    assert_eq!(issuer.fetched.load(Ordering::SeqCst), 1);
    assert_eq!(*issuer.asked.lock().unwrap(), ["/keys"]);
    for part in secret_parts(good[AUTHORIZATION].to_str().unwrap()) {
        assert!(!log.text().contains(part), "{part} was logged");
    }
}

#[tokio::test]
async fn invalid_key_responses_are_ignored() {
    let moved = || (axum::http::StatusCode::FOUND, [("location", "/moved")]).into_response();
    let huge = || vec![b' '; (256 << 10) + 1].into_response();
    let many = || json!({ "keys": vec![json!({}); 65] }).to_string().into_response();
    for (answer, text) in [
        (moved as fn() -> axum::response::Response, "the response has the status 302"),
        (huge, "larger than 256 KiB"),
        (many, "more than 64 keys"),
        (|| "<html>".into_response(), "not a JSON object"),
    ] {
        let (log, _guard) = CapturedLog::start();
        let issuer = start_issuer(answer).await;
        let auth = authenticator(&format!("{}/keys", issuer.at), &[], Path::new("."));
        auth.start();
        wait_for_log(&log, text).await;
        assert!(!auth.is_ready());
        assert_eq!(*issuer.asked.lock().unwrap(), ["/keys"], "redirects are not followed");
    }
}

#[tokio::test]
async fn a_changed_key_file_is_reloaded() {
    let (log, _guard) = CapturedLog::start();
    let (keys, newer) = (SigningKeys::generate(), SigningKeys::generate());
    let folder = tempfile::tempdir().unwrap();
    let (file, beside) = (folder.path().join("keys.json"), folder.path().join("beside"));
    std::fs::write(&file, keys.public().to_string()).unwrap();
    let auth = authenticator("keys.json", &[], folder.path());
    let signed = |keys: &SigningKeys, kid: &str| {
        bearer(&keys.sign(&json!({"alg": "EdDSA", "kid": kid}), &claims(json!({}))))
    };
    let (old, new, other) = (signed(&keys, "ed"), signed(&newer, "ed2"), signed(&newer, "ed3"));
    assert!(authenticate(&auth, &old, "/mcp").await.is_ok(), "before it is watched");
    auth.start();
    wait_for_log(&log, "read the token keys from").await;

    let mut public = newer.public();
    public["keys"][5]["kid"] = "ed2".into();
    std::fs::write(&beside, public.to_string()).unwrap();
    std::fs::rename(&beside, &file).unwrap();
    eventually(async || authenticate(&auth, &new, "/mcp").await.is_ok()).await;
    assert!(authenticate(&auth, &old, "/mcp").await.is_err());
    std::fs::write(&file, "half of a set").unwrap();
    eventually(async || {
        assert!(authenticate(&auth, &other, "/mcp").await.is_err());
        log.text().contains("not a JSON object")
    })
    .await;
    assert!(authenticate(&auth, &new, "/mcp").await.is_ok(), "the previous keys stay in use");
}

#[test]
fn an_unusable_key_file_fails_at_startup() {
    let folder = tempfile::tempdir().unwrap();
    let check = |jwks: &str, expected: &str| {
        let auth = json!({"resource": RESOURCE, "oauth": {"issuer": ISSUER, "jwks": jwks}});
        let problem = Authenticator::new(&settings(auth, folder.path())).unwrap_err().to_string();
        assert!(problem.starts_with("`auth.oauth.jwks` names ") && problem.contains(expected), "{problem}");
    };
    std::fs::write(folder.path().join("rubbish"), "rubbish").unwrap();
    std::fs::write(folder.path().join("large"), vec![b' '; (256 << 10) + 1]).unwrap();
    std::fs::write(folder.path().join("secrets"), r#"{"keys": [{"kty": "oct", "k": "AAAA"}]}"#).unwrap();
    check("none", "No such file");
    check(".", "not a regular file");
    check("rubbish", "not a JSON object");
    check("large", "larger than 256 KiB");
    check("secrets", "none of its keys");
}
