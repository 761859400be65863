//! Tests of reading documents.

use serde_json::json;

use super::*;

#[test]
fn versions_are_checked() {
    for (text, expected) in [
        (r#"{"openapi": "3.0.3", "paths": {}}"#, None),
        ("openapi: 3.1.0\npaths: {}\n", None),
        ("openapi: 3.1\npaths: {}\n", None),
        ("\u{feff}openapi: '3.0.0'\npaths: {}\n", None),
        (r#"{"swagger": "2.0", "paths": {}}"#, Some("Swagger 2.0")),
        ("swagger: 2.0\npaths: {}\n", Some("swagger2openapi")),
        (r#"{"openapi": "4.0.0", "paths": {}}"#, Some("`openapi: 4.0.0`")),
        (r#"{"openapi": "3.0.0"}"#, Some("no `paths`")),
        (r#"{"openapi": {}}"#, Some("no `openapi: 3…`")),
        ("[]", Some("not an object")),
        ("", Some("it is empty")),
        (r#"{"openapi": "#, Some("neither JSON nor YAML")),
        ("a: [", Some("neither JSON nor YAML")),
        ("a: *b", Some("neither JSON nor YAML")),
    ] {
        let read = OpenApiDocument::read(text.as_bytes());
        match (read, expected) {
            (Ok(_), None) => {}
            (Err(error), Some(part)) => assert!(error.to_string().contains(part), "{text}: {error}"),
            (read, _) => panic!("{text}: {read:?}"),
        }
    }
    assert!(OpenApiDocument::read(b"\xff\xfe").is_err());
}

#[test]
fn yaml_means_the_same_as_json() {
    let yaml = "openapi: 3.0.0\npaths:\n  /a:\n    get:\n      responses:\n        200: {description: ok}\n        '404': &e {description: \"no\\n\"}\n        410: *e\nx: [1, -2.5, 1e3, true, ~, '1', 0x1f, 1.2.3, +7, .5]\nbase: &b {k: 1, l: 2}\nm: {<<: *b, l: 3}\ntext: |\n  one\n  two\n";
    let document = OpenApiDocument::read(yaml.as_bytes()).unwrap();
    assert_eq!(
        document.root()["paths"]["/a"]["get"]["responses"],
        json!({"200": {"description": "ok"}, "404": {"description": "no\n"}, "410": {"description": "no\n"}})
    );
    assert_eq!(document.root()["x"], json!([1, -2.5, 1000.0, true, null, "1", "0x1f", "1.2.3", 7, 0.5]));
    assert_eq!(document.root()["m"]["k"], 1);
    assert_eq!(document.root()["text"], "one\ntwo\n");
}

#[test]
fn documents_have_bounds() {
    let check = |text: String, part: &str| {
        let error = OpenApiDocument::read(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    check(" ".repeat(crate::limits::DOCUMENT + 1), "too large");
    check(format!("{{\"a\": [{}1]}}", "1,".repeat(crate::limits::NODES)), "too large");
    // Aliases that double ten times per level.
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    check(bomb, "too large");
    // A long text, copied by each alias; and a large list with an anchor at each of its levels.
    check(format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 40].join(", ")), "too large");
    let nested: String = (0..100).map(|level| format!("&n{level} [")).collect();
    check(format!("{nested}{}{}", "1, ".repeat(50_000), "]".repeat(100)), "too large");
    check("[".repeat(200), "levels");
    // Aliases that nest a hundred levels each.
    let nest = |inner: &str| format!("{}{inner}{}", "[".repeat(100), "]".repeat(100));
    check(format!("a: &a {}\nb: &b {}\nc: {}\n", nest("1"), nest("*a"), nest("*b")), "levels");
    check(format!("{{{}", "\"a\":{".repeat(500)), "neither");
}

#[test]
fn references_are_local() {
    let text = r##"{"openapi": "3.1.0", "paths": {"/a/{b}": {"x": [1, {"y": 2}]}}, "a b": {"$ref": "#/loop"}, "loop": {"$ref": "#/a%20b"}}"##;
    let document = OpenApiDocument::read(text.as_bytes()).unwrap();
    assert_eq!(document.find("#/paths/~1a~1{b}/x/1/y"), Some(&json!(2)));
    assert_eq!(document.find("#/a%20b"), Some(&json!({"$ref": "#/loop"})));
    for missing in ["#/paths/none", "other.json#/a", "https://example.com/a", "#", "#/paths/~1a~1{b}/x/9"] {
        assert_eq!(document.find(missing), None, "{missing}");
    }
    assert_eq!(document.object(&json!({"$ref": "#/loop"})), None);
}
