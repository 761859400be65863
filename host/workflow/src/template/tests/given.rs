//! Texts and values of templates.

use serde_json::{Value, json};

use super::{EvalError, TemplateScope, TextTemplate, data, expand, failure, parse_error, text};

fn check(source: &str, expected: &str) {
    assert_eq!(text(source, &data()), expected, "{source}");
}

/// Template cases of the research's §1.15, by number.
#[test]
fn toolhives_own_cases() {
    // 1
    check("Issue: {{.params.title}}", "Issue: Test");
    // 4
    check(r#"{"data": {{json .params.obj}}}"#, r#"{"data": {"a":1,"key":"value","z":null}}"#);
    // 5
    check("{{.params.nonexistent}}", "<no value>");
    // 6
    assert_eq!(parse_error("{{.params.missing"), "0: unclosed action: `}}` is missing");
    // 7 and 8
    check("{{.steps.fetch.content.text}}", "content text");
    check("{{.steps.fetch.content.resource}}", r#"{"spdx":1}"#);
    // 10
    check("{{index (fromJson .steps.fetch.output.text) 0}}", "apple");
    check("{{json (fromJson .steps.fetch.output.text)}}", r#"["apple",{"k":12}]"#);
    let broken = failure("{{fromJson .params.title}}", &data(), false);
    assert_eq!(
        broken,
        "`fromJson .params.title`: failed to unmarshal JSON: expected value at line 1 column 1"
    );
    // 11
    check("{{.workflow}}", "<no value>");
    let root = json!({"workflow": {"duration_ms": 2500, "start_time": "2024-01-01T12:00:00Z"}});
    assert_eq!(text("{{.workflow.duration_ms}}", &root), "2500");
    // 17
    assert_eq!(parse_error(r#"{{exec "rm -rf /"}}"#), "2: there is no function `exec`");
    assert_eq!(
        failure(r#"{{.Execute "danger"}}"#, &data(), false),
        "`.Execute \"danger\"`: it is not a function but has arguments"
    );
}

/// Cases 2 and 3, as far as templates are concerned: non-texts keep their type.
#[test]
fn one_action_gives_its_value() {
    let check = |source: &str, expected: Option<Value>| {
        assert_eq!(expand(source, &data(), true).unwrap().value, expected, "{source}");
    };
    check("{{.params.n}}", Some(json!(3)));
    check("{{ .params.frac -}}  ", Some(json!(2.5)));
    check("{{/* why */}}{{.params.on}}", Some(json!(true)));
    check("{{.params.list}}", Some(json!(["a", "b", {"k": 1}])));
    check("{{.params.nul}}", Some(Value::Null));
    check("{{.params.big}}", Some(json!(9_007_199_254_740_993_i64)));
    check("{{.params.biggest}}", Some(json!(u64::MAX)));
    check("{{(index (fromJson .steps.fetch.output.text) 1).k}}", Some(json!(12)));
    check("{{json .params.obj}}", Some(json!(r#"{"a":1,"key":"value","z":null}"#)));
    check("{{.params.title}} ", None);
    check("{{.params.title}}{{.params.title}}", None);
    check("{{$x := 1}}", None);
    check("{{if true}}{{.params.n}}{{end}}", None);
    check("text", None);
    let missing = expand("{{.params.nope}}", &data(), false).unwrap();
    assert_eq!((missing.text.as_str(), missing.value), ("<no value>", None));
}

#[test]
fn numbers_are_exact() {
    check(
        "{{.params.big}} {{json .params.big}} {{.params.biggest}}",
        "9007199254740993 9007199254740993 18446744073709551615",
    );
    check(
        "{{.params.float}} {{printf \"%v %d %.1f\" .params.float .params.float .params.float}}",
        "1234567 1234567 1234567 1234567.0",
    );
    check(
        "{{gt .params.n 2}} {{eq .params.n 3.0}} {{lt .params.frac 3}} {{eq .params.n 4 3}}",
        "true true true true",
    );
    check("{{gt .params.big 9007199254740992.0}}", "true");
    check("{{index .params.list 1.0}}", "b");
}

#[test]
fn fields_of_missing_values_are_missing() {
    for source in [
        "{{.params.nope.deeper.still}}",
        "{{.nope.deeper}}",
        "{{.params.nul.deeper}}",
        "{{(index .params \"nope\").deeper}}",
        "{{$x := .params.nope}}{{$x}}",
    ] {
        check(source, "<no value>");
    }
    check("{{print .params.nope .params.nul}}", "<nil> <nil>");
    check("{{printf \"%v %s\" .params.nope .params.nul}}", "<nil> %!s(<nil>)");
    check("{{html .params.nope}}", "&lt;no value&gt;");
    check(
        "{{eq .params.nope nil}} {{eq .params.nope 1}} {{ne .params.nul .params.nope}}",
        "true false false",
    );
    check("{{range .params.nope}}x{{else}}none{{end}}", "none");
    assert_eq!(
        failure("{{len .params.nope}}", &data(), false),
        "`len .params.nope`: a missing value has no length (`.params` has: big, biggest, empty, float, frac, list, n, nul, obj, on, title, uni)"
    );
    assert_eq!(
        failure("{{index .params.nope 1}}", &data(), false),
        "`index .params.nope 1`: `index` of a missing value (`.params` has: big, biggest, empty, float, frac, list, n, nul, obj, on, title, uni)"
    );
}

#[test]
fn control_goes_as_in_go() {
    check("{{if .params.empty}}a{{else if eq .params.n 3}}b{{else}}c{{end}}", "b");
    check("{{with .params.obj}}{{.key}} {{$.params.title}}{{else}}x{{end}}", "value Test");
    check("{{with $x := .params.obj}}{{$x.key}}{{end}}", "value");
    check("{{range $i, $v := .params.list}}{{if eq $i 2}}{{break}}{{end}}{{$i}}={{$v}} {{end}}", "0=a 1=b ");
    check("{{range 4}}{{if eq . 1}}{{continue}}{{end}}{{.}}{{end}}", "023");
    check("{{range $n := .params.n}}{{$n}}{{end}}", "012");
    check("{{range $k, $v := .params.obj}}{{$k}}:{{$v}} {{end}}", "a:1 key:value z:<no value> ");
    check("{{$sum := \"\"}}{{range .params.list}}{{$sum = print $sum .}}{{end}}{{$sum}}", "abmap[k:1]");
    check("{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{end}}{{$x}}", "21");
    check("{{if $x := .params.empty}}{{else if $y := .params.title}}{{$x}}{{$y}}{{end}}", "Test");
    check(
        "{{define \"t\"}}[{{.}}{{$}}]{{end}}{{$x := 1}}{{template \"t\" .params.n}}{{template \"t\"}}{{$x}}",
        "[33][<no value><no value>]1",
    );
    check("{{block \"b\" .params.obj}}{{.key}}{{end}}", "value");
    check("a {{- /* gone */ -}} b", "ab");
    check("a {{- .params.title -}}\n b {{ -3 }}", "aTestb -3");
    check("{{or .params.empty .params.nope \"x\"}} {{and .params.n .params.empty}}|{{and true 2}}", "x |2");
    check("{{or .params.title (index .params.nope 1)}}", "Test");
    check("{{\"x\" | printf \"%s-%s\" \"y\" | quote}}", r#""y-x""#);
    check("{{`raw\\n` | len}} {{'a'}} {{len \"é\"}}", "5 97 2");
    check("{{(slice .params.list 1 2)}} {{slice .params.title 1 3}}", "[b] es");
}

#[test]
fn printf_goes_as_in_go() {
    let check = |arguments: &str, expected: &str| check(&format!("{{{{printf {arguments}}}}}"), expected);
    check(
        r#""%5d|%-5d|%05d|%+d|% d|%x|%#x|%o|%#o|%b|%c|%q|%U" 42 42 -42 42 42 255 255 8 8 5 'x' 'x' 'x'"#,
        "   42|42   |-0042|+42| 42|ff|0xff|10|010|101|x|'x'|U+0078",
    );
    check(
        r#""%f|%.2f|%8.3f|%e|%g|%.3g|%G" 2.5 2.555 -2.5 1234.5 1e21 1234.5 1e-7"#,
        "2.500000|2.56|  -2.500|1.234500e+03|1e+21|1.23e+03|1E-07",
    );
    check(
        r#""%s|%10s|%-6s|%.2s|%q|%x|% X" "a" "b" "c" "héllo" "q\"" "hi" "hi""#,
        r#"a|         b|c     |hé|"q\""|6869|68 69"#,
    );
    check(r#""%t|%v|%5t|%T %T %T" true false true 1 1.5 "s""#, "true|false| true|int float64 string");
    check(r#""%d %s" 1"#, "1 %!s(MISSING)");
    check(r#""%d" 1 "x""#, "1%!(EXTRA string=x)");
    check(r#""%d %z" "x" 1"#, "%!d(string=x) %!z(int=1)");
    check(r#""%[2]d %[1]d" 1 2"#, "2 1");
    check(r#""%*d|%-*d|%.*f" 4 1 4 2 1 2.55"#, "   1|2   |2.5");
    check(r#""%[3]d" 1"#, "%!d(BADINDEX)");
    check(r#""%*d" "x" 1"#, "%!(BADWIDTH)1");
    check(r#""100%%|%" 1"#, "100%|%!(NOVERB)%!(EXTRA int=1)");
    check(
        r#""%q %d %v" .params.list .params.list .params.obj"#,
        r#"["a" "b" map["k":'\x01']] [%!d(string=a) %!d(string=b) map[%!d(string=k):1]] map[a:1 key:value z:<nil>]"#,
    );
    // As `{{1234567.5}}` prints: integral floats print in full.
    check(
        r#""%g %g %g %G" 1234567.5 1234567.0 .params.float 1234567.5"#,
        "1.2345675e+06 1234567 1234567 1.2345675E+06",
    );
    // Within lists and maps null ignores the verb; on its own it does not.
    check(
        r#""%s|%5d|%q|%8v" .params.obj .params.obj .params.obj .params.nul"#,
        "map[a:%!s(int=1) key:value z:<nil>]|map[%!d(string=    a):    1 %!d(string=  key):%!d(string=value) %!d(string=    z):<nil>]|map[\"a\":'\\x01' \"key\":\"value\" \"z\":<nil>]|   <nil>",
    );
    // A mismatched value keeps the requested style.
    check(r#""%.2f|%-5d|%6t" "12.50" "x" 7"#, "%!f(string=12)|%!d(string=x    )|%!t(int=     7)");
    check(
        r#""%#v %#v" .params.list .params.title"#,
        r#"[]interface {}{"a", "b", map[string]interface {}{"k":1}} "Test""#,
    );
}

#[test]
fn for_each_is_part_of_the_root() {
    let root = data();
    let item = json!({"item": {"name": "openssl"}, "index": 0});
    let expand = |source: &str, for_each| {
        let scope = TemplateScope { base: root.as_object().unwrap(), for_each };
        TextTemplate::parse(source).unwrap().expand(&scope, false).unwrap().text
    };
    assert_eq!(expand("{{.forEach.item.name}}@{{$.forEach.index}} {{len .}}", Some(&item)), "openssl@0 3");
    assert_eq!(expand("{{.forEach.item}} {{len $}}", None), "<no value> 2");
    assert_eq!(expand("{{range $k, $v := .}}{{$k}} {{end}}", Some(&item)), "forEach params steps ");
    assert!(
        expand("{{json .}}", Some(&item))
            .starts_with(r#"{"forEach":{"index":0,"item":{"name":"openssl"}},"params""#)
    );
}

#[test]
fn errors_are_plain_and_hold_no_data() {
    let root = json!({"params": {"secret": "hunter2", "n": 5, "list": [1], "key": "hunter2"}});
    let told = [
        "{{.params.secret.x}}",
        "{{index .params.secret 99}}",
        "{{index .params.list 5}}",
        "{{index .params.list .params.secret}}",
        "{{index .params.n .params.secret}}",
        "{{index .params .params.n}}",
        "{{slice .params.secret 99}}",
        "{{slice .params.secret 3 1}}",
        "{{lt .params.secret 3}}",
        "{{eq .params.secret true}}",
        "{{eq .params.list .params.list}}",
        "{{lt .params.nope 3}}",
        "{{call .params.secret}}",
        "{{fromJson .params.secret}}",
        "{{fromJson .params.n}}",
        "{{quote .params.nope}}",
        "{{len .params.n}}",
        "{{len}}",
        "{{not 1 2}}",
        "{{range .params.secret}}{{end}}",
        "{{range 1.5}}{{end}}",
        "{{1 2}}",
        "{{(printf \"%2000d\" 1)}}",
        "{{template \"t\" .params}}{{define \"t\"}}{{.secret.x}}{{end}}",
    ]
    .map(|source| format!("{source}  {}", failure(source, &root, false)));
    let told = told.join("\n");
    assert!(!told.contains("hunter2"), "{told}");
    insta::assert_snapshot!(told);
}

#[test]
fn errors_show_the_source_on_one_visible_line() {
    let said = failure("{{len\n \"\u{19}\u{200b}\u{202e}x\" 3}}", &data(), false);
    assert!(said.starts_with("`len \"x\" 3`: "), "{said:?}");
}

#[test]
fn an_error_names_itself() {
    let error = expand("{{len 3}}", &data(), false).unwrap_err();
    assert_eq!(error, EvalError { message: "`len 3`: a number has no length".into(), hint: None });
}

#[test]
fn syntax_errors_have_position_and_reason() {
    let told = [
        "{{.steps.my-step.output}}",
        "x {{index .steps.a.my-step-2.b 1}}",
        "{{(index .a 0).my-key}}",
        "{{$x.a-b}}",
        "{{.my-step}}",
        "{{if .a}}x",
        "{{end}}",
        "{{else}}",
        "{{if .a}}{{else}}{{else}}{{end}}",
        "{{if .a}}{{else with .b}}{{end}}",
        "{{range .a}}{{else if .b}}{{end}}",
        "{{if}}x{{end}}",
        "{{}}",
        "{{.a | }}",
        "{{.a | 3}}",
        "{{| .a}}",
        "{{(.a}}",
        "{{.a)}}",
        "{{()}}",
        "{{nil}}",
        "{{lenn .a}}",
        "{{$x}}",
        "{{$x, $y := .a}}",
        "{{\"a}}",
        "{{'ab'}}",
        "{{\"\\q\"}}",
        "{{1x}}",
        "{{.a.}}",
        "{{..a}}",
        "{{.a!}}",
        "{{/* a }}",
        "{{/* a */ .b}}",
        "{{break}}",
        "{{range .a}}{{define \"x\"}}{{end}}{{end}}",
        "{{define \"x\"}}{{end}}{{define \"x\"}}{{end}}",
        "{{template \"x\"}}",
        "{{template x}}",
        "{{true.x}}",
        "{{\"a\"\"b\"}}",
    ]
    .map(|source| format!("{source}  {}", parse_error(source)));
    insta::assert_snapshot!(told.join("\n"));
}
