//! Static references of templates.

use super::TextTemplate;

fn check(source: &str, expected: &[&str]) {
    let template = TextTemplate::parse(source).unwrap();
    let paths: Vec<String> = template.references().iter().map(|reference| reference.path.join(".")).collect();
    assert_eq!(paths, expected, "{source}");
}

#[test]
fn static_paths_are_found() {
    check("no action", &[]);
    check("{{.params.x}} {{$.params.y}} {{.params.x}}", &["params.x", "params.y"]);
    check("{{(index .steps \"my-step\").output.v}}", &["steps.my-step.output.v"]);
    check("{{index .steps \"a\" \"output\" 0 .params.k}}", &["steps.a.output", "params.k"]);
    check("{{(index (fromJson .steps.s.output.text).papers 0).id}}", &["steps.s.output.text"]);
    check("{{index .steps.get.output.results 0 \"m\"}}", &["steps.get.output.results"]);
    check("{{.a | printf \"%s %s\" .b | quote}}", &["a", "b"]);
    check("{{\"a\" | index .steps}}", &["steps.a"]);
    check(
        "{{if and .a (not .b)}}{{.c}}{{else if .d}}{{.e}}{{else}}{{.f}}{{end}}",
        &["a", "b", "c", "d", "e", "f"],
    );
    check("{{.x .y}}", &["x", "y"]);
    check("{{.}} {{$}} {{json .}}", &[]);
}

/// Case 40 of the research: ToolHive finds both, and the name behind them.
#[test]
fn a_key_that_is_data_is_a_reference_too() {
    check("{{ (index .mapping .key).nested }}", &["mapping", "key"]);
}

#[test]
fn the_dot_and_variables_are_followed() {
    check(
        "{{with .steps.x.output}}{{.y}} {{$.z}}{{else}}{{.w}}{{end}}",
        &["steps.x.output", "steps.x.output.y", "z", "w"],
    );
    check("{{range .items}}{{.name}}{{$.a}}{{else}}{{.b}}{{end}}", &["items", "a", "b"]);
    check("{{range $i, $v := .items}}{{$v.x}}{{end}}", &["items"]);
    check("{{$v := .steps.x}}{{$v.output}}", &["steps.x", "steps.x.output"]);
    check("{{$v := .a}}{{if .c}}{{$v = .b}}{{end}}{{$v.x}}", &["a", "c", "b"]);
    check("{{with $v := index .steps \"a\"}}{{$v.output}}{{end}}", &["steps.a", "steps.a.output"]);
    check("{{define \"t\"}}{{.x}} {{$.y}}{{end}}{{template \"t\" .a}}", &["a", "a.x", "a.y"]);
    check("{{define \"t\"}}{{.x}}{{end}}", &[]);
    check("{{block \"t\" .a}}{{.x}}{{end}}", &["a", "a.x"]);
}
