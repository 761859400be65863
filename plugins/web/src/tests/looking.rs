//! `head` and `links`.

use loggia_sdk::http::Response;

use super::*;

fn looked(action: &str, response: impl Fn(&str) -> Response + 'static, params: Value) -> Reply<Value> {
    let mut params = params;
    params["url"] = json!(format!("{SITE}/docs/a.html"));
    site(move |request| response(&request.method)).call(&Web, action, params).unwrap()
}

fn html(name: &str) -> Response {
    Response::new(200).with_header("content-type", "text/html; charset=utf-8").with_body(page(name))
}

#[test]
fn heads_tell_what_a_page_is() {
    let whole = |_: &str| {
        html("article.html")
            .with_header("content-length", "2840")
            .with_header("last-modified", "Sun, 03 May 2026 08:15:00 GMT")
    };
    let ranged = |method: &str| match method {
        "HEAD" => Response::new(200)
            .with_header("content-type", "text/html")
            .with_header("accept-ranges", "bytes")
            .with_header("content-length", "9000000"),
        _ => Response::new(206).with_header("content-type", "text/html").with_body(page("docs.html")),
    };
    let no_head = |method: &str| match method {
        "HEAD" => Response::new(405),
        _ => html("docs.html").with_header("content-range", "bytes 0-16383/70000"),
    };
    let large = |_: &str| {
        Response::new(200).with_header("content-type", "text/html").with_header("content-length", "900000")
    };
    let pdf = |_: &str| {
        Response::new(200)
            .with_header("content-type", "application/pdf")
            .with_header("content-length", "900000")
    };
    let gone = |_: &str| Response::new(404).with_header("content-type", "text/html");
    let busy = |_: &str| Response::new(429).with_header("retry-after", "30");
    let heads = [
        looked("head", whole, json!({})),
        looked("head", ranged, json!({})),
        looked("head", no_head, json!({})),
        looked("head", large, json!({})),
        looked("head", pdf, json!({})),
        looked("head", gone, json!({})),
        looked("head", busy, json!({})),
    ];
    insta::assert_snapshot!(heads.map(|reply| reply.data.to_string()).join("\n"));
}

#[test]
fn links_are_absolute_and_listed_once() {
    let lists = ["article", "blog", "hidden", "broken", "spa"].map(|name| {
        let reply = looked("links", move |_| html(&format!("{name}.html")), json!({}));
        let message = reply.message.map(|message| format!("\n+ {message}")).unwrap_or_default();
        let links: Vec<String> = reply.data.as_array().unwrap().iter().map(Value::to_string).collect();
        format!("{name} {:?}\n{}{message}", reply.page.unwrap().total, links.join("\n"))
    });
    insta::assert_snapshot!(lists.join("\n\n"));
}

#[test]
fn links_are_filtered_and_paged() {
    let urls = |params: Value| {
        let reply = looked("links", |_| html("blog.html"), params);
        let links =
            reply.data.as_array().unwrap().iter().map(|link| link["url"].as_str().unwrap().to_owned());
        (links.collect::<Vec<_>>(), reply.next.map(|next| Value::Object(next.params)), reply.message)
    };
    let (jpegs, next, _) = urls(json!({"glob": "*.JPG"}));
    assert_eq!((jpegs, next), (vec!["https://cdn.example.net/blog/img/full.jpg".to_owned()], None));
    let (first, next, _) = urls(json!({"limit": 2, "glob": "*cdn*"}));
    assert_eq!(first, ["https://cdn.example.net/", "https://cdn.example.net/tags"]);
    assert_eq!(
        next,
        Some(json!({"url": format!("{SITE}/docs/a.html"), "from": 2, "glob": "*cdn*", "limit": 2}))
    );
    let (none, _, message) = urls(json!({"same_host": true}));
    assert_eq!((none.len(), message.as_deref()), (0, Some("None of the 9 links matches.")));
}

#[test]
fn only_html_has_links() {
    let response = || Response::new(200).with_header("content-type", "application/json").with_body("{}");
    let host = site(move |_| response());
    let failure = host.call(&Web, "links", json!({"url": SITE})).unwrap_err();
    insta::assert_snapshot!(told(&failure));
}
