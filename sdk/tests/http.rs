//! Requests and their responses.

use std::time::Duration;

use loggia_sdk::{
    http::{self, Request, Response},
    prelude::*,
    testing::Host,
};

#[test]
fn requests_carry_all_their_parts() {
    let post = || http::post("https://a.example/v1");
    let cases: [(Request, &str, &str); 8] = [
        (http::get("https://a.example"), "https://a.example", ""),
        (
            http::get("https://a.example/?x=1#top").query(&[("y", "a b&c")]),
            "https://a.example/?x=1&y=a%20b%26c",
            "",
        ),
        (http::get("https://a.example").query(&[("ü", 1), ("n", 2)]), "https://a.example?%C3%BC=1&n=2", ""),
        (http::get("https://a.example/u").path(&["a/b", "?"]), "https://a.example/u/a%2Fb/%3F", ""),
        (post().json(&json!({"a": [1]})), "https://a.example/v1", r#"application/json {"a":[1]}"#),
        (
            post().form(&[("a", "1 2"), ("b", "=")]),
            "https://a.example/v1",
            "application/x-www-form-urlencoded a=1%202&b=%3D",
        ),
        (post().header("Content-Type", "text/csv").body("1,2"), "https://a.example/v1", "text/csv 1,2"),
        (post().header("Content-Type", "a/b").json(&1), "https://a.example/v1", "a/b 1"),
    ];
    for (request, url, body) in cases {
        let host = Host::new().http("*", "https://a.example", |_| Ok(Response::new(204)));
        host.run(|| request.send()).unwrap();
        let sent = &host.sent()[0];
        let types: Vec<_> = sent.headers.iter().map(|(_, value)| value.as_str()).collect();
        let text = format!("{} {}", types.join(","), String::from_utf8_lossy(&sent.body));
        assert_eq!((sent.url.as_str(), text.trim()), (url, body));
    }
}

#[test]
fn invalid_requests_are_not_sent() {
    let host = Host::new().http("*", "", |_| Ok(Response::new(200)));
    let urls = [
        "",
        "a.example",
        "ftp://a.example",
        "https://",
        "https:///x",
        "https://u:p@a.example",
        "https://a.example/a b",
        "https://a\n.example",
    ];
    for url in urls {
        assert_eq!(host.run(|| http::get(url).send()).unwrap_err().code, "invalid_params", "{url}");
    }
    for part in ["", ".", ".."] {
        let failure = host.run(|| http::get("https://a.example").path(&["users", part]).send()).unwrap_err();
        assert_eq!(failure.code, "invalid_params");
    }
    assert!(host.sent().is_empty());
}

#[test]
fn denied_requests_name_the_line_that_grants_them() {
    let host = Host::new().http("GET", "https://a.example/open", |_| Ok(Response::new(200)));
    let cases = [
        (
            "GET",
            "https://b.example:8443/x?key=secret",
            "GET to b.example:8443",
            "http = [\"https://b.example:8443\"]`.",
        ),
        (
            "POST",
            "https://a.example/open",
            "POST to a.example",
            "While a `read` action runs, only GET and HEAD pass.",
        ),
    ];
    for (method, url, message, hint) in cases {
        let failure = host.run(|| Request::new(method, url).send()).unwrap_err();
        assert_eq!(failure.code, "denied");
        assert_eq!(failure.message, format!("access denied: {message} is refused by the policy"));
        assert!(failure.hint.as_deref().unwrap().ends_with(hint), "{:?}", failure.hint);
    }
    assert_eq!(http::get("https://a.example/open").send().unwrap_err().code, "denied", "without a host");
}

#[test]
fn a_status_becomes_the_failure_that_it_means() {
    let cases = [
        (200, None),
        (204, None),
        (301, Some("internal")),
        (400, Some("invalid_params")),
        (401, Some("denied")),
        (403, Some("denied")),
        (404, Some("not_found")),
        (405, Some("internal")),
        (408, Some("timed_out")),
        (409, Some("conflict")),
        (410, Some("not_found")),
        (412, Some("conflict")),
        (422, Some("invalid_params")),
        (429, Some("unavailable")),
        (500, Some("unavailable")),
        (503, Some("unavailable")),
        (504, Some("timed_out")),
    ];
    for (status, code) in cases {
        let host = Host::new().http("GET", "https://a.example", move |_| {
            Ok(Response::new(status).with_header("Retry-After", "7").with_body("because"))
        });
        let response = host.run(|| http::get("https://a.example/").send()).unwrap();
        assert_eq!(response.is_success(), code.is_none());
        let failure = response.ok().err();
        assert_eq!(failure.as_ref().map(|failure| failure.code.as_str()), code, "{status}");
        if let Some(failure) = failure {
            assert!(failure.message.ends_with(&format!(": a.example answered {status}")), "{failure}");
            assert_eq!(failure.details, Some(json!({"status": status, "body": "because"})));
            let waits = (code == Some("unavailable")).then_some(Duration::from_secs(7));
            assert_eq!(failure.retry_after, waits);
        }
    }
}

#[test]
fn bodies_are_decoded_by_content_type() {
    let response = Response::new(200).with_json(&json!({"a": [1, 2]}));
    assert_eq!(response.json::<Value>(), Ok(json!({"a": [1, 2]})));
    assert_eq!(
        (response.text(), response.header("Content-TYPE")),
        (Ok(r#"{"a":[1,2]}"#), Some("application/json"))
    );
    let broken = Response::new(200).with_body([0xff]);
    assert_eq!(broken.text().unwrap_err().code, "invalid_data");
    assert_eq!(broken.json::<Value>().unwrap_err().code, "invalid_data");
    let long = Response::new(500).with_body("ü".repeat(1000)).ok().unwrap_err();
    assert!(long.details.as_ref().unwrap()["body"].as_str().unwrap().len() <= 500);
}

#[test]
fn several_are_answered_in_their_order() {
    let host = Host::new().http("GET", "https://a.example/", |_| Ok(Response::new(200))).http(
        "GET",
        "https://a.example/slow",
        |_| Err(Failure::timed_out("timed out")),
    );
    let urls = ["https://a.example/", "no url", "https://a.example/slow", "https://b.example/"];
    let answers = host.run(|| http::send_all(urls.map(http::get).into()));
    let told: Vec<_> = answers
        .iter()
        .map(|answer| answer.as_ref().map_or_else(|failure| &*failure.code, |_| "ok"))
        .collect();
    assert_eq!(told, ["ok", "invalid_params", "timed_out", "denied"]);
    assert!(http::send_all(Vec::new()).is_empty());
}

struct Sender;

/// Sends.
#[facade(name = "sender")]
impl Sender {
    /// Reads.
    #[action(read)]
    fn read(&self, method: String) -> Result<u16> {
        Ok(Request::new(method, "https://a.example/").send()?.status)
    }
    /// Writes.
    #[action(write)]
    fn write(&self, method: String) -> Result<u16> {
        Ok(Request::new(method, "https://a.example/").send()?.status)
    }
}

#[test]
fn read_actions_cannot_send_writing_requests() {
    let host = Host::new().http("*", "https://a.example/", |_| Ok(Response::new(200)));
    for (action, method, passes) in
        [("read", "GET", true), ("read", "HEAD", true), ("read", "POST", false), ("write", "DELETE", true)]
    {
        let done = host.call(&Sender, action, json!({"method": method}));
        assert_eq!(done.is_ok(), passes, "{action} {method}");
    }
}
