//! Calls by the gate's rules: defaults, checks, coercions, and results.

use std::{io, time::Duration};

use loggia_sdk::{
    host::{Peer, Request},
    prelude::*,
    testing::{self, Host},
};

struct Demo;

#[derive(Serialize, JsonSchema, Debug)]
struct Note {
    text: String,
    tags: Vec<String>,
}

/// Something of everything.
#[facade(name = "demo")]
impl Demo {
    /// Echo what came.
    #[action(read, alias = "say")]
    fn echo(
        &self,
        #[param(length = 1..=5)] text: String,
        #[param(default = 10, range = 1..=50)] limit: u32,
        #[param(default)] tags: Vec<String>,
        suffix: Option<String>,
    ) -> Result<(String, u32, Vec<String>, Option<String>)> {
        Ok((text, limit, tags, suffix))
    }

    /// Reply with all there is.
    #[action(write)]
    fn reply(&self) -> Result<Reply<Vec<Note>>> {
        let notes = vec![Note { text: "milk".into(), tags: Vec::new() }];
        let picture = Block::Image { data: vec![1, 2], mime_type: "image/png".into() };
        Ok(Reply::new(notes)
            .message("one of nine")
            .page(Page::of(1).total(9).cursor("c"))
            .next(Next::action("echo").param("text", "again").reason("to see more"))
            .content(picture)
            .content(
                Content::from(Block::Text("beside".into())).extra("annotations", json!({"priority": 1})),
            ))
    }

    /// Fail as asked.
    #[action(read)]
    fn fail(&self, how: String) -> Result<()> {
        match how.as_str() {
            "built" => Err(Failure::not_found("not found")
                .hint("look elsewhere")
                .details(json!({"id": 7}))
                .retry_after(Duration::from_millis(5))
                .next(Next::of("other", "find"))),
            "missing" => Ok(std::fs::read_to_string("/nowhere/at/all").map(drop)?),
            "denied" => Err(io::Error::from(io::ErrorKind::PermissionDenied))?,
            "exists" => Err(io::Error::from(io::ErrorKind::AlreadyExists))?,
            "worded" => Err(io::Error::other("the disk is on fire"))?,
            "number" => Ok("x".parse::<u8>().map(drop)?),
            "large" => Ok(u8::try_from(300).map(drop)?),
            "json" => Ok(serde_json::from_str::<Value>("{").map(drop)?),
            "utf8" => Ok(String::from_utf8(vec![0xff]).map(drop)?),
            "other" => Err(std::fmt::Error)?,
            _ => Ok(()),
        }
    }

    /// Ask the host.
    #[action(read, details)]
    fn host(&self, call: &Call) -> Result<Value> {
        info!("call {} of {}", call.id(), call.action());
        call.log(Level::Warn, "careful");
        call.progress(1.0, Some(2.0), Some("half"));
        call.checkpoint()?;
        let peers: Vec<_> = host::facades()?.into_iter().map(|peer| peer.name).collect();
        let answers: Vec<_> = host::invoke(vec![
            Request::new("issues", "list").param("state", "open").detail(Detail::Minimal),
            Request::new("issues", "close"),
        ])
        .into_iter()
        .map(|answer| answer.map_or_else(|failure| failure.message.clone().into(), |reply| reply.data))
        .collect();
        Ok(json!({
            "detail": format!("{:?}", call.detail()),
            "caller": call.caller(),
            "key": call.idempotency_key(),
            "time": call.time_left() > Duration::from_secs(4) && call.time_left() <= Duration::from_secs(5),
            "region": host::config::<String>("region")?,
            "peers": peers,
            "answers": answers,
        }))
    }

    /// Read a number from the configuration.
    #[action(read)]
    fn port(&self) -> Result<Option<u16>> {
        host::config("port")
    }
}

#[test]
fn parameters_get_defaults_and_coercion() {
    let check = |action, params, expected: Value| {
        let reply = testing::call(&Demo, action, params).unwrap();
        assert_eq!(reply.data, expected);
    };
    check("echo", json!({"text": "a"}), json!(["a", 10, [], null]));
    check(
        "echo",
        json!({"text": "a", "limit": 50, "tags": ["x"], "suffix": "s"}),
        json!(["a", 50, ["x"], "s"]),
    );
    check("say", json!({"text": "a"}), json!(["a", 10, [], null]));
    check("ECHO", json!({"text": "a", "limit": "7"}), json!(["a", 7, [], null]));
    check("echo", json!({"text": "a", "tags": "[\"x\"]"}), json!(["a", 10, ["x"], null]));
    check("echo", json!({"text": "a", "suffix": null}), json!(["a", 10, [], null]));
}

#[test]
fn calls_are_refused_as_by_the_gate() {
    let refused = |action, params| {
        let failure = testing::call(&Demo, action, params).unwrap_err();
        format!("{}: {}", failure.code, failure.message)
    };
    let cases = [
        ("frobnicate", json!({})),
        ("echo", json!({})),
        ("echo", json!({"text": ""})),
        ("echo", json!({"text": "sixsix"})),
        ("echo", json!({"text": 7})),
        ("echo", json!({"text": "a", "limit": 0})),
        ("echo", json!({"text": "a", "limit": 1.5})),
        ("echo", json!({"text": "a", "txet": "b"})),
        ("echo", json!([])),
    ];
    let texts: Vec<_> = cases.into_iter().map(|(action, params)| refused(action, params)).collect();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn a_reply_carries_all_that_was_put_in() {
    let reply = testing::call(&Demo, "reply", json!({})).unwrap();
    assert_eq!(reply.data, json!([{"text": "milk", "tags": []}]));
    assert_eq!(reply.message.as_deref(), Some("one of nine"));
    assert_eq!(reply.page, Some(Page::of(1).total(9).cursor("c")));
    let next = Next::of("demo", "echo").param("text", "again").reason("to see more");
    assert_eq!(reply.next, Some(next), "an action without a facade is the plugin's own");
    assert_eq!(reply.content.len(), 2);
    assert_eq!(reply.content[1].extras, [("annotations".to_owned(), json!({"priority": 1}))]);
}

#[test]
fn a_failure_carries_all_that_was_put_in() {
    let failure = testing::call(&Demo, "fail", json!({"how": "built"})).unwrap_err();
    let expected = Failure::not_found("not found")
        .hint("look elsewhere")
        .details(json!({"id": 7}))
        .retry_after(Duration::from_millis(5))
        .next(Next::of("other", "find"));
    assert_eq!(failure, expected);
}

#[test]
fn errors_of_the_standard_library_become_plain_failures() {
    let check = |how: &str, code: &str, message: &str| {
        let failure = testing::call(&Demo, "fail", json!({"how": how})).unwrap_err();
        assert_eq!((failure.code.as_str(), failure.message.as_str()), (code, message));
    };
    check("missing", "not_found", "not found");
    check("denied", "denied", "access denied");
    check("exists", "conflict", "already exists");
    check("worded", "internal", "the disk is on fire");
    check("number", "invalid_params", "not a number: invalid digit found in string");
    check("large", "invalid_params", "the number is too large or too small");
    check("json", "invalid_data", "not valid JSON: EOF while parsing an object at line 1 column 1");
    check("utf8", "invalid_data", "not text: it is not valid UTF-8");
    check("other", "internal", "an error occurred when formatting an argument");
}

#[test]
fn the_test_host_grants_and_records() {
    let host = Host::new()
        .detail(Detail::Full)
        .time_left(Duration::from_secs(5))
        .caller("c_0001")
        .idempotency_key("k_0001")
        .config("region", "eu")
        .peer(Peer::new("issues", "Issues", "Work to do.").action("list", "List.", Effect::Read))
        .answer("issues", "list", |params| Ok(Reply::new(json!({"of": params["state"]}))));
    let reply = host.call(&Demo, "host", json!({})).unwrap();
    assert_eq!(
        reply.data,
        json!({
            "detail": "Full", "caller": "c_0001", "key": "k_0001", "time": true, "region": "eu", "peers": ["issues"],
            "answers": [{"of": "open"}, "access denied: the policy does not grant `invoke` of `issues:close`"],
        })
    );
    let lines = [(Level::Info, "call test of host".to_owned()), (Level::Warn, "careful".to_owned())];
    assert_eq!(host.logs(), lines);
    assert_eq!(host.progress(), [(1.0, Some(2.0), Some("half".to_owned()))]);
    assert_eq!(host.requests().len(), 2);
    assert_eq!(
        host.requests()[0],
        Request::new("issues", "list").param("state", "open").detail(Detail::Minimal)
    );
}

#[test]
fn ungranted_access_is_denied_or_absent() {
    assert_eq!(testing::call(&Demo, "host", json!({})).unwrap_err().code, "denied");
    assert_eq!(testing::call(&Demo, "port", json!({})).unwrap().data, Value::Null);
    assert_eq!(Host::new().cancelled().call(&Demo, "host", json!({})).unwrap_err(), Failure::cancelled());
}

#[test]
fn a_configuration_of_another_type_is_named() {
    let failure = Host::new().config("port", "high").call(&Demo, "port", json!({})).unwrap_err();
    assert_eq!(failure.code, "internal");
    assert!(failure.message.starts_with("the configuration `port` is invalid"), "{failure}");
}

#[test]
fn a_host_lasts_no_longer_than_its_call() {
    let panicked = std::panic::catch_unwind(|| {
        struct Panics;
        /// Panics.
        #[facade(name = "panics")]
        impl Panics {
            /// Panic.
            #[action(read)]
            fn now(&self) -> Result<()> {
                panic!("on purpose")
            }
        }
        Host::new().config("port", 1).call(&Panics, "now", json!({}))
    });
    assert!(panicked.is_err());
    assert_eq!(host::config::<u16>("port"), Ok(None));
}

const NONE: u32 = 0;
const MOST: u32 = 50;

struct Refused;

/// The host would not take it.
#[facade(name = "refused")]
impl Refused {
    /// A default outside its own bounds, which the macro cannot see.
    #[action(read, example = r#"{"limit": 51}"#)]
    fn list(&self, #[param(default = NONE, range = 1..=MOST)] limit: u32) -> Result<u32> {
        Ok(limit)
    }
}

#[test]
#[should_panic(expected = "the host would refuse the facade `refused`")]
fn describing_an_invalid_facade_panics_with_the_reasons() {
    testing::describe(&Refused);
}
