//! A plugin's description of itself: hidden text, lookalike names, schemas as traps, surfaces that change.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, web::Web};
use serde_json::{Value, json};

use super::stage::{check, check_in, many, pretends, text, told};

/// Characters that are invisible or alter the display: an escape, a bidi override, zero width, tags, variation
/// selectors.
const HIDDEN: &str =
    "a\u{1b}[31mb\u{202e}c\u{200b}d\u{e0041}\u{e0042}e\u{feff}f\u{e0101}g\0h\u{9b}1mi\u{2066}j\r\nk";

fn shows_all(text: &str) -> bool {
    let hidden = |c: char| {
        matches!(c, '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e01ef}')
    };
    !text.chars().any(hidden)
}

/// All texts of a JSON value, names included.
fn texts(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            out.push(name.clone());
            texts(value, out);
        }),
        _ => {}
    }
}

/// H37.
#[tokio::test]
async fn invisible_text_is_removed() -> Result<()> {
    let folder = Folder::new();
    let params = json!({"type": "object", "title": HIDDEN, "properties": {
        "p": {"type": "string", "description": HIDDEN, "x-hint": HIDDEN}}});
    let hidden = json!({"title": text(HIDDEN), "version": text(HIDDEN), "summary": text(HIDDEN),
        "instructions": text(HIDDEN), "action_summary": text(HIDDEN), "params": text(&params.to_string()),
        "data": text(&params.to_string()), "wants": [text(HIDDEN)]});
    std::fs::write(folder.path().join("pretends.wasm"), pretends(&hidden)?)?;
    for era in [Era::Stateful, Era::Stateless] {
        let client = Client::stdio(folder.path(), era).await?;
        let tools = serde_json::to_value(client.service.list_all_tools().await?)?;
        let described =
            client.envelope("pretends", json!({"action": "describe", "of": "go", "detail": "full"})).await?;
        let refused = client.envelope("pretends", json!({"action": "go", "q": 1})).await?;
        let server = serde_json::to_value(client.service.peer_info())?;
        let mut said = Vec::new();
        [&tools, &described, &refused, &server].into_iter().for_each(|value| texts(value, &mut said));
        for text in &said {
            assert!(shows_all(text), "{era:?}: {text:?}");
        }
        // The visible part remains.
        assert!(said.iter().any(|text| text.contains("abcdefghij")), "{said:?}");
        if era == Era::Stateful {
            insta::assert_json_snapshot!("hidden_text", tools);
        }
        client.end().await?;
    }
    for words in [["check", "--schema=raw"], ["tokens", "--schema=raw"], ["policy", "explain"]] {
        let mut command = tokio::process::Command::new(loggia_tests::binary());
        let output = command
            .args(words)
            .arg(folder.path())
            .env("LOGGIA_CACHE", loggia_tests::cache())
            .output()
            .await?;
        for bytes in [output.stdout, output.stderr] {
            let said = String::from_utf8(bytes)?;
            assert!(said.lines().all(shows_all), "{words:?}: {said:?}");
        }
    }
    Ok(())
}

/// H37, H41: names hide nothing, and texts are limited to a readable length.
#[tokio::test]
async fn deceptive_names_and_oversized_texts_are_refused() -> Result<()> {
    let mut said = String::new();
    let folder = Folder::new();
    for (what, spoilt) in [
        ("a Cyrillic letter in the name", json!({"name": text("pr\u{435}tends")})),
        ("a capital in the name", json!({"name": text("Pretends")})),
        ("a hidden character in the name", json!({"name": text("pretends\u{200b}")})),
        ("a path for a name", json!({"name": text("../pretends")})),
        ("a Cyrillic letter in an action's name", json!({"actions": [text("g\u{43e}")]})),
        ("an action of the host's", json!({"actions": [text("describe")]})),
        ("an alias of the host's", json!({"aliases": [text("Run_Status")]})),
        ("a name that is no name", json!({"actions": [text("__proto__")]})),
        ("two actions of one name", json!({"actions": [text("go"), text("go")]})),
        (
            "a parameter of the host's",
            json!({"params": text(r#"{"type":"object","properties":{"confirm":{}}}"#)}),
        ),
        (
            "a hidden parameter",
            json!({"params": text("{\"type\":\"object\",\"properties\":{\"p\u{200b}\":{}}}")}),
        ),
        (
            "a hidden value",
            json!({"params": text("{\"type\":\"object\",\"properties\":{\"p\":{\"enum\":[\"a\u{202e}b\"]}}}")}),
        ),
        (
            "a hidden example",
            json!({"params": text(r#"{"type":"object","properties":{"p":{}}}"#), "examples": [text("{\"p\":\"\u{e0041}\"}")]}),
        ),
        ("a mebibyte of summary", json!({"summary": many(&[("x", 1 << 20)])})),
        ("a mebibyte of nothing", json!({"summary": many(&[("\u{200b}", 1 << 18)])})),
        ("a mebibyte of an action's summary", json!({"action_summary": many(&[("x", 1 << 20)])})),
        ("a mebibyte of instructions", json!({"instructions": many(&[("x", 1 << 20)])})),
        ("a mebibyte of a title", json!({"title": many(&[("x", 1 << 20)])})),
        ("a mebibyte of a name", json!({"name": many(&[("x", 1 << 20)])})),
        ("more than the host ever copies", json!({"summary": many(&[("x", 5 << 20)])})),
        ("no action", json!({"actions": []})),
        ("65 actions", json!({"actions": (0..65).map(|n| text(&format!("a{n}"))).collect::<Vec<_>>()})),
        ("a hundred thousand actions of no name", json!({"actions": vec![json!([]); 20_000]})),
        (
            "64 actions of 5 KiB",
            json!({"actions": (0..64).map(|n| text(&format!("a{n}"))).collect::<Vec<_>>(),
            "params": many(&[(r#"{"type":"object","description":""#, 1), ("x", 5 << 10), (r#""}"#, 1)])}),
        ),
        (
            "a schema of 33 KiB",
            json!({"params": many(&[(r#"{"type":"object","description":""#, 1), ("x", 33 << 10), (r#""}"#, 1)])}),
        ),
        ("a schema of a mebibyte", json!({"params": many(&[(" ", 1 << 20), ("{}", 1)])})),
        ("nine aliases", json!({"aliases": (0..9).map(|n| text(&format!("b{n}"))).collect::<Vec<_>>()})),
        ("a thousand wants", json!({"wants": vec![text("dirs"); 1000]})),
        ("a thousand examples", json!({"examples": vec![text("{}"); 1000]})),
    ] {
        let line = told(folder.path(), "plugin", &pretends(&spoilt)?).await?;
        assert!(line.starts_with("plugin\tdoes not load: ") && line.len() < 4096, "{what}: {line:.400}");
        writeln!(said, "{what}: {line}")?;
    }
    insta::assert_snapshot!("surfaces_refused", said);
    Ok(())
}

/// H39.
#[tokio::test]
async fn nondeterministic_surfaces_are_refused() -> Result<()> {
    let folder = Folder::new();
    let cases = ["the clock", "the time that passes", "chance"];
    for (varies, in_schema) in cases.into_iter().flat_map(|varies| [(varies, false), (varies, true)]) {
        let bytes = pretends(&json!({"varies": varies, "in_schema": in_schema}))?;
        let line = told(folder.path(), "pretends", &bytes).await?;
        let function = if in_schema { "`schema(\"go\")`" } else { "`describe`" };
        let expected = format!("pretends\tdoes not load: {function} gave two different answers in two calls");
        assert!(line.starts_with(&expected), "{varies}: {line}");
    }
    // Grants apply to calls: while a plugin describes itself, it has nothing to depend on.
    folder.write(
        "pretends.toml",
        &format!(
            "[grants]\nenv = {{ LANG = \"canary\" }}\nconfig = {{ region = \"canary\" }}\n\
             dirs = [{{ path = {:?}, at = \"/data\", access = \"read\" }}]\n",
            folder.beside("data")
        ),
    );
    for (varies, shown) in [("the environment", "[]"), ("files", "Err("), ("the configuration", "None")] {
        std::fs::write(folder.path().join("pretends.wasm"), pretends(&json!({"varies": varies}))?)?;
        let client = Client::stdio(folder.path(), Era::Stateful).await?;
        let tools = client.service.list_all_tools().await?;
        let description = tools.first().and_then(|tool| tool.description.clone()).context("no tool")?;
        assert!(description.contains(&format!("Pretends.{shown}")), "{varies}: {description}");
        let call = client.envelope("pretends", json!({"action": "go"})).await?;
        assert_eq!(
            (&call["data"]["env"], &call["data"]["config"]),
            (&json!(1), &json!("\"canary\"")),
            "{call}"
        );
        client.end().await?;
    }
    Ok(())
}

/// Schemas of one parameter `p`, which are refused.
fn traps() -> Vec<(&'static str, Value)> {
    let p = |schema: &str| text(&format!(r##"{{"type":"object","properties":{{"p":{schema}}}}}"##));
    let nested = |levels: usize| {
        many(&[
            (r#"{"type":"object","properties":{"p":"#, 1),
            (r#"{"items":"#, levels),
            ("{}", 1),
            ("}", levels),
            ("}}", 1),
        ])
    };
    vec![
        ("looks ahead", p(r#"{"pattern":"^(?=a)"}"#)),
        ("looks behind", p(r#"{"pattern":"(?<!a)b"}"#)),
        ("refers back", p(r#"{"pattern":"^(a+)\\1$"}"#)),
        ("a pattern that grows", p(r#"{"pattern":"((a{500}){500}){500}"}"#)),
        ("a pattern of names that grows", p(r#"{"patternProperties":{"((a{500}){500}){500}":{}}}"#)),
        ("a reference to itself", p(r##"{"$ref":"#"}"##)),
        ("a reference in a circle", p(r##"{"anyOf":[{"$ref":"#/properties/p"},{}]}"##)),
        ("a file", p(r#"{"$ref":"file:///etc/passwd"}"#)),
        ("a dynamic reference", p(r##"{"$dynamicAnchor":"a","$dynamicRef":"#a"}"##)),
        ("a recursive reference", p(r##"{"$recursiveAnchor":true,"$recursiveRef":"#"}"##)),
        ("another base", p(r#"{"$id":"file:///etc/","items":{"$ref":"passwd"}}"#)),
        (
            "ten thousand alternatives",
            many(&[(r#"{"type":"object","properties":{"p":{"anyOf":[{}"#, 1), (",{}", 9_999), ("]}}}", 1)]),
        ),
        ("17 levels", nested(17)),
        ("100 levels", nested(100)),
        ("1,000 levels", nested(1000)),
        ("a root that is a list", text(r#"{"type":"array"}"#)),
        ("a root that may be anything", text("{}")),
        ("a root that is true", text("true")),
        ("a root that is false", text("false")),
        ("a root that is null", text("null")),
        ("no JSON", text("{")),
        ("a bound that is not a number", p(r#"{"minimum":1e400}"#)),
        ("a length below nothing", p(r#"{"minLength":-1}"#)),
        ("a multiple of nothing", p(r#"{"multipleOf":0}"#)),
        ("a type that there is not", p(r#"{"type":"thing"}"#)),
        (
            "257 values",
            many(&[(r#"{"type":"object","properties":{"p":{"enum":[0"#, 1), (",1", 256), ("]}}}", 1)]),
        ),
        (
            "65 parameters",
            text(
                &json!({"type": "object",
            "properties": (0..65).map(|n| (format!("p{n}"), json!({}))).collect::<serde_json::Map<_, _>>()})
                .to_string(),
            ),
        ),
    ]
}

/// H42.
#[tokio::test]
async fn schemas_that_are_traps_are_refused() -> Result<()> {
    let mut said = String::new();
    let folder = Folder::new();
    for (what, params) in traps() {
        let line = told(folder.path(), "pretends", &pretends(&json!({ "params": params }))?).await?;
        assert!(line.starts_with("pretends\tdoes not load: ") && line.len() < 1000, "{what}: {line:.400}");
        writeln!(said, "{what}: {line}")?;
    }
    insta::assert_snapshot!("schemas_refused", said);
    Ok(())
}

/// H42.
#[tokio::test]
async fn a_schema_makes_the_host_fetch_nothing() -> Result<()> {
    let trap = Web::trap().await?;
    let (folder, compiled) = (Folder::new(), tempfile::tempdir()?);
    let url = trap.url("/x");
    let p = |schema: Value| json!({"type": "object", "properties": {"p": schema}}).to_string();
    let schemas = [
        p(json!({"$ref": url})),
        p(json!({"$ref": format!("{url}#/$defs/a")})),
        p(json!({"$schema": url, "type": "string"})),
        p(json!({"$id": url, "items": {"$ref": "y"}})),
        json!({"$schema": url, "type": "object"}).to_string(),
        json!({"$id": url, "type": "object", "properties": {"p": {"$ref": "y"}}}).to_string(),
        json!({"$schema": url, "$vocabulary": {&url: true}, "type": "object"}).to_string(),
    ];
    for (index, schema) in schemas.iter().enumerate() {
        let name = format!("p{index}");
        for (key, params) in [("params", text(schema)), ("data", text(schema))] {
            let spoilt = json!({"name": text(&format!("{name}-{key}")), key: params});
            std::fs::write(folder.path().join(format!("{name}-{key}.wasm")), pretends(&spoilt)?)?;
        }
    }
    let output = check_in(folder.path(), compiled.path()).await?;
    let said = String::from_utf8(output.stdout)?;
    let refused = |name: &str| said.lines().any(|line| line.starts_with(&format!("{name}\tdoes not load: ")));
    for name in ["p0-params", "p1-params", "p3-params", "p5-params"] {
        assert!(refused(name), "{name}: {said}");
    }
    // Served plugins are also called: their arguments and data are checked.
    let client = Client::stdio_with(folder.path(), Era::Stateful, |command| {
        command.env("LOGGIA_CACHE", compiled.path());
    })
    .await?;
    let names = client.names().await?;
    assert!(!names.is_empty() && !names.iter().any(|name| refused(name)), "{names:?}: {said}");
    for name in names {
        client.envelope(&name, json!({"action": "go", "p": 1})).await?;
        client.envelope(&name, json!({"action": "go"})).await?;
    }
    client.end().await?;
    assert_eq!((trap.connections(), trap.asked().len()), (0, 0));
    Ok(())
}

/// H42.
#[tokio::test]
async fn backtracking_patterns_run_in_linear_time() -> Result<()> {
    let folder = Folder::new();
    let p = |pattern: &str| json!({"type": "string", "pattern": pattern});
    let params = json!({"type": "object", "properties": {
        "p": p("^(a+)+$"), "q": p("^(a|a)*$"), "r": p("^(a|aa)+$"), "s": p("^(.*a){20}$")},
        "patternProperties": {"^(x+x+)+y$": {"type": "integer"}}, "additionalProperties": false});
    std::fs::write(
        folder.path().join("pretends.wasm"),
        pretends(&json!({"params": text(&params.to_string())}))?,
    )?;
    let output = check(folder.path()).await?;
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    // A backtracking matcher would take 2^100,000 steps, so an answer proves linear time.
    let (text, long) = (format!("{}!", "a".repeat(100_000)), "x".repeat(100_000));
    for name in ["p", "q", "r", "s", &long] {
        let refused = client.envelope("pretends", json!({"action": "go", name: text})).await?;
        assert_eq!(refused["code"], "invalid_params", "{name:.10}: {refused:.300}");
    }
    let taken = client.envelope("pretends", json!({"action": "go", "p": "a".repeat(100_000)})).await?;
    assert_eq!(taken["ok"], true, "{taken:.300}");
    client.end().await
}
