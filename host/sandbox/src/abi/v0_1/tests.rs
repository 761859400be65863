use serde_json::json;

use super::*;

/// What a reply's own place says, and its metadata; and the call that is read of them.
fn check(own: Option<Option<&str>>, meta: Option<Value>, expected: Option<Value>) {
    let own = own.map(|params| types::Next {
        facade: "notes".into(),
        action: "add".into(),
        params: params.map(str::to_owned),
        reason: None,
    });
    let extras: types::Extras = meta.iter().map(|meta| ("_meta".to_owned(), meta.to_string())).collect();
    assert_eq!(next(own, &extras).map(|next| next.to_json()), expected, "{meta:?}");
}

#[test]
fn what_is_no_picture_is_not_taken_for_one() {
    for (given, fine) in [
        ("image/png", true),
        ("IMAGE/svg+xml", true),
        ("image/vnd.microsoft.icon", true),
        ("image/", false),
        ("image", false),
        ("", false),
        ("text/html", false),
        ("audio/wav", false),
        ("image/png;base64,", false),
        ("image/png\r\nx: y", false),
        ("imagé/png", false),
    ] {
        assert_eq!(media_type("a picture", "image/", given.to_owned()).is_ok(), fine, "{given}");
    }
}

#[test]
fn a_next_call_is_read_from_its_own_place_or_from_metadata_and_dropped_where_it_is_malformed() {
    let add = |params: Value| Some(json!({"tool": "notes", "arguments": params}));
    check(Some(None), None, add(json!({"action": "add"})));
    check(Some(Some(r#"{"text": "x"}"#)), None, add(json!({"action": "add", "text": "x"})));
    check(Some(Some("[1]")), None, None);
    check(Some(Some("rubbish")), None, None);
    let arguments = json!({"action": "add", "text": "x"});
    for meta in [
        json!({"nextTool": {"tool": "notes", "arguments": arguments}}),
        json!({"nextTool": {"name": "notes", "arguments": arguments}}),
        json!({"nextTool": {"name": "notes", "parameters": arguments}}),
        json!({"loggia/nextTool": {"tool": "notes", "arguments": arguments}, "nextTool": {"tool": "other"}}),
    ] {
        check(None, Some(meta), add(arguments.clone()));
    }
    check(None, Some(json!({"nextTool": "notes"})), None);
    check(None, Some(json!({"other": 1})), None);
    check(None, Some(json!("rubbish")), None);
    check(None, None, None);
}
