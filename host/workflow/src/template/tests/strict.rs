//! Strict mode.

use serde_json::json;

use super::{data, expand, failure};

#[test]
fn missing_values_are_reported_with_existing_names() {
    let told = [
        "{{.params.titel}}",
        "{{.prams.title}}",
        "{{.params.obj.kye.deeper}}",
        "{{.params.nul.x}}",
        "{{.params.title}} {{$.steps.fetch.output.dta}}",
        "{{(index .steps \"my-step\").output.w}}",
        "{{index .steps \"my-stpe\"}}",
        "{{index .params \"obj\" \"nope\"}}",
        "{{with .params.obj}}{{.kye}}{{end}}",
        "{{range .params.list}}{{if eq (print .) \"map[k:1]\"}}{{.kk}}{{end}}{{end}}",
        "{{$x := .params.nope}}{{$x}}",
        "{{or .params.nope .params.empti}}",
        "{{printf \"%s\" .params.titel}}",
        "{{.params.titel | print}}",
        "{{(fromJson .steps.fetch.output.text | slice).x}}",
        "{{(fromJson \"{}\").field}}",
        "{{.vars.x}}",
    ];
    let told = told.map(|source| format!("{source}  {}", failure(source, &data(), true)));
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn at_most_twenty_names_are_listed() {
    let many: serde_json::Map<_, _> = (0..30).map(|n| (format!("name{n:02}"), json!("hunter2"))).collect();
    let told = failure("{{.params.x}}", &json!({"params": many}), true);
    assert!(
        told.contains("name19, 10 more)") && !told.contains("name20") && !told.contains("hunter2"),
        "{told}"
    );
}

/// Files of ToolHive parse the text of a result that is parsed here already.
#[test]
fn structured_results_have_a_text() {
    let step =
        json!({"output": {"papers": [{"id": "7"}]}, "content": {"text": r#"{"papers":[{"id":"7"}]}"#}});
    let root = json!({"steps": {"search": step, "skipped": {"output": {}, "content": {}}}});
    for (source, expected) in [
        ("{{(index (fromJson .steps.search.output.text).papers 0).id}}", "7"),
        ("{{(index .steps.search.output.papers 0).id}}", "7"),
        ("{{json .steps.search.output}}", r#"{"papers":[{"id":"7"}]}"#),
    ] {
        assert_eq!(expand(source, &root, true).unwrap().text, expected, "{source}");
    }
    for source in
        ["{{.steps.skipped.output.text}}", "{{.steps.search.output.texts}}", "{{.steps.search.text}}"]
    {
        assert!(failure(source, &root, true).contains("does not exist"), "{source}");
    }
}

#[test]
fn conditions_accept_missing_values() {
    for (source, expected) in [
        ("{{if .params.nope}}a{{else}}b{{end}}", "b"),
        ("{{if and .params.on (not .params.nope.x)}}a{{end}}", "a"),
        ("{{eq .params.nope \"x\"}}", "false"),
        ("{{with .params.nope}}a{{else}}b{{end}}", "b"),
        ("{{or .params.nope \"x\"}}", "x"),
        ("{{range .params.nope}}a{{end}}", ""),
        ("{{$x := .params.nope}}{{if $x}}a{{end}}", ""),
        ("{{json .params.nope}}", "null"),
        ("{{.params.nul}}", "<no value>"),
    ] {
        assert_eq!(expand(source, &data(), true).unwrap().text, expected, "{source}");
    }
}
