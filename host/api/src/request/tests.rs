//! Tests of requests.

use http::Request;
use loggia_facade::Failure;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    adapt::RequestParts,
    description::{ApiDescription, ApiOperation},
};

const SERVER: &str = "https://api.example.com/v1";

/// An operation with one parameter, or with a body, as they stand in a file.
fn operation(method: &str, path: &str, parameters: &str, body: &str) -> ApiOperation {
    let text = format!(
        "format = 1\nname = \"api\"\nsummary = \"An API.\"\nserver = \"{SERVER}\"\n[[operation]]\naction = \"a\"\nmethod = \"{method}\"\n\
         path = \"{path}\"\nsummary = \"Does it.\"\naccept = \"application/json\"\nparameters = [{parameters}]\n{body}\n"
    );
    (*ApiDescription::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).operations[0]).clone()
}

fn build(
    operation: &ApiOperation,
    values: Vec<Value>,
    body: Option<Value>,
) -> Result<Request<Vec<u8>>, Failure> {
    let parts = RequestParts { parameters: values.into_iter().enumerate().collect(), body, cursor: None };
    build_request(operation, SERVER, parts, &[])
}

#[test]
fn paths_hold_their_values() {
    let check = |path: &str, extra: &str, value: Value, expected: Result<&str, &str>| {
        let operation =
            operation("GET", path, &format!("{{ in = \"path\", name = \"p\"{extra}, schema = '{{}}' }}"), "");
        match (build(&operation, vec![value.clone()], None), expected) {
            (Ok(request), Ok(expected)) => {
                let uri = request.uri().to_string();
                assert_eq!(uri.strip_prefix(SERVER), Some(expected), "{path} {value}");
            }
            (Err(failure), Err(part)) => assert!(failure.message.contains(part), "{value}: {failure}"),
            (built, _) => panic!("{path} {value}: {built:?}"),
        }
    };
    check("/a/{p}/b", "", json!("x"), Ok("/a/x/b"));
    check("/a/{p}", "", json!(7), Ok("/a/7"));
    check("/a/{p}", "", json!("ä b/c?d#e%2e"), Ok("/a/%C3%A4%20b%2Fc%3Fd%23e%252e"));
    check("/a/{p}", "", json!(["x", "y"]), Ok("/a/x%2Cy"));
    check("/a/{p}.json", "", json!(".."), Err("may not be `.`"));
    check("/a/{p}", "", json!("."), Err("may not be `.`"));
    check("/a/{p}", "", json!(""), Err("may not be empty"));
    check("/a/{p}", "", Value::Null, Err("may not be null"));
    check("/a/{p}{p}", "", json!("x"), Ok("/a/xx"));
    check("/a/.{p}", "", json!("x"), Ok("/a/.x"));
    check("/a/.{p}", ", reserved = true", json!(""), Err("`.` or `..`"));
    let reserved = ", reserved = true";
    check("/a/{p}", reserved, json!("src/main file.rs"), Ok("/a/src/main%20file.rs"));
    check("/a/{p}", reserved, json!("/x/"), Ok("/a/x"));
    check("/a/{p}", reserved, json!(""), Ok("/a/"));
    check("/a/{p}/b", reserved, json!(""), Err("empty segment"));
    check("/a/{p}", reserved, json!("x/../../y"), Err("`.` or `..`"));
    check("/a/{p}", reserved, json!("x//y"), Err("empty segment"));
    check("/a/{p}", reserved, json!("x\\..\\y?z"), Ok("/a/x%5C..%5Cy%3Fz"));
    check("/a b/{p}", "", json!("x"), Ok("/a%20b/x"));
}

#[test]
fn queries_follow_their_styles() {
    let list = json!(["a", "b c", "d,e"]);
    let object = json!({"x": 1, "y": {"z": "w"}});
    for (extra, value, expected) in [
        ("", json!("a&b=c d+e"), "q=a%26b%3Dc%20d%2Be"),
        ("", json!(1.5), "q=1.5"),
        ("", json!(false), "q=false"),
        ("", Value::Null, ""),
        ("", list.clone(), "q=a&q=b%20c&q=d%2Ce"),
        ("explode = false", list.clone(), "q=a,b%20c,d%2Ce"),
        ("style = \"spaceDelimited\"", list.clone(), "q=a%20b%20c%20d%2Ce"),
        ("style = \"pipeDelimited\"", list.clone(), "q=a|b%20c|d%2Ce"),
        ("style = \"pipeDelimited\", explode = true", list.clone(), "q=a&q=b%20c&q=d%2Ce"),
        ("style = \"deepObject\"", list, "q%5B0%5D=a&q%5B1%5D=b%20c&q%5B2%5D=d%2Ce"),
        ("style = \"deepObject\"", object.clone(), "q%5Bx%5D=1&q%5By%5D%5Bz%5D=w"),
        ("", object.clone(), "x=1&y=%7B%22z%22%3A%22w%22%7D"),
        ("explode = false", json!({"x": 1, "y": 2}), "q=x,1,y,2"),
        ("style = \"json\"", object, "q=%7B%22x%22%3A1%2C%22y%22%3A%7B%22z%22%3A%22w%22%7D%7D"),
        ("style = \"json\"", json!("x"), "q=%22x%22"),
        ("reserved = true", json!("a/b:c&d"), "q=a/b:c%26d"),
        ("", json!([]), ""),
    ] {
        let comma = if extra.is_empty() { "" } else { "," };
        let parameter = format!("{{ in = \"query\", name = \"q\"{comma} {extra}, schema = '{{}}' }}");
        let request = build(&operation("GET", "/", &parameter, ""), vec![value.clone()], None).unwrap();
        assert_eq!(request.uri().query().unwrap_or_default(), expected, "{extra} {value}");
    }
}

#[test]
fn headers_cannot_be_injected() {
    let parameters = "{ in = \"header\", name = \"X-A\", schema = '{}' }, { in = \"cookie\", name = \"c\", schema = '{}' }";
    let operation = operation("GET", "/", parameters, "");
    let request = build(&operation, vec![json!(["a", 1]), json!("v")], None).unwrap();
    assert_eq!(request.headers()["x-a"], "a,1");
    assert_eq!(request.headers()["cookie"], "c=v");
    assert_eq!(request.headers()["accept"], "application/json");
    for odd in ["a\r\nb: c", "a\nb", "a\u{0}", "ä", "\u{7f}"] {
        assert!(build(&operation, vec![json!(odd)], None).is_err(), "{odd:?}");
        assert!(build(&operation, vec![json!("x"), json!(odd)], None).is_err(), "{odd:?}");
    }
    assert!(build(&operation, vec![json!("x"), json!("v; admin=1")], None).is_err());
}

#[test]
fn bodies_follow_their_forms() {
    let check = |body: &str, value: Value, expected: Result<(&str, &str), &str>| {
        let operation = operation("POST", "/", "", &format!("body = {{ {body} }}"));
        match (build(&operation, vec![], Some(value.clone())), expected) {
            (Ok(request), Ok((media, text))) => {
                assert_eq!(request.headers()["content-type"], media, "{value}");
                assert_eq!(String::from_utf8_lossy(request.body()), text, "{value}");
            }
            (Err(failure), Err(part)) => assert!(failure.message.contains(part), "{failure}"),
            (built, _) => panic!("{value}: {built:?}"),
        }
    };
    let json_body = "form = \"json\", media = \"application/json\", schema = '{}'";
    check(json_body, json!({"a": [1, null]}), Ok(("application/json", r#"{"a":[1,null]}"#)));
    check(json_body, json!("x"), Ok(("application/json", "\"x\"")));
    let form = "form = \"form\", media = \"application/x-www-form-urlencoded\", styles = { d = \"deepObject\", s = \"simple\" }, schema = '{}'";
    let form_type = "application/x-www-form-urlencoded";
    check(
        form,
        json!({"a": "x y&z", "n": null, "l": [1, 2], "d": ["e"], "s": [1, 2]}),
        Ok((form_type, "a=x%20y%26z&l=1&l=2&d%5B0%5D=e&s=1,2")),
    );
    check(
        form,
        json!({"card": {"exp": {"m": 1}}, "items": [{"id": "a"}]}),
        Ok((form_type, "card%5Bexp%5D%5Bm%5D=1&items%5B0%5D%5Bid%5D=a")),
    );
    check(form, json!([1]), Err("must be an object"));
    check("form = \"text\", media = \"text/plain\", schema = '{}'", json!("# x"), Ok(("text/plain", "# x")));
    let binary = "form = \"binary\", media = \"application/octet-stream\", schema = '{}'";
    check(binary, json!("aGk="), Ok(("application/octet-stream", "hi")));
    check(binary, json!("!"), Err("must be base64"));
}

#[test]
fn multipart_bodies_have_a_part_each() {
    let schema = r#"{"properties":{"file":{"type":"string","format":"binary"}}}"#;
    let body =
        format!("body = {{ form = \"multipart\", media = \"multipart/form-data\", schema = '{schema}' }}");
    let operation = operation("POST", "/", "", &body);
    let value = json!({"purpose": "x", "file": "aGk=", "more": {"a": 1}, "list": [1, 2], "a\"\r\nb": "y"});
    let request = build(&operation, vec![], Some(value)).unwrap();
    let media = request.headers()["content-type"].to_str().unwrap().to_owned();
    let boundary = media.strip_prefix("multipart/form-data; boundary=").unwrap();
    insta::assert_snapshot!(
        String::from_utf8_lossy(request.body()).replace(boundary, "BOUNDARY").replace('\r', "")
    );
}

#[test]
fn pages_replace_query_parameters() {
    let parameters =
        "{ in = \"query\", name = \"page\", schema = '{}' }, { in = \"query\", name = \"q\", schema = '{}' }";
    let operation = operation("GET", "/", parameters, "");
    let parts = RequestParts { parameters: vec![(0, json!(1)), (1, json!("x"))], ..RequestParts::default() };
    let page = [("page".to_owned(), "2".to_owned()), ("after".to_owned(), "a b".to_owned())];
    let request = build_request(&operation, SERVER, parts, &page).unwrap();
    assert_eq!(request.uri().query(), Some("q=x&page=2&after=a%20b"));
}

proptest! {
    /// Whatever the values, the request goes to the operation's host and to a path of its form.
    #[test]
    fn requests_stay_where_they_belong(one in any::<String>(), two in "[./\\\\%?#@:a-c]{0,12}", three in any::<String>()) {
        let parameters = "{ in = \"path\", name = \"a\", schema = '{}' }, { in = \"path\", name = \"b\", reserved = true, schema = '{}' }, \
            { in = \"query\", name = \"q\", schema = '{}' }";
        let operation = operation("GET", "/x/{a}/y/{b}", parameters, "");
        for (a, b) in [(&one, &two), (&two, &one)] {
            let Ok(request) = build(&operation, vec![json!(a), json!(b), json!(three)], None) else { continue };
            let uri = request.uri();
            prop_assert_eq!(uri.authority().map(|a| a.as_str()), Some("api.example.com"));
            let segments: Vec<&str> = uri.path().split('/').collect();
            prop_assert_eq!(&segments[..3], &["", "v1", "x"]);
            prop_assert_eq!(segments[4], "y");
            prop_assert!(segments.iter().all(|segment| !matches!(*segment, "." | "..")));
            // A parser of URLs changes nothing of it.
            let url = url::Url::parse(&uri.to_string()).unwrap();
            prop_assert_eq!(url.path(), uri.path());
            let pairs: Vec<_> = url.query_pairs().collect();
            prop_assert_eq!(pairs.len(), 1);
            prop_assert_eq!(&pairs[0].1, &three);
        }
    }
}
