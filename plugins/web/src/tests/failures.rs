//! Calls that fail, and what their failures teach.

use loggia_sdk::http::Response;

use super::*;

fn failure(host: &Host, action: &str, params: Value) -> Failure {
    host.call(&Web, action, params).unwrap_err()
}

#[test]
fn parameters_are_checked() {
    let cases = [
        ("fetch", json!({})),
        ("fetch", json!({"url": "example.com/a"})),
        ("fetch", json!({"url": "ftp://example.com/"})),
        ("fetch", json!({"url": "https://me:secret@example.com/"})),
        ("fetch", json!({"url": "https://"})),
        ("fetch", json!({"url": SITE, "limit": 10})),
        ("fetch", json!({"url": SITE, "from": -1})),
        ("links", json!({"url": SITE, "limit": 501})),
        ("search", json!({})),
        ("search", json!({"query": "x", "page": 0})),
        ("search", json!({"query": "x", "time_range": "hour"})),
        ("search", json!({"query": "x", "language": "en&x=y"})),
        ("search", json!({"query": "x", "categories": []})),
        ("search", json!({"query": "x"})),
        ("pictures", json!({})),
    ];
    let lines = cases.map(|(action, params)| {
        let failure = failure(&site(|_| Response::new(200)), action, params.clone());
        format!("{action} {params}\n    {}", told(&failure))
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn refusals_of_servers_are_explained() {
    let zip =
        || Response::new(200).with_header("content-type", "application/zip").with_body(*b"PK\x03\x04...");
    let cases: Vec<(&str, Response)> = vec![
        ("401", Response::new(401)),
        ("403", Response::new(403).with_body("<h1>Forbidden</h1>")),
        ("404", Response::new(404)),
        ("429", Response::new(429).with_header("retry-after", "60")),
        ("503", Response::new(503).with_header("retry-after", "5")),
        ("418", Response::new(418)),
        ("304", Response::new(304)),
        ("zip", zip()),
        ("gzip", Response::new(200).with_header("content-encoding", "gzip").with_body("no gzip")),
        ("brotli", Response::new(200).with_header("content-encoding", "br").with_body("x")),
        ("too large", Response::new(200).with_body(vec![b'x'; (5 << 20) + 1])),
        (
            "large image",
            Response::new(200).with_body([b"\x89PNG\r\n\x1a\n".as_slice(), &[0; 700_000]].concat()),
        ),
        ("rubbish as PDF", Response::new(200).with_body("%PDF-1.4 rubbish")),
        ("to http", Response::new(302).with_header("location", "http://site.example/")),
        ("to a script", Response::new(302).with_header("location", "javascript:alert(1)")),
        ("to another host", Response::new(302).with_header("location", "https://other.example/x")),
        ("in a circle", Response::new(302).with_header("location", "/")),
        ("without target", Response::new(302)),
    ];
    let lines: Vec<String> = cases
        .into_iter()
        .map(|(name, response)| {
            let failure =
                failure(&site(move |_| response.clone()), "fetch", json!({"url": format!("{SITE}/a.zip")}));
            format!("{name}: {}", told(&failure))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn requests_without_a_response_are_explained() {
    let hosts = [
        Host::new(),
        Host::new().http("GET", SITE, |_| Err(Failure::timed_out("timed out: site.example took too long"))),
        Host::new().http("GET", SITE, |request| match request.url.ends_with("robots.txt") {
            true => Ok(Response::new(404)),
            false => Err(Failure::timed_out("timed out: site.example took too long")),
        }),
        Host::new().http("GET", SITE, |request| match request.url.ends_with("robots.txt") {
            true => Ok(Response::new(404)),
            false => Err(Failure::unavailable("too large: the response (site.example)")),
        }),
        site(|_| Response::new(200)).config("robots", "obey"),
        site(|_| Response::new(200)).config("max_bytes", "5 MiB"),
    ];
    let lines = hosts.map(|host| told(&failure(&host, "fetch", json!({"url": SITE}))));
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_redirect_to_a_login_is_refused() {
    let login = page("login.html");
    let host = site(move |request| match request.url.contains("/login") {
        true => Response::new(200).with_header("content-type", "text/html").with_body(login.clone()),
        false => Response::new(302).with_header("location", "/login?next=/private"),
    });
    insta::assert_snapshot!(told(&failure(&host, "fetch", json!({"url": format!("{SITE}/private")}))));
}
