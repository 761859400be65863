use std::sync::Arc;

use loggia_facade::{Action, Block, Detail, Effect};
use serde_json::{Value, json};

use super::{extras::RawExtras, next::parse_next, reply::check_media_type, *};

/// Checks the next call that is read from a reply's own field and from its metadata.
fn check(own: Option<Option<&str>>, meta: Option<Value>, expected: Option<Value>) {
    let own = own.map(|params| RawNext {
        facade: "notes".into(),
        action: "add".into(),
        params: params.map(str::to_owned),
        reason: None,
    });
    let extras: RawExtras = meta.iter().map(|meta| ("_meta".to_owned(), meta.to_string())).collect();
    assert_eq!(parse_next(own, &extras).map(|next| next.to_json()), expected, "{meta:?}");
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
        assert_eq!(check_media_type("a picture", "image/", given).is_ok(), fine, "{given}");
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

#[test]
fn the_size_of_a_reply_counts_every_text_and_an_overhead_per_part() {
    let next = RawNext { facade: "ab".into(), action: "cd".into(), params: Some("{}".into()), reason: None };
    let image = Block::Image { data: vec![0; 10], mime_type: "image/png".into() };
    let reply = RawReply {
        data: "null".into(),
        message: Some("hello".into()),
        page: None,
        next: Some(next),
        content: vec![RawContent { block: image, extras: vec![("a".into(), "1".into())] }],
        extras: Vec::new(),
    };
    assert_eq!(reply.size(), 4 + 5 + 4 * 6 + (128 + 19) + (128 + 2));
}

#[test]
fn a_failure_keeps_what_the_gate_added() {
    let parse = |extras: &[(&str, &str)]| {
        let extras = extras.iter().map(|(name, json)| ((*name).to_owned(), (*json).to_owned())).collect();
        let (code, message) = ("invalid_params".into(), "wrong".into());
        let (hint, details, retry_after_ms, next) = (None, None, None, None);
        let raw = RawFailure { code, message, hint, details, retry_after_ms, next, extras };
        raw.parse().map(|failure| (failure.expected, failure.example)).map_err(|error| error.to_string())
    };
    let both = [("expected", "\"add(id: string)\""), ("example", "{\"id\":1}"), ("other", "not JSON")];
    assert_eq!(parse(&both), Ok((Some("add(id: string)".to_owned()), Some(json!({"id": 1})))));
    assert_eq!(parse(&[]), Ok((None, None)));
    assert_eq!(parse(&[("expected", "7")]), Ok((None, None)));
    let refused = parse(&[("example", "{")]).unwrap_err();
    assert!(refused.starts_with("an extra of the failure is not valid JSON: "), "{refused}");
}

#[test]
fn answers_and_requests_with_malformed_json_are_refused() {
    let reply = |data: &str| RawReply {
        data: data.into(),
        message: None,
        page: None,
        next: None,
        content: Vec::new(),
        extras: Vec::new(),
    };
    let error = |data: &str| reply(data).parse().err().map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(reply("[1]").parse().ok().map(|reply| reply.data), Some(json!([1]).into()));
    assert!(error("[1").starts_with("the reply's data is not valid JSON: "), "{}", error("[1"));
    assert_eq!(error(&"[],".repeat(100_000)), "the reply's data holds more than 100000 values");
    let request = |params: &str| RawRequest {
        facade: "notes".into(),
        action: "add".into(),
        params: params.into(),
        detail: Detail::Standard,
        timeout: None,
        idempotency_key: None,
    };
    let refused = |params: &str| request(params).parse().err().map(|failure| failure.to_string());
    assert_eq!(refused("{}"), None);
    assert_eq!(refused("[]").as_deref(), Some("invalid_params: `params` is not a JSON object"));
}

#[test]
fn needs_of_an_action_are_a_list_of_texts() {
    let check = |text: &str, expected: Result<&[&str], &str>| {
        let mut action = Action {
            name: String::new(),
            summary: String::new(),
            effect: Effect::Read,
            idempotent: false,
            open_world: false,
            long_running: false,
            details: false,
            aliases: Vec::new(),
            needs: Vec::new(),
            group: None,
            resource: None,
            view: None,
            params: Arc::default(),
            data: None,
            examples: Vec::new(),
        };
        let extras = vec![("other".to_owned(), "?".to_owned()), ("needs".to_owned(), text.to_owned())];
        let parsed = parse_action_extras(&extras, &mut action);
        match expected {
            Ok(needs) => {
                assert_eq!((parsed, action.needs), (Ok(()), needs.iter().map(|&n| n.into()).collect()))
            }
            Err(reason) => assert!(parsed.clone().unwrap_err().contains(reason), "{text:.20}: {parsed:?}"),
        }
    };
    check(r#"["config: index", "store"]"#, Ok(&["config: index", "store"]));
    check("[]", Ok(&[]));
    check(r#""store""#, Err("not a list of texts"));
    check("[1]", Err("not a list of texts"));
    check("[", Err("not a list of texts"));
    check(&format!("[{:?}]", "x".repeat(5000)), Err("at most 4096"));
}
