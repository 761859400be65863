//! `fetch` of pages that look real.

use loggia_sdk::http::Response;

use super::*;

/// All of the page.
fn fetched(host: &Host, path: &str, params: Value) -> Result<Reply<Value>> {
    let mut params = params;
    params["url"] = json!(format!("{SITE}{path}"));
    host.call(&Web, "fetch", params)
}

fn html(name: &str) -> Host {
    let page = page(name);
    site(move |_| Response::new(200).with_header("content-type", "text/html").with_body(page.clone()))
}

#[test]
fn pages_become_markdown() {
    let pages = ["article", "reference", "tables", "lists", "broken", "blog", "news", "hidden", "docs"];
    for name in pages {
        let reply = fetched(&html(&format!("{name}.html")), "/docs/page.html", json!({})).unwrap();
        let text = reply.data["text"].as_str().unwrap();
        insta::assert_snapshot!(format!("page_{name}"), format!("{}\n\n{text}", reply.data["title"]));
    }
}

#[test]
fn a_whole_page_includes_navigation() {
    let reply = fetched(&html("article.html"), "/travel/page", json!({"whole": true})).unwrap();
    insta::assert_snapshot!(reply.data["text"].as_str().unwrap());
}

#[test]
fn a_part_leads_to_the_next_one() {
    let mut reply = fetched(&html("article.html"), "/travel/page", json!({"limit": 500})).unwrap();
    let text = reply.data["text"].take();
    reply.data["text"] = json!(format!("({} characters)", text.as_str().unwrap().chars().count()));
    insta::assert_snapshot!(shown(&reply));
}

#[test]
fn parts_of_a_long_text_join() {
    let text: String = (1..2000).map(|number| format!("Line {number} of the Übersicht.\n")).collect();
    let body = text.clone();
    let host =
        site(move |_| Response::new(200).with_header("content-type", "text/plain").with_body(body.clone()));
    let mut params = json!({"limit": 5000, "whole": true});
    let (mut joined, mut calls) = (String::new(), 0);
    loop {
        let reply = fetched(&host, "/long.txt", params.clone()).unwrap();
        assert_eq!(reply.data["total"], text.chars().count());
        joined.push_str(reply.data["text"].as_str().unwrap());
        calls += 1;
        let Some(next) = reply.next else { break };
        assert_eq!(next.action, "fetch");
        params = Value::Object(next.params);
        assert_eq!(params["limit"], 5000);
    }
    assert!(joined == text);
    assert_eq!(calls, 11);
    let beyond = fetched(&host, "/long.txt", json!({"from": 1_000_000})).unwrap();
    assert_eq!(
        (beyond.data["text"].as_str(), beyond.message.as_deref()),
        (Some(""), Some("The text ends at 54865."))
    );
}

#[test]
fn other_types_are_read_by_their_kind() {
    let gif = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;".to_vec();
    let cases: [(&str, &str, Vec<u8>, u32); 9] = [
        ("json", "application/json", br#"{"a": [1, "x\u200by"], "b": null}"#.to_vec(), 10_000),
        ("long json", "application/json", format!(r#"{{"a": "{}"}}"#, "x".repeat(600)).into(), 500),
        ("broken json", "application/json", b"{\"a\": ".to_vec(), 10_000),
        ("feed", "application/rss+xml", b"<rss><item>News</item></rss>".to_vec(), 10_000),
        ("markdown", "text/markdown", b"# Title\r\n\r\n* item".to_vec(), 10_000),
        ("latin1", "text/plain; charset=iso-8859-1", b"K\xe4se".to_vec(), 10_000),
        ("untyped", "", b"<!doctype html><title>T</title><p>Text".to_vec(), 10_000),
        ("empty", "text/plain", Vec::new(), 10_000),
        ("picture", "application/octet-stream", gif, 10_000),
    ];
    let lines = cases.map(|(name, content_type, body, limit)| {
        let host = site(move |_| {
            Response::new(200).with_header("content-type", content_type).with_body(body.clone())
        });
        let reply = fetched(&host, "/x", json!({"limit": limit})).unwrap();
        let content: Vec<_> =
            reply.content.iter().map(|content| format!("\n* {:?}", content.block)).collect();
        format!("{name}: {}{}", shown(&reply).replace(&"x".repeat(480), "(x × 480)"), content.concat())
    });
    insta::assert_snapshot!(lines.join("\n\n"));
}

#[test]
fn pages_without_text_are_explained() {
    let notes = ["spa.html", "login.html"].map(|name| {
        let reply = fetched(&html(name), "/", json!({})).unwrap();
        (reply.data["text"].clone(), reply.message.unwrap())
    });
    insta::assert_snapshot!(format!("{notes:#?}"));
}

#[test]
fn what_is_left_out_is_reported() {
    let check = |html: String, expected: bool| {
        let start: String = html.chars().take(40).collect();
        let host = site(move |_| {
            Response::new(200).with_header("content-type", "text/html").with_body(html.clone())
        });
        let message = fetched(&host, "/", json!({})).unwrap().message;
        let is_reported = message.is_some_and(|message| message.contains("too large to be read whole"));
        assert_eq!(is_reported, expected, "{start}");
    };
    check("<table><tr><td>a<td>b".into(), false);
    check(format!("<table><tr>{}", "<td>a".repeat(65)), true);
    check(format!("<table>{}", "<tr><td colspan=64>a<td>".repeat(5000)), true);
    check("<p>x".repeat(130_000), true);
}

#[test]
fn redirects_are_followed_to_the_final_url() {
    let host = site(|request| match request.url.strip_prefix(SITE).unwrap() {
        "/old" => Response::new(301).with_header("location", "/newer"),
        "/newer" => Response::new(302).with_header("Location", "new#part"),
        "/new" => Response::new(200).with_header("content-type", "text/plain").with_body("here"),
        _ => Response::new(404),
    });
    let reply = fetched(&host, "/old", json!({})).unwrap();
    assert_eq!(reply.data["url"], format!("{SITE}/new"));
    assert_eq!(reply.data["text"], "here");
}
