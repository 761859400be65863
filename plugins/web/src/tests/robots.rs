//! robots.txt.

use loggia_sdk::http::{Request, Response};

use super::*;

fn guarded(robots: impl Fn(&Request) -> Response + 'static) -> Host {
    Host::new().http("*", SITE, move |request| {
        Ok(match request.url.ends_with("/robots.txt") {
            true => robots(request),
            false => Response::new(200).with_header("content-type", "text/plain").with_body("page"),
        })
    })
}

fn fetch(host: &Host, path: &str) -> Result<Reply<Value>> {
    host.call(&Web, "fetch", json!({"url": format!("{SITE}{path}")}))
}

#[test]
fn disallowed_pages_are_not_requested() {
    let rules = "User-agent: *\nDisallow: /private\nAllow: /private/open";
    let host = guarded(move |_| Response::new(200).with_body(rules));
    for action in ["fetch", "head", "links"] {
        let failure = host.call(&Web, action, json!({"url": format!("{SITE}/private/x?y#z")})).unwrap_err();
        if action == "fetch" {
            insta::assert_snapshot!(told(&failure));
        }
        assert_eq!(failure.code, "denied");
    }
    assert!(host.sent().iter().all(|request| request.url.ends_with("/robots.txt")), "{:?}", host.sent());
    assert!(fetch(&host, "/private/open/x").is_ok());
    assert!(fetch(&host, "/").is_ok());
}

#[test]
fn the_operator_may_ignore_robots() {
    let host =
        guarded(|_| Response::new(200).with_body("User-agent: *\nDisallow: /")).config("robots", "ignore");
    assert!(fetch(&host, "/private").is_ok());
    assert_eq!(host.sent().len(), 1);
}

#[test]
fn robots_that_cannot_be_read_are_explained() {
    let check = |response: Response, expected: Option<&str>| {
        let status = response.status;
        let reply = fetch(&guarded(move |_| response.clone()), "/x");
        assert_eq!(reply.err().map(|failure| failure.message.clone()).as_deref(), expected, "{status}");
    };
    check(Response::new(404), None);
    check(Response::new(403), None);
    check(Response::new(200).with_body("<html>no rules</html>"), None);
    let reason = "https://site.example/robots.txt cannot be read, so no page there is: the server answered";
    check(Response::new(503), Some(&format!("{reason} 503")));
    check(Response::new(429).with_header("retry-after", "9"), Some(&format!("{reason} 429")));
}

#[test]
fn redirects_are_checked_by_the_rules_of_their_hosts() {
    let other = "https://other.example";
    let host = guarded(|request| match request.url.as_str() {
        "https://site.example/robots.txt" => Response::new(301).with_header("location", "/real/robots.txt"),
        _ => Response::new(200).with_body("User-agent: loggia\nDisallow: /b"),
    })
    .http("GET", format!("{SITE}/go"), move |_| {
        Ok(Response::new(302).with_header("location", format!("{other}/a")))
    })
    .http("GET", format!("{SITE}/bad"), |_| {
        Ok(Response::new(302).with_header("location", "https://other.example/secret"))
    })
    .http("GET", other, |request| {
        Ok(match request.url.ends_with("/robots.txt") {
            true => Response::new(200).with_body("User-agent: *\nDisallow: /secret"),
            false => Response::new(200).with_header("content-type", "text/plain").with_body("there"),
        })
    });
    assert_eq!(fetch(&host, "/go").unwrap().data["text"], "there");
    assert_eq!(fetch(&host, "/b").unwrap_err().code, "denied");
    // `/bad` itself begins like `/b`.
    let failure = host.call(&Web, "fetch", json!({"url": format!("{SITE}/bad")})).unwrap_err();
    assert!(failure.message.contains("site.example/robots.txt"), "{failure}");
    let failure = host.call(&Web, "fetch", json!({"url": format!("{other}/secret/1")})).unwrap_err();
    assert!(failure.message.contains("other.example/robots.txt disallows /secret/1"), "{failure}");
}
