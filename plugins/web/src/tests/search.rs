//! `search`.

use loggia_sdk::http::Response;

use super::*;

const URL: &str = "https://searx.example.org/search";

fn answers(answer: Response) -> Host {
    Host::new().config("search", json!({"url": URL})).http("GET", URL, move |_| Ok(answer.clone()))
}

fn found(answer: &Value, params: Value) -> Reply<Value> {
    answers(Response::new(200).with_json(answer)).call(&Web, "search", params).unwrap()
}

/// A response of SearXNG; the tests with the real host use it too.
fn etna() -> Value {
    loggia_sdk::serde_json::from_str(include_str!("etna.json")).unwrap()
}

#[test]
fn pages_are_listed_with_their_texts() {
    insta::assert_snapshot!(shown(&found(&etna(), json!({"query": "etna", "limit": 2}))));
}

#[test]
fn requests_follow_searxngs_api() {
    let check = |params: Value, expected: &str| {
        let host = answers(Response::new(200).with_json(&json!({"results": []})));
        host.call(&Web, "search", params).unwrap();
        assert_eq!(host.sent()[0].url, format!("{URL}?{expected}"));
    };
    check(json!({"query": "etna & co"}), "q=etna%20%26%20co&format=json&pageno=1");
    check(
        json!({"query": "etna", "page": 3, "language": "de-AT", "time_range": "week", "categories": ["news", "it"]}),
        "q=etna&format=json&pageno=3&language=de-AT&time_range=week&categories=news%2Cit",
    );
}

#[test]
fn the_next_page_uses_the_same_request() {
    let params =
        json!({"query": "etna", "page": 2, "limit": 50, "time_range": "year", "categories": ["news"]});
    let next = found(&etna(), params).next.unwrap();
    assert_eq!(
        Value::Object(next.params),
        json!({"query": "etna", "page": 3, "limit": 50, "time_range": "year", "categories": ["news"]})
    );
    assert_eq!(found(&json!({"results": []}), json!({"query": "etna"})).next, None);
}

#[test]
fn odd_shapes_are_tolerated() {
    let empty = json!({"results": []});
    for answer in [
        json!({}),
        json!({"results": null}),
        json!({"results": {"url": "https://example.com"}}),
        json!({"results": [null, 1, "x", [], {}, {"url": null}, {"url": 7}, {"url": "javascript:alert(1)"}]}),
        json!({"results": [], "answers": "x", "infoboxes": {}, "suggestions": 3, "unresponsive_engines": "x"}),
        json!({"results": [], "answers": [null, {}, {"answer": 1}], "infoboxes": [1, {"infobox": "x"}], "suggestions": [null, ""]}),
    ] {
        let reply = found(&answer, json!({"query": "x"}));
        assert_eq!(
            (reply.data, reply.message.as_deref()),
            (empty.clone(), Some("Nothing was found.")),
            "{answer}"
        );
    }
    let bare = json!({"results": [{"url": "https://example.com/a", "title": null, "content": 1, "engines": "x", "score": "1"}]});
    let page = json!([{"title": "https://example.com/a", "url": "https://example.com/a"}]);
    assert_eq!(found(&bare, json!({"query": "x"})).data["results"], page);
    let silent =
        json!({"unresponsive_engines": [["google", "CAPTCHA"], ["bing"], [], "qwant", 1, ["<b>x</b>", "y"]]});
    assert_eq!(
        found(&silent, json!({"query": "x"})).message.unwrap(),
        "Nothing was found. Engines that did not answer: google (CAPTCHA), bing, qwant, x (y)."
    );
    let older = json!({"answers": ["42", {"answer": "43", "url": "https://example.com"}]});
    assert_eq!(
        found(&older, json!({"query": "x"})).data["answers"],
        json!([{"text": "42"}, {"text": "43", "url": "https://example.com"}])
    );
}

#[test]
fn unexpected_responses_are_explained() {
    let page = "<!doctype html><title>Search</title>";
    let cases = [
        Response::new(403).with_body("Forbidden"),
        Response::new(404),
        Response::new(302).with_header("location", "/login"),
        Response::new(200).with_header("content-type", "text/html").with_body(page),
        Response::new(200).with_json(&json!([1])),
        Response::new(200).with_body([0xff]),
        Response::new(429).with_header("retry-after", "60"),
        Response::new(500),
    ];
    let lines: Vec<_> = cases
        .into_iter()
        .map(|answer| {
            let status = answer.status;
            let failure = answers(answer).call(&Web, "search", json!({"query": "x"})).unwrap_err();
            format!("{status}: {}", told(&failure))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn configuration_and_questions_are_checked() {
    let check = |search: Value| {
        let failure =
            Host::new().config("search", search).call(&Web, "search", json!({"query": "x"})).unwrap_err();
        assert_eq!(failure.code, "internal");
        failure.message.clone()
    };
    assert_eq!(
        check(json!({"url": "searx.example.org"})),
        "the configuration `search` is invalid: `url` is not a URL"
    );
    assert!(check(json!({"address": "x"})).starts_with("the configuration `search` is invalid"));
    let ungranted =
        Host::new().config("search", json!({"url": URL})).call(&Web, "search", json!({"query": "x"}));
    assert_eq!(ungranted.unwrap_err().code, "denied");
}
