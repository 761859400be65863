//! Each format: where an entry is put, and what stays as it was.

use serde_json::json;

use super::*;

fn entry(url: &str) -> Map<String, Value> {
    json!({"url": url, "args": ["a b", "c"]}).as_object().unwrap().clone()
}

const KEY: &str = "servers";

/// Puts, puts again, replaces and removes an entry: the file ends as it began, but for an empty list of servers.
fn round(syntax: FileSyntax, before: &str, after: &str) {
    let put = |text: &str, url: &str| put_entry(syntax, text, KEY, "loggia", &entry(url));
    let added = put(before, "http://x/mcp").unwrap_or_else(|error| panic!("{before}\n{error}"));
    assert_eq!(added, after, "{syntax:?}");
    assert_eq!(put(&added, "http://x/mcp").unwrap(), added, "again");
    let replaced = put(&added, "http://y/mcp").unwrap();
    assert_eq!(replaced, after.replace("http://x", "http://y"), "replaced");
    let removed = remove_entry(syntax, &added, KEY, "loggia").unwrap();
    let lines = |text: &str| {
        text.lines().map(|line| line.trim_end_matches([',', ' ']).to_owned()).collect::<Vec<_>>()
    };
    let (kept, left) = (lines(before), lines(&removed));
    // Every line that was there is there, in its order.
    let mut rest = left.iter();
    let known = |line: &String| {
        line.trim().is_empty() || line.starts_with("servers:") || rest.any(|other| other == line)
    };
    assert!(kept.iter().all(known), "{before}\n---\n{removed}");
    assert_eq!(read_config(syntax, &removed).unwrap().pointer("/servers/loggia"), None);
}

#[test]
fn json_is_edited_in_its_own_style() {
    let syntax = FileSyntax::Jsonc;
    round(
        syntax,
        "",
        "{\n  \"servers\": {\n    \"loggia\": {\n      \"url\": \"http://x/mcp\",\n      \"args\": [\"a b\", \"c\"]\n    }\n  }\n}\n",
    );
    round(
        syntax,
        "{\n\t// mine\n\t\"theme\": \"x\", /* why */\n\t\"servers\": {\n\t\t\"b\":   {\"command\":\"b\"}, // second\n\t\t\"a\": {\"command\": \"a\",},\n\t},\n}\n",
        "{\n\t// mine\n\t\"theme\": \"x\", /* why */\n\t\"servers\": {\n\t\t\"b\":   {\"command\":\"b\"}, // second\n\t\t\"a\": {\"command\": \"a\",},\n\t\t\"loggia\": {\n\t\t\t\"url\": \"http://x/mcp\",\n\t\t\t\"args\": [\"a b\", \"c\"],\n\t\t},\n\t},\n}\n",
    );
    round(
        syntax,
        "{\r\n    \"servers\": {\r\n        \"a\": 1 // one\r\n    }\r\n}",
        "{\r\n    \"servers\": {\r\n        \"a\": 1, // one\r\n        \"loggia\": {\r\n            \"url\": \"http://x/mcp\",\r\n            \"args\": [\"a b\", \"c\"]\r\n        }\r\n    }\r\n}",
    );
    for (before, after) in [
        ("{\"servers\": {\"a\":1}}\n", "{\"servers\": {\"a\":1, \"loggia\": E}}\n"),
        ("{\"a\":1 , }", "{\"a\":1 , \"servers\": {\"loggia\": E}, }"),
        (
            "{ \"x\": { \"y\": [ 1 ] } } // end",
            "{ \"x\": { \"y\": [ 1 ] }, \"servers\": {\"loggia\": E} } // end",
        ),
    ] {
        let entry = r#"{"url":"http://x/mcp","args":["a b","c"]}"#;
        let put = put_entry(syntax, before, KEY, "loggia", &self::entry("http://x/mcp"));
        assert_eq!(put.unwrap(), after.replace('E', entry));
    }
    let one = "{\"servers\": {\"a\":1, \"loggia\": {\"url\": \"u\"}}}\n";
    assert_eq!(remove_entry(syntax, one, KEY, "loggia").unwrap(), "{\"servers\": {\"a\":1}}\n");
    let bom = put_entry(syntax, "\u{feff}{}", KEY, "loggia", &entry("u")).unwrap();
    assert!(bom.starts_with("\u{feff}{"), "{bom:?}");
}

#[test]
fn toml_is_edited_in_its_own_style() {
    let syntax = FileSyntax::Toml;
    let block = "[servers.loggia]\nurl = \"http://x/mcp\"\nargs = [\"a b\", \"c\"]\n";
    round(syntax, "", block);
    round(syntax, "# mine\nmodel = \"x\"  # why", &format!("# mine\nmodel = \"x\"  # why\n\n{block}"));
    let others = "# mine\nmodel = 'x'\n\n# first\n[servers.a]\ncommand = \"a\" # a\n\n[servers.a.env]\nX = \"1\"\n\n# last\n[other]\ny = [\n  1, # one\n]\n";
    round(syntax, others, &format!("{others}\n{block}"));
    round(
        syntax,
        "servers = { a = { command = \"a\" } } # inline\n",
        "servers = { a = { command = \"a\" } , loggia = { url = \"http://x/mcp\", args = [\"a b\", \"c\"] } } # inline\n",
    );
    // A table between others, with a table of its own and comments around it.
    let text = "# head\n\n# ours\n[servers.loggia]\nurl = \"u\"\n# inside\n[servers.loggia.env]\nX = \"1\" # x\n\n# next\n[servers.b]\ncommand = \"b\"\n";
    let replaced = put_entry(syntax, text, KEY, "loggia", &entry("http://x/mcp")).unwrap();
    assert_eq!(replaced, format!("# head\n\n# ours\n{block}\n# next\n[servers.b]\ncommand = \"b\"\n"));
    let removed = remove_entry(syntax, text, KEY, "loggia").unwrap();
    assert_eq!(removed, "# head\n\n# ours\n\n# next\n[servers.b]\ncommand = \"b\"\n");
}

#[test]
fn yaml_is_edited_in_its_own_style() {
    let syntax = FileSyntax::Yaml;
    let block = |indent: &str| {
        format!(
            "{indent}loggia:\n{indent}  url: \"http://x/mcp\"\n{indent}  args:\n{indent}  - a b\n{indent}  - c\n"
        )
    };
    round(syntax, "", &format!("servers:\n{}", block("  ")));
    round(syntax, "# mine\nmodel: x # why", &format!("# mine\nmodel: x # why\nservers:\n{}", block("  ")));
    for empty in ["servers: {}\nz: 1\n", "servers:\nz: 1\n", "servers: null\nz: 1\n"] {
        round(syntax, empty, &format!("servers:\n{}z: 1\n", block("  ")));
    }
    let before = "---\n# mine\nservers:\n    # first\n    a:\n        args:\n        - \"# no\"\n        text: |\n          one\n\n          two\n    b: {cmd: b} # flow\n\n    # after\n";
    let after = "\n# tail\nz: &x [1, 2]\ny: *x\n";
    let split = before.find("\n    # after").unwrap();
    let (head, comments) = before.split_at(split);
    round(syntax, &format!("{before}{after}"), &format!("{head}{}{comments}{after}", block("    ")));
}

#[test]
fn a_form_that_cannot_be_edited_is_left_alone() {
    for (syntax, text) in [
        (FileSyntax::Jsonc, "[1]"),
        (FileSyntax::Jsonc, "{\"servers\": []}"),
        (FileSyntax::Toml, "servers = 1"),
        (FileSyntax::Toml, "[servers]\nloggia.url = \"u\"\n"),
        (FileSyntax::Toml, "[[servers]]\nx = 1\n"),
        (FileSyntax::Yaml, "servers: {a: {x: 1}}\n"),
        (FileSyntax::Yaml, "{servers: {}}\n"),
        (FileSyntax::Yaml, "servers:\n- a\n"),
        (FileSyntax::Yaml, "a: 1\n...\n"),
        (FileSyntax::Yaml, "- a\n"),
    ] {
        let put = put_entry(syntax, text, KEY, "loggia", &entry("u"));
        assert!(matches!(put, Err(EditFault::Form(_) | EditFault::Lossy)), "{syntax:?} {text} {put:?}");
    }
}

#[test]
fn a_fault_has_its_place() {
    for (syntax, text, place) in [
        (FileSyntax::Jsonc, "{\n  \"a\": 1\n  \"b\": 2\n}", (2, 9)),
        (FileSyntax::Jsonc, "{'a': 1}", (1, 2)),
        (FileSyntax::Toml, "a = 1\nb = = 2\n", (2, 5)),
        (FileSyntax::Yaml, "a: 1\nb: [1\nc: 2\n", (3, 2)),
        (FileSyntax::Yaml, "a: 1\na: 2\n", (2, 4)),
        (FileSyntax::Yaml, "a: 1\n---\nb: 2\n", (2, 1)),
    ] {
        let fault = read_config(syntax, text).unwrap_err();
        assert_eq!((fault.line, fault.column), place, "{syntax:?} {text}: {fault}");
        let put = put_entry(syntax, text, KEY, "loggia", &entry("u"));
        assert_eq!(put, Err(EditFault::Syntax(fault)));
    }
}
