use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{BYTES, DEPTH, YamlNode, YamlValue, parse};

fn read(text: &str) -> Json {
    let tree = parse(text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
    assert!(tree.problems.is_empty(), "{text}: {:?}", tree.problems);
    tree.root.to_json().unwrap()
}

fn refused(text: &str) -> String {
    match parse(text) {
        Err(problem) => problem.to_string(),
        Ok(tree) => crate::FileProblems(tree.problems).to_string(),
    }
}

#[test]
fn plain_scalars_follow_the_core_schema() {
    let check =
        |text: &str, expected: Json| assert_eq!(read(&format!("- {text}")), json!([expected]), "{text}");
    for null in ["", "~", "null", "Null", "NULL"] {
        check(null, Json::Null);
    }
    for (text, flag) in [("true", true), ("True", true), ("TRUE", true), ("false", false), ("FALSE", false)] {
        check(text, json!(flag));
    }
    for (text, number) in [
        ("0", json!(0)),
        ("-7", json!(-7)),
        ("+7", json!(7)),
        ("007", json!(7)),
        ("0x1F", json!(31)),
        ("0o17", json!(15)),
        ("18446744073709551615", json!(u64::MAX)),
        ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
        ("1.5", json!(1.5)),
        ("-.5", json!(-0.5)),
        ("1.", json!(1.0)),
        ("1e3", json!(1000.0)),
        ("1E-2", json!(0.01)),
    ] {
        check(text, number);
    }
    for text in [
        "yes",
        "on",
        "no",
        "1_000",
        "0b1",
        "0x",
        "0xg",
        "-0x1",
        "1e",
        ".",
        "e1",
        "+",
        "-.",
        "2026-11-21",
        "1:30",
        "tRue",
        "0xffffffffffffffffff",
        "nan",
    ] {
        check(text, json!(text));
    }
    check("'1'", json!("1"));
    check("\"true\"", json!("true"));
    check("!!str 1", json!("1"));
    check("!!int '1'", json!(1));
}

#[test]
fn numbers_beyond_json_are_rejected() {
    for text in [".inf", "-.Inf", "+.INF", ".nan", "1e999"] {
        let tree = parse(&format!("a: 1\nb: {text}\n")).unwrap();
        assert_eq!(tree.root.to_json(), Err((2, text.to_owned())), "{text}");
    }
}

#[test]
fn each_node_knows_its_line() {
    let tree = parse("# a\na: 1\nb:\n  - x\n  - c: |\n      one\n      two\n").unwrap();
    let lines = |node: &YamlNode| node.line;
    let b = tree.root.get("b").unwrap();
    let YamlValue::List(items) = &b.value else { panic!() };
    assert_eq!(lines(tree.root.get("a").unwrap()), 2);
    assert_eq!(items.iter().map(lines).collect::<Vec<_>>(), [4, 5]);
    let YamlValue::Map(entries) = &items[1].value else { panic!() };
    assert_eq!((entries[0].line, entries[0].key.as_str()), (5, "c"));
}

#[test]
fn aliases_and_merge_keys_are_expanded() {
    assert_eq!(read("a: &x {p: 1}\nb: *x\n"), json!({"a": {"p": 1}, "b": {"p": 1}}));
    assert_eq!(
        read("a: &x {p: 1, q: 1}\nb: {<<: *x, q: 2}\n"),
        json!({"a": {"p": 1, "q": 1}, "b": {"q": 2, "p": 1}})
    );
    assert_eq!(
        read("- &x {p: 1}\n- &y {p: 2, q: 2}\n- <<: [*x, *y]\n  r: 3\n"),
        json!([{"p": 1}, {"p": 2, "q": 2}, {"r": 3, "p": 1, "q": 2}])
    );
    assert_eq!(read("- &k key\n- {*k : 1}\n"), json!(["key", {"key": 1}]));
    assert_eq!(read("'<<': 1\n"), json!({"<<": 1}));
}

#[test]
fn invalid_files_are_rejected() {
    let check = |text: &str, expected: &str| assert_eq!(refused(text), expected, "{text}");
    check("", "line 1: the file is empty");
    check("# only a comment\n", "line 1: the file is empty");
    check("a: 1\nb: 2\na: 3\n", "line 3: `a` is defined twice (remove one of them)");
    check(
        "a: 1\n---\nb: 2\n",
        "line 2: the file contains several documents separated by `---`; only one is supported (split it into one file per document)",
    );
    check("a: &x [*x]\n", "line 1: an alias refers to a node that contains it");
    check("a: !secret b\n", "line 1: the tag `!secret` is not supported (remove it)");
    check("a: {<<: 1}\n", "line 1: `<<` must be an object or a list of objects");
    check(
        "a: {{.params.x}}\n",
        "line 1: a key must be a text, not a list or an object (quote a template: '{{…}}')",
    );
    for text in ["a: *x\n", "a: [1\n", "a: 'b\n", "a: b: c\n", "%YAML\n", "a:\n\tb: 1\n", "\u{0}"] {
        assert!(refused(text).starts_with("line "), "{text}: {}", refused(text));
    }
    assert!(refused(&"a".repeat(BYTES + 1)).contains("at most 1048576"));
}

#[test]
fn syntax_errors_have_hints() {
    let check = |text: &str, line: usize, hint: &str| {
        let said = refused(text);
        let fits = said.starts_with(&format!("line {line}: invalid YAML: ")) && said.ends_with(hint);
        assert!(fits, "{text}: {said}");
    };
    const TABS: &str = "(indent with spaces, not with tabs)";
    check("a:\n\tb: 1\n", 2, TABS);
    check("- id: find\n\ttool: x.y\n", 2, TABS);
    check("steps:\n  - id: find\n  tool: x.y\n", 3, "(align the line with its siblings)");
    check("a:\n  b: 1\n   c: 2\n", 3, "(align the line with its siblings)");
    check("a: 'it's'\n", 1, "(double a single quote within single quotes: 'it''s')");
    check("a: \"say \"no\"\"\n", 1, r#"(escape quotes and backslashes within double quotes: \" and \\)"#);
    check("a: \"\\d+\"\n", 1, r#"(escape quotes and backslashes within double quotes: \" and \\)"#);
    check("a: Note: this is it\n", 1, "(quote a text that contains a colon followed by a space)");
    check("a: *.txt\n", 1, "(quote a text that starts with this character)");
    check("a: {b: *c}\n", 1, "(quote a text that starts with this character)");
    check("a: @here\n", 1, "(quote a text that starts with this character)");
}

#[test]
fn small_files_do_not_expand_beyond_the_limits() {
    let deep = |open: &str, n: usize| open.repeat(n);
    for text in [deep("[", DEPTH + 1), deep("- ", DEPTH + 1), deep("{a: ", DEPTH + 1), deep("[", BYTES)] {
        let said = refused(&text);
        assert!(said.contains("nested more than 64 deep") || said.contains("limit"), "{said}");
    }
    let ten = |name: &str| vec![format!("*{name}"); 10].join(", ");
    let mut laughs = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (name, before) in ["b", "c", "d", "e", "f", "g", "h"].iter().zip(["a", "b", "c", "d", "e", "f", "g"])
    {
        laughs += &format!("{name}: &{name} [{}]\n", ten(before));
    }
    assert!(refused(&laughs).contains("more than 100000 values"), "{}", refused(&laughs));
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(500_000), ten("a"));
    assert!(refused(&long).contains("texts of the file exceed"), "{}", refused(&long));
    let anchors: String = (0..60).map(|n| format!("&a{n} [")).collect();
    let nested = format!("{anchors}{}{}", "x,".repeat(20_000), "]".repeat(60));
    assert!(refused(&nested).contains("more than 100000 values"), "{}", refused(&nested));
    let merges = format!("- &m {{{}}}\n- [{}]\n", "a: 1", vec!["{<<: *m}"; 60_000].join(", "));
    assert!(refused(&merges).contains("more than 100000 values"), "{}", refused(&merges));
}

proptest! {
    #[test]
    fn no_text_panics(text in "[-a\\[\\]{}:,?&*!|>'\"%@`#<~ \n\t.0-9\u{e9}\u{0}]{0,200}") {
        if let Ok(tree) = parse(&text) {
            let _ = tree.root.to_json();
        }
    }

    #[test]
    fn json_is_valid_yaml(value in json_value()) {
        prop_assert_eq!(read(&value.to_string()), value);
    }
}

fn json_value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        "[ -~\u{e9}]{0,12}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from);
        let map = prop::collection::btree_map("[a-z]{1,6}", inner, 0..4);
        prop_oneof![list, map.prop_map(|map| Json::Object(map.into_iter().collect()))]
    })
}

/// The hints of `syntax.rs` depend on words in saphyr's messages. A new release that rewords them fails here.
#[test]
fn saphyr_words_its_errors_as_the_hints_expect() {
    let check = |text: &str, message: &str, hint: &str| {
        let parsed: Result<Vec<_>, _> = saphyr_parser::Parser::new_from_str(text).collect();
        assert_eq!(parsed.unwrap_err().info(), message, "{text}");
        let refused = refused(text);
        assert!(refused.ends_with(&format!("invalid YAML: {message} ({hint})")), "{text}: {refused}");
    };
    let quote = "quote a text that starts with this character";
    let align = "align the line with its siblings";
    // No line has a key or a telling first character, so only the message leads to the hint.
    check("- [b, *c]\n", "while parsing node, found unknown anchor", quote);
    check(
        "- - a\n b\n - c\n",
        "while parsing a block collection, did not find expected '-' indicator",
        align,
    );
    check("- [a,\nb]\n", "invalid indentation in flow construct", align);
}
