//! TLS by name, and secrets: their destinations, and that responses do not leak them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use loggia_egress::{
    CallerCredentials, CallerKey, EgressClient, EgressGrants, EgressLimits,
    EgressMode::{Reads, Writes},
    HeaderSecret, IoFuture, MissingCredential, RequestRefusal, SecretSource, SendError, TlsFault,
};
use rustls::{ServerConfig, pki_types::PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::support::{Answer, Names, Upstream, fetch, get, grants, ok, whole};

const CANARY: &str = "canary-4f9d/+2c71";

/// A server's side of TLS for a name, and the certificate that vouches for it.
fn tls(name: &str) -> (TlsAcceptor, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a configuration");
    (Arc::new(config).into(), made.cert.der().to_vec())
}

fn secret(host: &str, port: u16, source: SecretSource) -> HeaderSecret {
    HeaderSecret {
        host: host.into(),
        port,
        header: "authorization".into(),
        format: "Bearer {}".into(),
        source,
    }
}

fn value() -> SecretSource {
    SecretSource::Value("TOKEN".into(), CANARY.into())
}

fn setup(
    upstream: &Upstream,
    authority: Vec<u8>,
    source: SecretSource,
    redirects: usize,
) -> (EgressClient, String, EgressGrants) {
    let port = upstream.address.port();
    let to = |name: &str| format!("https://{name}:{port}");
    let mut granted = grants(&[&to("api.test"), &to("other.test"), &to("127.0.0.1")]);
    granted.secrets.push(secret("api.test", port, source));
    let names = Names::new(&[("api.test", &[&["127.0.0.1"]]), ("other.test", &[&["127.0.0.1"]])]);
    let limits = EgressLimits { time: Duration::from_secs(10), redirects, ..EgressLimits::default() };
    let client = EgressClient::setup(granted.clone(), limits).resolver(names).authority(authority).build();
    (client, to("api.test"), granted)
}

/// H50.
#[tokio::test]
async fn a_secret_goes_to_its_host_and_does_not_come_back() {
    let (acceptor, authority) = tls("api.test");
    let upstream = Upstream::serve(Some(acceptor), |head| {
        let sent =
            head.split("authorization: ").nth(1).and_then(|rest| rest.split("\r\n").next()).unwrap_or("none");
        let (basic, url) = (STANDARD.encode(format!("me:{CANARY}")), URL_SAFE_NO_PAD.encode(CANARY));
        let body =
            format!("you sent {sent}; {CANARY}; {basic}; {url}; canary-4f9d is not all of it; {CANARY}");
        let head = format!("HTTP/1.1 200 OK\r\nx-echo: {sent}\r\ncontent-length: {}\r\n\r\n", body.len());
        // Every byte a chunk of its own: no boundary hides anything.
        let bytes = body.into_bytes().into_iter().map(|byte| vec![byte]);
        Answer::Parts(std::iter::once(head.into_bytes()).chain(bytes).collect())
    })
    .await;
    let (client, url, _) = setup(&upstream, authority, value(), 0);
    let mut request = get(&url);
    request.headers_mut().insert("accept-encoding", "gzip".parse().expect("a value"));
    let response = fetch(&client.call(Reads), request).await.expect("an answer");
    let seen = upstream.seen().remove(0);
    assert!(seen.contains(&format!("authorization: Bearer {CANARY}\r\n")), "{seen}");
    assert!(seen.contains("accept-encoding: identity"), "{seen}");
    assert_eq!(response.headers()["x-echo"], "*".repeat("Bearer ".len() + CANARY.len()));
    assert_eq!(response.headers()["content-length"], response.body().len().to_string());
    let body = String::from_utf8_lossy(response.body()).into_owned();
    for hidden in
        [CANARY, &STANDARD.encode(format!("me:{CANARY}"))[6..], &URL_SAFE_NO_PAD.encode(CANARY)[..20]]
    {
        assert!(!body.contains(hidden), "{body}");
    }
    assert!(body.starts_with("you sent ******") && body.contains("canary-4f9d is not all of it"), "{body}");
}

#[tokio::test]
async fn a_secret_goes_nowhere_else() {
    let (acceptor, authority) = tls("other.test");
    let upstream = Upstream::serve(Some(acceptor), |_| ok("x")).await;
    let (client, url, granted) = setup(&upstream, authority, value(), 0);
    let call = client.call(Writes);
    fetch(&call, get(&url.replace("api.test", "other.test"))).await.expect("an answer");
    assert!(!upstream.seen().concat().contains("canary"), "{:?}", upstream.seen());
    // The certificate is for another name, so nothing was sent.
    let error = fetch(&call, get(&url)).await.expect_err("a wrong name");
    assert!(matches!(error, SendError::Tls { why: TlsFault::Name, .. }), "{error}");
    let mut own = get(&url);
    own.headers_mut().insert("authorization", "mine".parse().expect("a value"));
    let refused = fetch(&call, own).await.expect_err("taken");
    assert!(matches!(refused, SendError::Denied(RequestRefusal::Header { .. })), "{refused}");
    assert_eq!(upstream.seen().len(), 1);
    let shown = format!("{client:?} {granted:?} {error:?} {error} {refused:?} {refused}");
    assert!(!shown.contains("canary"), "{shown}");

    let plain = Upstream::start(|_| ok("x")).await;
    let mut granted = grants(&[&plain.url()]);
    granted.secrets.push(secret("127.0.0.1", plain.address.port(), value()));
    fetch(&EgressClient::new(granted, EgressLimits::default()).call(Reads), get(&plain.url()))
        .await
        .expect("an answer");
    assert!(!plain.seen().concat().contains("canary"));
}

#[tokio::test]
async fn only_trusted_authorities_are_trusted() {
    let (acceptor, _) = tls("api.test");
    let (_, another) = tls("api.test");
    let upstream = Upstream::serve(Some(acceptor), |_| ok("x")).await;
    let (client, url, _) = setup(&upstream, another, value(), 0);
    let error = fetch(&client.call(Reads), get(&url)).await.expect_err("unknown");
    assert!(matches!(error, SendError::Tls { .. }), "{error}");
    assert_eq!(upstream.seen().len(), 0);
}

/// H81.
#[tokio::test]
async fn no_range_of_an_echo_is_asked_for() {
    let (acceptor, authority) = tls("api.test");
    let upstream = Upstream::serve(Some(acceptor), ok).await;
    let (client, url, _) = setup(&upstream, authority, value(), 0);
    for host in ["api.test", "127.0.0.1"] {
        let mut request = get(&url.replace("api.test", host));
        for (name, value) in [("range", "bytes=9-"), ("if-range", "\"x\"")] {
            request.headers_mut().insert(name, value.parse().expect("a value"));
        }
        let _ = fetch(&client.call(Reads), request).await;
    }
    let seen = upstream.seen();
    assert!(seen.len() == 1 && !seen[0].contains("range:") && seen[0].contains("authorization:"), "{seen:?}");
}

/// H82: the same server, asked without the secret.
#[tokio::test]
async fn a_secret_is_looked_for_in_answers_to_requests_that_carried_none() {
    let (acceptor, authority) = tls("api.test");
    let secure = Upstream::serve(Some(acceptor), |_| ok("x")).await;
    let plain = Upstream::start(|head| match head {
        head if head.contains("/zip") => whole("200 OK", "content-encoding: gzip\r\n", "zip"),
        head if head.contains("/cut") => ok(&format!("last: Bearer {}", &CANARY[..CANARY.len() - 1])),
        _ => whole("200 OK", &format!("x-last: {CANARY}\r\n"), &format!("last: Bearer {CANARY}.")),
    })
    .await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("token");
    std::fs::write(&path, CANARY).expect("written");
    for source in [value(), SecretSource::File(path.clone())] {
        let (_, _, mut granted) = setup(&secure, authority.clone(), source, 0);
        granted.rules.extend(grants(&[&plain.url()]).rules);
        // Nothing was sent to the secret's own host, yet: another version of the plugin may have done so.
        let call = EgressClient::new(granted, EgressLimits::default()).call(Reads);
        let answer = fetch(&call, get(&plain.url())).await.expect("an answer");
        assert_eq!(answer.body(), &format!("last: {}.", "*".repeat(CANARY.len() + 7)));
        assert_eq!(answer.headers()["x-last"], "*".repeat(CANARY.len()));
        let cut = fetch(&call, get(&format!("{}/cut", plain.url()))).await.expect("an answer");
        assert_eq!(cut.body(), &format!("last: {}", "*".repeat(CANARY.len() + 6)));
        let zip = fetch(&call, get(&format!("{}/zip", plain.url()))).await.expect_err("gzip");
        assert_eq!(zip, SendError::Encoded);
    }
}

/// H27, H50.
#[tokio::test]
async fn a_redirect_carries_no_secret_away() {
    let (acceptor, authority) = tls("api.test");
    let plain = Upstream::start(|_| ok("x")).await;
    let down = plain.url();
    let upstream = Upstream::serve(Some(acceptor), move |head| match head {
        head if head.contains("/down") => whole("302 Found", &format!("location: {down}\r\n"), ""),
        head if head.contains("/leak") => whole("302 Found", &format!("location: /?{CANARY}\r\n"), ""),
        _ => ok("x"),
    })
    .await;
    let (client, url, _) = setup(&upstream, authority, value(), 3);
    let call = client.call(Reads);
    let error = fetch(&call, get(&format!("{url}/down"))).await.expect_err("a downgrade");
    assert!(error.to_string().contains("not continued over http"), "{error}");
    assert_eq!(plain.connections(), 0);
    fetch(&call, get(&format!("{url}/leak"))).await.expect("an answer");
    assert!(upstream.seen().last().expect("one").starts_with("GET /?***"), "{:?}", upstream.seen());
}

/// H28.
#[tokio::test]
async fn compressed_answers_and_unusable_secrets_are_refused() {
    let (acceptor, authority) = tls("api.test");
    let upstream = Upstream::serve(Some(acceptor), |head| match head {
        head if head.contains("/te") => Answer::Parts(vec![
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n3\r\nzip\r\n0\r\n\r\n".to_vec(),
        ]),
        _ => whole("200 OK", "content-encoding: gzip\r\n", "zip"),
    })
    .await;
    let (client, url, _) = setup(&upstream, authority.clone(), value(), 0);
    assert_eq!(fetch(&client.call(Reads), get(&url)).await.expect_err("gzip"), SendError::Encoded);
    assert_eq!(
        fetch(&client.call(Reads), get(&format!("{url}/te"))).await.expect_err("gzip"),
        SendError::Encoded
    );

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("canary-token");
    let (client, url, _) = setup(&upstream, authority, SecretSource::File(path.clone()), 0);
    for content in [None, Some("short"), Some("two\nlines of it")] {
        if let Some(content) = content {
            std::fs::write(&path, content).expect("written");
        }
        let error = fetch(&client.call(Reads), get(&url)).await.expect_err("unusable");
        assert_eq!(error, SendError::Secret("api.test".into()));
        assert!(!format!("{error} {error:?}").contains("canary"));
    }
    // Read for each request, so a rotation needs no restart.
    for turn in ["first-token", "second-token"] {
        std::fs::write(&path, format!("  {turn}\n")).expect("written");
        let _ = fetch(&client.call(Reads), get(&url)).await;
        assert!(upstream.seen().last().expect("one").contains(&format!("Bearer {turn}\r\n")));
    }
}

/// Callers of the test below.
const CALLERS: usize = 8;
/// Calls of each.
const CALLS: usize = 400;

/// Credentials of callers: `credential-of-N-TURN`, where turn is raised by every hundredth call. Caller 0 has none.
#[derive(Default)]
struct Credentials([AtomicUsize; CALLERS]);

fn key_of(caller: usize) -> CallerKey {
    CallerKey([u8::try_from(caller).expect("a small number"); 32])
}

impl CallerCredentials for Credentials {
    fn credential(&self, caller: CallerKey) -> IoFuture<Option<String>> {
        let caller = usize::from(caller.0[0]);
        let turn = self.0[caller].load(SeqCst);
        Box::pin(async move {
            tokio::task::yield_now().await;
            Ok((caller > 0).then(|| format!("credential-of-{caller}-{turn:03}")))
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_caller_sends_its_own_credential() {
    let (acceptor, authority) = tls("api.test");
    // Reports which caller's credential came, and echoes it with that of the next caller.
    let upstream = Upstream::serve(Some(acceptor), |head| {
        let sent = head.split("authorization: Bearer credential-of-").nth(1);
        let caller = sent.map_or("nobody", |sent| &sent[..1]);
        let echo = sent.and_then(|sent| sent.split("\r\n").next()).unwrap_or_default();
        ok(&format!("caller {caller} sent credential-of-{echo}"))
    })
    .await;
    let (_, url, granted) = setup(&upstream, authority.clone(), SecretSource::Caller, 0);
    let names = Names::new(&[("api.test", &[&["127.0.0.1"]])]);
    let credentials = Arc::new(Credentials::default());
    let client =
        EgressClient::setup(granted, EgressLimits { requests: usize::MAX, ..EgressLimits::default() })
            .resolver(names)
            .authority(authority)
            .credentials(credentials.clone())
            .build();
    let callers = (0..CALLERS).map(|caller| {
        let (client, url, credentials) = (client.clone(), url.clone(), credentials.clone());
        tokio::spawn(async move {
            for turn in 0..CALLS {
                let response = fetch(&client.call_for(Some(key_of(caller)), Reads, None), get(&url)).await;
                if caller == 0 {
                    let missing = MissingCredential::None;
                    let expected = SendError::Credential { host: "api.test".into(), why: missing };
                    assert_eq!(response.map(|_| ()).expect_err("no credential"), expected);
                    continue;
                }
                let body = String::from_utf8(response.expect("an answer").body().to_vec()).expect("a text");
                let stars = "*".repeat("credential-of-1-000".len());
                assert_eq!(body, format!("caller {caller} sent {stars}"));
                if turn % 100 == 99 {
                    credentials.0[caller].fetch_add(1, SeqCst);
                }
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.expect("no panic");
    }
    let anonymous = fetch(&client.call(Reads), get(&url)).await.map(|_| ()).expect_err("no caller");
    let expected = SendError::Credential { host: "api.test".into(), why: MissingCredential::Anonymous };
    assert_eq!(anonymous, expected);
    assert_eq!(upstream.connections(), CALLERS - 1, "callers share no connection");
}

#[test]
fn secrets_are_checked_before_they_are_needed() {
    let good = secret("api.test", 443, value());
    assert_eq!(good.check(), Ok(()));
    type Change = fn(&mut HeaderSecret);
    let with = |change: Change| {
        let mut secret = good.clone();
        change(&mut secret);
        secret.check().expect_err("refused")
    };
    let table: [(Change, &str); 9] = [
        (|s| s.host = "API.test".into(), "must be written \"api.test\""),
        (|s| s.host = "*.test".into(), "'*'"),
        (|s| s.port = 0, "port"),
        (|s| s.header = "Authorization".into(), "lower case"),
        (|s| s.header = "host".into(), "own"),
        (|s| s.header = "a b".into(), "not a header"),
        (|s| s.format = "Bearer".into(), "{} once"),
        (|s| s.source = SecretSource::Value("TOKEN".into(), "canary".into()), "$TOKEN must have from 8"),
        (|s| s.source = SecretSource::Value("TOKEN".into(), "canary\r\nx: y".into()), "cannot carry"),
    ];
    for (change, why) in table {
        let error = with(change);
        assert!(error.contains(why) && !error.contains("canary"), "{error}");
    }
}
