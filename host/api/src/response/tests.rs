//! Tests of responses.

use http::{HeaderMap, HeaderName, StatusCode};
use loggia_facade::{Block, Failure, Reply};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    cut::{cut, size},
    *,
};
use crate::description::{ApiDescription, ApiOperation};

/// An operation that pages by this query parameter.
fn operation(paging: &str) -> ApiOperation {
    let text = format!(
        "format = 1\nname = \"api\"\nsummary = \"An API.\"\nserver = \"https://api.example.com\"\n[[operation]]\naction = \"a\"\n\
         method = \"GET\"\npath = \"/items\"\nsummary = \"Lists.\"\npaging = \"{paging}\"\nerrors = {{ 422 = \"The name is taken.\" }}\n\
         parameters = [{{ in = \"query\", name = \"{paging}\", schema = '{{}}' }}]\n"
    );
    (*ApiDescription::parse(&text).unwrap().operations[0]).clone()
}

fn response(status: u16, headers: &[(&str, &str)], body: &[u8]) -> ApiResponse {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
    }
    ApiResponse { status: StatusCode::from_u16(status).unwrap(), headers: map, body: body.to_vec() }
}

fn read(operation: &ApiOperation, response: &ApiResponse, data: usize) -> Result<Reply, Failure> {
    let budget = ResponseBudget { data, result: 1 << 16, has_more: true };
    read_response(operation, response, budget, true, |query| {
        query.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
    })
}

const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");

#[test]
fn bodies_become_data_or_content() {
    let data = |media: &str, body: &[u8]| {
        read(&operation("page"), &response(200, &[("content-type", media)], body), 4096).unwrap()
    };
    for (media, body, expected) in [
        ("application/json", r#"{"a": 1}"#, json!({"a": 1})),
        ("application/problem+json", "[1]", json!([1])),
        ("", r#" {"a": 1}"#, json!({"a": 1})),
        ("", "plain", json!("plain")),
        ("text/plain; charset=utf-8", r#"{"a": 1}"#, json!(r#"{"a": 1}"#)),
        ("application/xml", "<a/>", json!("<a/>")),
        ("application/json", "", Value::Null),
    ] {
        assert_eq!(data(media, body.as_bytes()).data, expected, "{media}");
    }
    let image = data("image/png", &[0xff, 0xd8]);
    assert_eq!(
        image.content[0].block,
        Block::Image { data: vec![0xff, 0xd8], mime_type: "image/png".into() }
    );
    let other = data("application/zip", &[0xff]);
    assert!(matches!(&other.content[0].block, Block::Embedded { blob: Some(blob), .. } if blob == &[0xff]));
    for (media, body) in [
        ("application/zip", vec![0xff; 1 << 17]),
        ("application/json", b"{".to_vec()),
        ("application/json", b"\xff".to_vec()),
    ] {
        assert!(
            read(&operation("page"), &response(200, &[("content-type", media)], &body), 4096).is_err(),
            "{media}"
        );
    }
    let link = read(&operation("page"), &response(302, &[("location", "https://evil.example")], b"x"), 4096)
        .unwrap();
    assert_eq!(link.data, json!({"status": 302, "location": "https://evil.example"}));
    let done = read(&operation("page"), &response(204, &[], b""), 4096).unwrap();
    assert_eq!(done.message.as_deref(), Some("Done (204 No Content)."));
}

#[test]
fn pages_have_cursors() {
    for (paging, headers, body, expected) in [
        (
            "page",
            vec![(
                "link",
                r#"<https://api.example.com/other?page=1>; rel="prev", <https://evil.example/x?page=3&per_page=9>; rel="next""#,
            )],
            json!([1]),
            Some("page=3&per_page=9"),
        ),
        ("page", vec![("link", r#"</items?page=3>; title="a, b"; rel=next"#)], json!([]), Some("page=3")),
        ("page", vec![("link", r#"<https://api.example.com/items?page=3>; rel="last""#)], json!([]), None),
        ("page", vec![("link", "garbage <<>; rel=next")], json!([]), None),
        ("page", vec![], json!({"next": "https://evil.example/?page=2"}), Some("page=2")),
        ("page", vec![], json!({"links": {"next": {"href": "/items?page=2"}}}), Some("page=2")),
        ("page", vec![], json!({"next_page": 2}), Some("page=2")),
        (
            "cursor",
            vec![],
            json!({"response_metadata": {"next_cursor": "dXNlcg=="}}),
            Some("cursor=dXNlcg=="),
        ),
        ("cursor", vec![], json!({"next_cursor": ""}), None),
        ("cursor", vec![], json!({"next_cursor": null}), None),
        ("pageToken", vec![], json!({"nextPageToken": "t"}), Some("pageToken=t")),
        ("continue", vec![], json!({"metadata": {"continue": "t"}}), Some("continue=t")),
        (
            "starting_after",
            vec![],
            json!({"has_more": true, "data": [{"id": "a"}, {"id": "b"}]}),
            Some("starting_after=b"),
        ),
        ("starting_after", vec![], json!({"has_more": false, "data": [{"id": "a"}]}), None),
        ("startAt", vec![], json!({"startAt": 10, "total": 20, "values": [1, 2]}), Some("startAt=12")),
        ("startAt", vec![], json!({"startAt": 18, "total": 20, "values": [1, 2]}), None),
        ("cursor", vec![], json!({"next_cursor": "x".repeat(5000)}), None),
    ] {
        let headers: Vec<_> = headers.into_iter().chain([JSON]).collect();
        let reply =
            read(&operation(paging), &response(200, &headers, body.to_string().as_bytes()), 1 << 14).unwrap();
        assert_eq!(reply.page.and_then(|page| page.cursor).as_deref(), expected, "{paging} {body}");
    }
}

#[test]
fn cut_lists_say_what_is_missing() {
    let item = |n: usize| json!({"id": n, "text": "x".repeat(80)});
    let body = json!({"total_count": 500, "items": (0..100).map(item).collect::<Vec<_>>()});
    let headers = [JSON, ("link", "<https://x/?page=2>; rel=next")];
    let reply =
        read(&operation("page"), &response(200, &headers, body.to_string().as_bytes()), 1024).unwrap();
    let shown = reply.data["items"].as_array().unwrap().len();
    assert!(size(&reply.data) <= 1024 && shown > 5, "{shown}");
    let page = reply.page.unwrap();
    assert_eq!(
        (page.count, page.total, page.cursor.as_deref()),
        (Some(shown as u64), Some(500), Some("page=2"))
    );
    let message = reply.message.unwrap();
    assert_eq!(
        message,
        format!(
            "The response was cut to 1024 bytes: `items`: {shown} of 100 items. Ask for less at once, or for `detail: full`."
        )
    );
}

#[test]
fn cut_values_keep_their_small_members() {
    let value = json!({"id": 7, "name": "n", "body": "b".repeat(9000), "deep": {"log": "l".repeat(9000), "ok": true}, "list": vec!["i".repeat(300); 50]});
    let result = cut(value, 2000);
    assert_eq!(
        (&result.value["id"], &result.value["name"], &result.value["deep"]["ok"]),
        (&json!(7), &json!("n"), &json!(true))
    );
    assert!(size(&result.value) <= 2000);
    insta::assert_snapshot!(result.notes.join("\n"));
    assert_eq!(cut(json!({"a": 1}), 100).notes, [""; 0]);
    // Nothing can be taken from numbers.
    let numbers: serde_json::Map<_, _> = (0..500).map(|n| (format!("k{n}"), json!(n))).collect();
    assert_eq!(cut(Value::Object(numbers), 100).value, Value::Null);
}

#[test]
fn errors_become_failures() {
    let failure = |status: u16, headers: &[(&str, &str)], body: Value| {
        let headers: Vec<_> = headers.iter().copied().chain([JSON]).collect();
        read(&operation("page"), &response(status, &headers, body.to_string().as_bytes()), 4096).unwrap_err()
    };
    let date = ("date", "Fri, 01 Jan 2027 00:00:00 GMT");
    let mut shown = String::new();
    for (status, headers, body) in [
        (
            400,
            vec![],
            json!({"error": {"message": "No such customer", "type": "invalid_request_error", "param": "customer"}}),
        ),
        (401, vec![], json!({"message": "Bad credentials"})),
        (403, vec![], json!({"error": "forbidden", "error_description": "scope missing"})),
        (
            403,
            vec![("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1798761610"), date],
            json!({"message": "rate limit exceeded"}),
        ),
        (404, vec![], json!({"detail": "Not found."})),
        (409, vec![], json!({"title": "Conflict"})),
        (418, vec![], json!("teapot")),
        (
            422,
            vec![],
            json!({"message": "Validation Failed", "errors": [{"field": "name", "code": "taken", "token": "Bearer abcdefghijklmnop"}]}),
        ),
        (429, vec![("retry-after", "3")], json!({})),
        (429, vec![("retry-after", "Fri, 01 Jan 2027 00:00:10 GMT"), date], json!({"errors": ["slow down"]})),
        (503, vec![("retry-after", "soon")], json!({"fault": {"faultstring": "down\u{1b}[31m\nnow"}})),
    ] {
        let failure = failure(status, &headers, body);
        shown.push_str(&format!(
            "{status} {failure}\n  hint: {}\n  details: {}\n  retry: {:?}\n",
            failure.hint.clone().unwrap_or_default(),
            failure.details.clone().unwrap_or_default(),
            failure.retry_after_ms
        ));
    }
    insta::assert_snapshot!(shown);
    let page =
        read(&operation("page"), &response(502, &[("content-type", "text/html")], b"<html>nginx</html>"), 99)
            .unwrap_err();
    assert_eq!(page.message, "the API answers 502 Bad Gateway");
}

/// Any JSON.
fn values() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![any::<i64>().prop_map(Value::from), ".{0,200}".prop_map(Value::from), Just(Value::Null)];
    leaf.prop_recursive(5, 80, 10, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..10).prop_map(Value::Array),
            prop::collection::vec((".{0,20}", inner), 0..8).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn cut_values_fit_their_budget(value in values(), budget in 10_usize..4000) {
        let before = size(&value);
        prop_assert_eq!(before, value.to_string().len());
        let result = cut(value.clone(), budget);
        prop_assert!(size(&result.value) <= budget);
        prop_assert_eq!(result.notes.is_empty(), before <= budget);
        if before <= budget {
            prop_assert_eq!(result.value, value);
        }
    }
}
