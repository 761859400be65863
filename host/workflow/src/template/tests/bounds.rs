//! Limits: no template and no data overflows the host's stack, fills its memory or hangs it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Object, TemplateScope, TextTemplate, failure, limits};

/// Runs a closure on a small stack.
fn on_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(512 * 1024).spawn(run).unwrap().join().unwrap()
}

/// Result of a template: the number of bytes, or the error.
fn outcome(source: &str, root: Value) -> String {
    let source = source.to_owned();
    on_small_stack(move || match TextTemplate::parse(&source) {
        Err(error) => format!("no template: {error}"),
        Ok(template) => {
            let scope = TemplateScope { base: root.as_object().unwrap(), for_each: None };
            match template.expand(&scope, false) {
                Ok(expanded) => format!("{} bytes", expanded.text.len()),
                Err(error) => error.message,
            }
        }
    })
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, level| match level % 2 {
        0 => Value::Array(vec![inner]),
        _ => Value::Object([("a".to_owned(), inner)].into_iter().collect()),
    })
}

fn around(depth: usize, open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn deep_templates_fit_a_small_stack() {
    let check =
        |source: &str, root: Value, expected: &str| assert_eq!(outcome(source, root), expected, "{source}");
    let parens = |depth| around(depth, "(", "json .d", ")");
    let data = json!({"d": nested(limits::DEPTH)});
    check(&format!("{{{{{}}}}}", parens(32)), data.clone(), "401 bytes");
    check(
        &format!("{{{{{}}}}}", parens(33)),
        data.clone(),
        "no template: parentheses are nested more than 32 deep",
    );
    check(
        &format!("{{{{{}}}}}", parens(5000)),
        data.clone(),
        "no template: parentheses are nested more than 32 deep",
    );
    let worst = format!("{{{{{}}}}}", parens(32));
    for control in ["{{if 1}}", "{{with $}}", "{{range 1}}{{with $}}"] {
        let ends = control.matches("{{").count();
        let (depth, close) = (31 / ends, "{{end}}".repeat(ends));
        let source = around(depth, control, &worst, &close);
        check(&source, data.clone(), "401 bytes");
        let more = around(400, control, "", &close);
        check(&more, data.clone(), "no template: control actions are nested more than 32 deep");
    }
    let chain = format!("{{{{if 0}}}}{}{{{{end}}}}", "{{else if 0}}x".repeat(63));
    check(&chain, json!({}), "0 bytes");
    let chain = format!("{{{{if 0}}}}{}{{{{end}}}}", "{{else if 0}}x".repeat(1000));
    check(&chain, json!({}), "no template: a template has at most 64 control actions (`if`, `range` …)");
    for body in [
        "{{template \"r\" .}}".to_owned(),
        around(30, "{{if 1}}", "{{template \"r\" .}}", "{{end}}"),
        format!("{{{{template \"r\" {}}}}}", around(32, "(", ".", ")")),
    ] {
        let source = format!("{{{{define \"r\"}}}}{body}{{{{end}}}}{{{{template \"r\" .}}}}");
        check(&source, json!({}), "template expansion depth limit exceeded: 32");
    }
}

/// Case 13 of the research.
#[test]
fn deep_data_is_not_followed_to_its_end() {
    for source in [
        "{{.d}}",
        "{{json .d}}",
        "{{print .d}}",
        "{{printf \"%d\" .d}}",
        "{{printf \"%#v\" .d}}",
        "{{html .d}}",
        "{{.}}",
    ] {
        for depth in [limits::DEPTH + 1, 150, 1000] {
            let told = outcome(source, json!({"d": nested(depth)}));
            assert!(told.ends_with("template expansion depth limit exceeded: 100"), "{source}: {told}");
        }
    }
    let text = around(120, "[", "", "]");
    assert!(outcome("{{fromJson .t}}", json!({"t": text})).ends_with("depth limit exceeded: 100"));
    let text = around(100_000, "[", "", "]");
    assert!(outcome("{{fromJson .t}}", json!({"t": text})).contains("failed to unmarshal JSON"));
}

/// Case 14 of the research.
#[test]
fn output_is_bounded_while_it_is_written() {
    let root = json!({"big": "x".repeat(11 * 1024 * 1024), "mega": "x".repeat(1024 * 1024)});
    let check =
        |source: &str, expected: &str| assert_eq!(outcome(source, root.clone()), expected, "{source}");
    check("{{.big}}", "template output too large: 11534336 bytes (max 10485760)");
    check("{{range 100000}}{{$.mega}}{{end}}", "template output too large: 11534336 bytes (max 10485760)");
    check("{{range 10}}{{$.mega}}{{end}}", "10485760 bytes");
}

#[test]
fn functions_make_no_more_than_a_run_may_hold() {
    let root = json!({"mega": "x".repeat(1024 * 1024), "many": format!("[{}0]", "0,".repeat(1_000_000))});
    let check = |source: &str| {
        let told = outcome(source, root.clone());
        assert!(told.contains("the functions of the template produce too much data"), "{source}: {told}");
    };
    check(&format!("{{{{print {}}}}}", "$.mega ".repeat(2000)));
    check(&format!("{{{{$a := .mega}}}}{}", "{{$a = print $a $a}}".repeat(60)));
    check("{{$a := .mega}}{{range 100}}{{$a = printf \"%s%s\" $a $a}}{{end}}");
    let wide = "%999[1]d".repeat(2000);
    check(&format!("{{{{range 20}}}}{{{{$a := printf \"{wide}\" 1}}}}{{{{end}}}}"));
    check("{{range 100000}}{{$a := print $.mega}}{{end}}");
    check(
        "{{print (print (print .mega .mega .mega .mega .mega .mega .mega .mega .mega .mega .mega .mega)) .mega}}",
    );
    check("{{fromJson .many}}");
}

#[test]
fn widths_are_bounded() {
    let root = json!({"w": 1_000_000_000, "h": "9".repeat(1000)});
    let check = |source: &str| {
        let told = outcome(source, root.clone());
        assert!(told.ends_with("a width or precision in `printf` is at most 1000"), "{source}: {told}");
    };
    check("{{printf \"%1000000000d\" 1}}");
    check("{{printf \"%.1000000000f\" 1}}");
    check("{{printf \"%*d\" .w 1}}");
    check("{{printf \"%.*d\" .w 1}}");
    check("{{printf (print \"%\" .h \"d\") 1}}");
    assert_eq!(outcome("{{printf \"%1000.1000f|%-1000d|%.1000d\" 1.5 1 1}}", root), "3004 bytes");
}

#[test]
fn evaluation_time_is_bounded() {
    let list: Vec<Value> = (0..100_000).map(|n| json!(n)).collect();
    let map: serde_json::Map<_, _> = (0..1000).map(|n| (format!("k{n}"), json!(n))).collect();
    let root =
        json!({"list": list, "map": map, "mega": "x".repeat(1024 * 1024), "other": "x".repeat(1024 * 1024)});
    for source in [
        "{{range 100000000}}{{end}}",
        "{{range 9223372036854775807}}{{end}}",
        "{{range 10000}}{{range 10000}}{{range 10000}}{{end}}{{end}}{{end}}",
        "{{range .list}}{{range $.list}}{{end}}{{end}}",
        "{{range .list}}{{range $.map}}{{break}}{{end}}{{end}}",
        "{{range 100000}}{{if eq $.mega $.other}}{{end}}{{end}}",
        "{{range 100000}}{{if lt $.mega $.other}}{{end}}{{end}}",
        "{{range 500001}}{{continue}}{{end}}",
        "{{define \"r\"}}{{range 2}}{{template \"r\"}}{{end}}{{end}}{{range 100000}}{{template \"r\"}}{{end}}",
    ] {
        let told = outcome(source, root.clone());
        let stopped = told.ends_with("the template takes too long: more than 1000000 steps");
        assert!(stopped || told.ends_with("depth limit exceeded: 32"), "{source}: {told}");
    }
}

#[test]
fn a_template_is_no_longer_than_it_may_be() {
    assert_eq!(outcome(&"x".repeat(limits::SOURCE), json!({})), "16384 bytes");
    let told = outcome(&"x".repeat(limits::SOURCE + 1), json!({}));
    assert_eq!(told, "no template: a template has at most 16384 bytes; this one has 16385");
}

#[test]
fn references_are_found_in_time() {
    let twice = "{{template \"r\" .a.b.c}}{{template \"r\" .d}}".repeat(20);
    let source =
        format!("{{{{define \"r\"}}}}{}{twice}{{{{end}}}}{{{{template \"r\" .x}}}}", "{{.y.z}}".repeat(1000));
    on_small_stack(move || {
        let template = TextTemplate::parse(&source).unwrap();
        assert!(template.references().iter().all(|reference| reference.path.len() <= limits::PATH));
    });
}

/// Texts made of meaningful fragments of templates.
fn soup() -> impl Strategy<Value = String> {
    let words = [
        "{{",
        "}}",
        "{{-",
        "-}}",
        " ",
        "(",
        ")",
        "|",
        ".",
        ".a",
        ".list",
        ".deep",
        "$",
        "$x",
        ":=",
        "=",
        ",",
        "if",
        "else",
        "else if",
        "end",
        "range",
        "with",
        "define",
        "template",
        "block",
        "break",
        "continue",
        "\"a\"",
        "\"t\"",
        "`r`",
        "'c'",
        "1",
        "-7",
        "1e9",
        "0x1p-2",
        "2.5",
        "true",
        "nil",
        "print",
        "printf",
        "\"%[2]*[1]d%v%q%.3x\"",
        "\"%v %d %5.2f\"",
        "index",
        "slice",
        "len",
        "json",
        "fromJson",
        "\"[1,{}]\"",
        "quote",
        "html",
        "js",
        "urlquery",
        "and",
        "or",
        "not",
        "eq",
        "lt",
        "/*",
        "*/",
        "-",
        "é",
        "\\",
        "\n",
        "{{end}}",
        "{{range .list}}",
        "{{if .a}}",
        "{{.a}}",
        "call",
        "%",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..60).prop_map(|words| words.concat())
}

/// Whole actions, so that more texts are valid templates.
fn actions() -> impl Strategy<Value = String> {
    let operand = prop::sample::select(vec![
        ".",
        "$",
        ".a",
        ".list",
        ".map",
        ".nul",
        ".nope",
        ".deep",
        ".big",
        "1",
        "-1",
        "2.5",
        "\"\"",
        "\"é%5.2v\"",
        "true",
        "nil",
        "(index .list 0)",
        "(fromJson \"[1]\")",
    ]);
    let function = prop::sample::select(super::function_names());
    let action = (function, prop::collection::vec(operand, 0..5))
        .prop_map(|(function, operands)| format!("{{{{{function} {}}}}}", operands.join(" ")));
    let ranges = prop::sample::select(vec![
        "{{range .list}}",
        "{{range $k, $v := .map}}",
        "{{with .map}}",
        "{{if .a}}",
    ]);
    (prop::collection::vec((ranges, action), 1..6)).prop_map(|parts| {
        let ends = "{{end}}".repeat(parts.len());
        parts.into_iter().map(|(range, action)| range.to_owned() + &action).collect::<String>() + &ends
    })
}

fn survives(source: &str) {
    let root = json!({
        "a": "text", "list": [1, "é", null, {"a": [2.5]}], "map": {"a": {"b": 1}, "z": null}, "nul": null,
        "deep": nested(130), "big": u64::MAX
    });
    let Ok(template) = TextTemplate::parse(source) else { return };
    let item = json!({"index": 0});
    for (for_each, strict) in [(None, false), (Some(&item), true)] {
        let scope = TemplateScope { base: root.as_object().unwrap(), for_each };
        if let Ok(expanded) = template.expand(&scope, strict) {
            assert!(expanded.text.len() <= limits::OUTPUT);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(source in any::<String>(), inside in any::<String>()) {
        survives(&source);
        survives(&format!("{{{{{inside}}}}}"));
    }

    #[test]
    fn any_fragments_are_survived(source in soup(), actions in actions()) {
        on_small_stack(move || {
            survives(&source);
            survives(&format!("{{{{{source}}}}}"));
            survives(&actions);
            survives(&format!("{{{{$x := .list}}}}{actions}{source}"));
        });
    }
}

#[test]
fn each_digit_of_a_float_is_a_step() {
    for verb in ["%.1000e", "%.1000g", "%.1000f"] {
        let source = format!("{{{{range 40000}}}}{{{{$x := printf {verb:?} 1e-300}}}}{{{{end}}}}");
        let error = failure(&source, &json!({}), false);
        assert!(error.contains("takes too long"), "{verb}: {error}");
    }
}

#[test]
fn of_very_many_names_some_are_looked_at() {
    let big: Object = (0..100_000u32).map(|n| (format!("key{n}"), n.into())).collect();
    let root = json!({"big": big});
    let error = failure("{{.big.key99998x}}", &root, true);
    assert!(error.contains("; did you mean") || error.contains("99980 more"), "{error}");
    assert!(!error.contains("`key99998`"), "{error}");
}
