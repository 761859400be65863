//! Known results of Go that the file of real results lacks.

use serde_json::{Value, json};

use super::{TextTemplate, expand};

fn root() -> Value {
    json!({"params": {"title": "Test", "n": 3, "million": 1_000_000, "float": 1e6, "frac": 2.5, "nul": null, "zero": -0.0,
        "list": ["a", "b", {"k": 1}], "obj": {"key": "value", "a": 1}, "huge": 1e21, "max": u64::MAX, "min": i64::MIN,
        "mixed": [null, true, 1.5, [1, {"a": null}], "s"]}})
}

fn check(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        let given = expand(source, &root(), false).map(|given| given.text);
        assert_eq!(given.as_deref(), Ok(*expected), "{source}");
    }
}

/// Checks that these templates fail, at parsing or evaluation.
fn refused(sources: &[&str]) {
    for source in sources {
        let given = TextTemplate::parse(source).map(|_| expand(source, &root(), false));
        assert!(!matches!(given, Ok(Ok(_))), "{source} gives {given:?}");
    }
}

#[test]
fn texts_comments_and_trim_marks() {
    check(&[
        ("{{\"{{\"}}{{\"}}\"}}{{`}}`}}", "{{}}}}"),
        ("a\n{{- \"x\" -}}\n b", "axb"),
        ("a \t\r\n{{- 1}} {{2 -}} \t\r\n b", "a1 2b"),
        ("{{if true -}}\n a\n{{- else -}}\n b\n{{- end -}}\n c", "ac"),
        ("{{/* a\n }} b */}}x {{- /* c */ -}} y", "xy"),
        ("{{\n.params.title\n}}", "Test"),
        ("}} { } {", "}} { } {"),
        ("{{-3}} {{- 3}} {{- -3 -}} ", "-33-3"),
        ("{{define \"x\"}} y {{end}}{{template \"x\"}}", " y "),
        ("{{`a\\n\"b\"`}}", "a\\n\"b\""),
        (r#"{{"\u00e9\x41\101\t\\\""}}"#, "éAA\t\\\""),
        (r"{{'\u00e9'}} {{'\''}} {{'日'}}", "233 39 26085"),
    ]);
    refused(&[
        "{{ /* a */ }}",
        "{{/* a */ 1}}",
        "{{\"a\nb\"}}",
        "{{1+2}}",
        "{{1.2.3}}",
        "{{.params.list[0]}}",
        "{{.params.title()}}",
        "{{!true}}",
        "{{1 == 1}}",
        "{{'a}}",
        "{{3-}}",
        "{{$x}}",
        "{{end}}",
        "{{if true}}",
        "{{else}}",
    ]);
}

#[test]
fn numbers() {
    check(&[
        (
            "{{0x10}} {{0b11}} {{0o17}} {{017}} {{1_000}} {{.5}} {{1.5e3}} {{1e21}} {{1e-7}}",
            "16 3 15 15 1000 0.5 1500 1e+21 1e-07",
        ),
        (
            "{{.params.max}} {{.params.min}} {{.params.huge}} {{.params.zero}}",
            "18446744073709551615 -9223372036854775808 1e+21 -0",
        ),
        // Go has 1e+06 for both.
        (
            "{{.params.million}} {{.params.float}} {{1e6}} {{printf \"%v\" .params.float}}",
            "1000000 1000000 1000000 1000000",
        ),
        (
            "{{json .params.max}} {{json .params.huge}} {{json 1e-7}} {{json 0.000001}} {{json 1.0}} {{json 1e6}}",
            "18446744073709551615 1e+21 1e-7 0.000001 1 1000000",
        ),
        ("{{fromJson \"{\\\"a\\\": 1e2, \\\"b\\\": 1.50}\"}}", "map[a:100 b:1.5]"),
    ]);
}

#[test]
fn comparisons() {
    check(&[
        (
            "{{eq 1 2 3 1}} {{eq \"a\" \"b\"}} {{eq true true}} {{ne \"a\" \"b\"}} {{eq nil nil}} {{eq .params.obj nil}}",
            "true false true true true false",
        ),
        ("{{lt \"a\" \"b\"}} {{le 2 2}} {{ge 2 3}} {{gt 1.5 1.25}} {{lt -1 1}}", "true true false true true"),
        // Integers and floats compare, where Go reports errors.
        (
            "{{gt 10 9.5}} {{gt 10 10.0}} {{ge 10 10.0}} {{eq 3 3.0}} {{lt .params.min .params.max}}",
            "true false true true true",
        ),
        (
            "{{if .params.zero}}a{{else}}b{{end}}{{if .params.frac}}a{{end}}{{not \"\"}}{{not .params.list}}",
            "batruefalse",
        ),
        ("{{1 | eq 1}} {{.params.n | gt 4}}", "true true"),
    ]);
    refused(&[
        "{{eq 1 \"1\"}}",
        "{{eq true 1}}",
        "{{eq .params.list .params.list}}",
        "{{eq .params.obj .params.obj}}",
        "{{eq .params.list 1}}",
        "{{lt true false}}",
        "{{lt 1 \"2\"}}",
        "{{lt .params.nope 1}}",
        "{{gt .params.list 1}}",
        "{{eq 1}}",
        "{{eq}}",
        "{{lt 1}}",
        "{{lt 1 2 3}}",
        "{{ne 1 2 3}}",
        "{{not}}",
        "{{not 1 2}}",
    ]);
}

#[test]
fn and_and_or_stop_where_they_are_decided() {
    check(&[
        ("{{and 1 0 (index .params.list 99)}} {{or 0 \"x\" (fromJson \"{\")}}", "0 x"),
        ("{{and 1 2 \"\"}}|{{or 0 \"\" nil}}|{{and true .params.nope}}", "|<no value>|<no value>"),
        ("{{0 | and 1}} {{2 | or 0}} {{.params.n | and 0}}", "0 2 0"),
    ]);
    refused(&["{{and}}", "{{or}}", "{{and 1 (index .params.list 99)}}", "{{or 0 (fromJson \"{\")}}"]);
}

#[test]
fn indexes_and_slices() {
    check(&[
        (
            "{{index .params \"obj\" \"key\"}} {{index .params.list 2 \"k\"}} {{(index .params.list 2).k}}",
            "value 1 1",
        ),
        ("{{index .params.list (len \"a\")}} {{index .params.list (index (fromJson \"[0,1]\") 1)}}", "b b"),
        (
            "{{index \"abc\" 1}} {{index .params.obj \"nope\"}} {{index .params.list}}",
            "98 <no value> [a b map[k:1]]",
        ),
        (
            "{{slice \"abcdef\" 1 3}} {{slice \"abc\" 1}} {{slice \"abc\"}} {{slice .params.list 1}} {{slice .params.list 0 1 2}} {{slice \"abc\" 3}}|",
            "bc bc abc [b map[k:1]] [a] |",
        ),
        (
            "{{len \"日本\"}} {{len .params.obj}} {{len (slice .params.list 1)}} {{len .params.mixed}}",
            "6 2 2 5",
        ),
        (
            "{{index (fromJson \"{\\\"a\\\":{\\\"b\\\":[1,{\\\"c\\\":\\\"d\\\"}]}}\") \"a\" \"b\" 1 \"c\"}}",
            "d",
        ),
    ]);
    refused(&[
        "{{index .params.list 3}}",
        "{{index .params.list -1}}",
        "{{index .params.list 1.5}}",
        "{{index .params.list \"0\"}}",
        "{{index .params.list nil}}",
        "{{index .params.obj 1}}",
        "{{index .params.obj \"nope\" \"x\"}}",
        "{{index .params.nope 1}}",
        "{{index .params.nope}}",
        "{{index nil}}",
        "{{index 3 1}}",
        "{{slice \"abc\" 4}}",
        "{{slice \"abc\" 2 1}}",
        "{{slice \"abc\" 0 1 2}}",
        "{{slice .params.obj 1}}",
        "{{slice .params.nope}}",
        "{{len 3}}",
        "{{len nil}}",
        "{{len .params.nul}}",
    ]);
}

#[test]
fn control() {
    check(&[
        ("{{with .params.nope}}a{{else with .params.title}}{{.}}{{else}}c{{end}}", "Test"),
        ("{{with .params.obj}}{{.key}}{{with $.params.title}}{{.}}{{end}}{{.a}}{{end}}", "valueTest1"),
        ("{{with $x := 5}}{{$x}}{{.}}{{end}}", "55"),
        ("{{range $i, $x := .params.list}}{{$i}}{{$x}}{{end}}", "0a1b2map[k:1]"),
        ("{{range $i, $x := .params.list}}{{range $i}}{{$i}}{{else}}-{{end}}{{end}}", "-122"),
        ("{{range $x := .params.list}}{{$x}}{{else}}none{{end}}", "abmap[k:1]"),
        ("{{range .params.mixed}}<{{.}}>{{end}}", "<<no value>><true><1.5><[1 map[a:<nil>]]><s>"),
        (
            "{{range 0}}x{{else}}none{{end}}{{range .params.nul}}x{{else}}none{{end}}{{range $i := 3}}{{$i}}{{end}}",
            "nonenone012",
        ),
        ("{{range .params.list}}{{if eq (print .) \"b\"}}{{continue}}{{end}}{{.}}{{end}}", "amap[k:1]"),
        ("{{$x := \"a\"}}{{$y := $x}}{{$x = \"b\"}}{{$x}}{{$y}}", "ba"),
        ("{{$i := 0}}{{range $i = 3}}{{$i}}{{end}}{{$i}}", "0122"),
        ("{{template \"x\" 1}}{{define \"x\"}}{{.}}{{$}}{{end}}{{block \"b\" 5}}{{.}}{{end}}", "115"),
    ]);
    refused(&[
        "{{range true}}{{end}}",
        "{{range 1.5}}{{end}}",
        "{{break}}",
        "{{with 1}}{{else if 2}}{{end}}",
        "{{if 1}}{{else}}{{else}}{{end}}",
        "{{if true}}{{$x := 1}}{{end}}{{$x}}",
        "{{define \"x\"}}{{$x}}{{end}}{{$x := 1}}{{template \"x\"}}",
    ]);
}

#[test]
fn printing() {
    check(&[
        (
            "{{.params.mixed}} {{printf \"%v\" .params.mixed}} {{print .params.mixed}}",
            "[<nil> true 1.5 [1 map[a:<nil>]] s] [<nil> true 1.5 [1 map[a:<nil>]] s] [<nil> true 1.5 [1 map[a:<nil>]] s]",
        ),
        (
            "{{print nil}} {{print 1 2 \"a\" \"b\" 3 nil true}} {{println \"a\" 1}}|",
            "<nil> 1 2ab3 <nil> true a 1\n|",
        ),
        (
            "{{printf \"%v %v %t %s\" true nil false \"x\"}} {{printf \"%s %d\" 3 \"x\"}}",
            "true <nil> false x %!s(int=3) %!d(string=x)",
        ),
        (
            "{{printf \"%5.1f|%-6s|%06d|%x|%q|%c|%e\" 2.25 \"a\" 42 255 \"q\" 65 1500.0}}",
            "  2.2|a     |000042|ff|\"q\"|A|1.500000e+03",
        ),
        ("{{printf \"%d %.2f %v %s\" .params.n .params.n .params.frac .params.title}}", "3 3.00 2.5 Test"),
        (
            "{{printf \"%t\" 1}} {{printf \"%d\" .params.frac}} {{printf \"%\"}}",
            "%!t(int=1) %!d(float64=2.5) %!(NOVERB)",
        ),
        (
            "{{html \"<a href=\\\"x\\\">'&\"}} {{html 1 2}} {{html nil \"a\"}}",
            "&lt;a href=&#34;x&#34;&gt;&#39;&amp; 1 2 &lt;no value&gt;a",
        ),
        ("{{js \"it's <b> \\\"=&\\n\\u200b\"}}", r#"it\'s \u003Cb\u003E \"\u003D\u0026\u000A\u200B"#),
        (
            "{{urlquery \"a b&c=é/~\"}} {{urlquery \"a\" \"b\"}} {{urlquery .params.n}}",
            "a+b%26c%3D%C3%A9%2F~ ab 3",
        ),
        ("{{\"a\" | print \"b\"}} {{.params.title | printf \"%s-%s\" \"x\" | quote}}", "ba \"x-Test\""),
        (
            "{{json \"<a>&\\u2028\\x01\"}} {{quote \"a\\\"b\\né\\x00\"}}",
            r#""\u003ca\u003e\u0026\u2028\u0001" "a\"b\né\x00""#,
        ),
        (
            "{{json .params.mixed}} {{json nil}} {{json .params.nope}} {{json .params.obj}}",
            r#"[null,true,1.5,[1,{"a":null}],"s"] null null {"a":1,"key":"value"}"#,
        ),
    ]);
    refused(&[
        "{{printf}}",
        "{{printf 1}}",
        "{{quote 1}}",
        "{{quote nil}}",
        "{{fromJson 1}}",
        "{{fromJson \"1 2\"}}",
        "{{json}}",
        "{{json 1 2}}",
        "{{\"a\" \"b\"}}",
        "{{.params.title \"x\"}}",
    ]);
}
