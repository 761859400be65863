//! Hostile input gets a call or a failure that is short, on one line, and printable.

use std::sync::Arc;

use loggia_facade::{Detail, Failure, code};
use serde_json::{Map, Value, json};

use crate::{
    contract::{build::Contract, routed::CallTarget},
    model::{action_policy::ActionPolicy, view::ToolView},
    tests::fixture,
};

/// A reproducible generator of hostile JSON.
struct Hostile(u64);

impl Hostile {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn text(&mut self) -> String {
        const TEXTS: [&str; 28] = [
            "",
            " ",
            "\0",
            "a\0b",
            "\n\r\t",
            "\u{1b}[31mred",
            "\u{202e}evil",
            "\u{200b}",
            "\u{feff}",
            "\u{e0041}",
            "__proto__",
            "constructor",
            "toString",
            "аdd",
            "ｌist",
            "ADD",
            "describe",
            "batch",
            "run_status",
            "n_1",
            "{\"a\": 1}",
            "[1, [2, [3]]]",
            "{\"params\": {\"params\": {}}}",
            "1e400",
            "-0",
            "NaN",
            "true",
            "`; drop\u{2028}table`",
        ];
        match self.below(60) {
            0 => "x".repeat(1 << 20),
            1 => "[".repeat(100_000),
            2 => format!("{}1{}", "[".repeat(100), "]".repeat(100)),
            3 => "\u{1f600}\n".repeat(5000),
            n => TEXTS[n % TEXTS.len()].to_owned(),
        }
    }

    fn name(&mut self) -> String {
        const NAMES: [&str; 22] = [
            "action", "cmd", "params", "detail", "wait", "confirm", "of", "run_id", "items", "mode", "text",
            "query", "limit", "id", "tags", "token", "keys", "window", "rows", "Params", "ACTION", "depth",
        ];
        match self.below(4) {
            0 => self.text(),
            _ => NAMES[self.below(NAMES.len())].to_owned(),
        }
    }

    fn number(&mut self) -> Value {
        let numbers = [
            json!(0),
            json!(-1),
            json!(-0.0),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(f64::MAX),
            json!(f64::MIN_POSITIVE),
            json!(5e-324),
            json!(1e17),
            json!(0.1),
        ];
        numbers[self.below(numbers.len())].clone()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 5 } else { 9 }) {
            0 => Value::Null,
            1 => self.below(2).eq(&0).into(),
            2 => self.number(),
            3 | 4 => self.text().into(),
            5 => self.deep(),
            6 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => Value::Object(self.object(depth - 1)),
        }
    }

    fn object(&mut self, depth: usize) -> Map<String, Value> {
        (0..self.below(5)).map(|_| (self.name(), self.value(depth))).collect()
    }

    /// Nested arrays or objects, around and beyond the limit.
    fn deep(&mut self) -> Value {
        let levels = [10, 60, 62, 63, 64, 65, 66, 110][self.below(8)];
        let list = self.below(2) == 0;
        (0..levels).fold(json!("core"), |inner, _| if list { json!([inner]) } else { json!({"a": inner}) })
    }

    fn arguments(&mut self) -> Map<String, Value> {
        let mut out = self.object(2);
        if self.below(4) > 0 {
            let action =
                ["add", "search", "list", "get", "delete", "set", "go", "describe", "batch", "run_status"];
            out.insert("action".into(), action[self.below(action.len())].into());
        }
        if self.below(3) == 0 {
            out.insert("params".into(), self.object(3).into());
        }
        out
    }
}

fn contracts() -> Vec<Contract> {
    let secret = json!({"type": "object", "writeOnly": true, "additionalProperties": {"type": "integer"}});
    let long = "a word of a hundred and more bytes that says very little but does so at great length, as words of plugins may";
    let words: Vec<String> = (0..200).map(|n| format!("{long} {n}")).collect();
    let properties: Map<String, Value> = (0..60)
        .map(|n| (format!("{}{n}", "parameter_with_a_long_name_".repeat(2)), json!({"enum": words[..100], "x-hint": long.repeat(9)})))
        .chain([
            ("token".to_owned(), secret),
            ("text".to_owned(), json!({"not": {"anyOf": [{"pattern": "^a"}, {"const": 1}]}, "type": ["string", "array"]})),
            ("items".to_owned(), json!({"oneOf": [{"type": "array", "uniqueItems": true}, {"type": "object", "propertyNames": {"maxLength": 3}}]})),
            ("limit".to_owned(), json!({"multipleOf": 0.01, "if": {"minimum": 5}, "then": {"maximum": 9}, "else": false})),
        ])
        .collect();
    let nasty = json!({"type": "object", "properties": properties, "minProperties": 1, "dependentRequired": {"id": ["token"]},
        "patternProperties": {"^x": {"type": "boolean"}}});
    let nasty = Arc::new(fixture::surface(
        "nasty",
        vec![
            fixture::action("go", nasty),
            fixture::action("add", json!({"type": "object", "additionalProperties": true})),
        ],
    ));
    let mut runs = fixture::notes();
    runs.actions[1].long_running = true;
    let all = ActionPolicy {
        batch: true,
        deny: vec!["delete".into()],
        confirm: vec!["add".into()],
        ..ActionPolicy::default()
    };
    [
        (Arc::new(fixture::notes()), ActionPolicy::default()),
        (Arc::new(runs), all),
        (Arc::new(fixture::settings()), ActionPolicy { batch: true, ..ActionPolicy::default() }),
        (nasty, ActionPolicy::default()),
    ]
    .into_iter()
    .map(|(surface, terms)| Contract::from_checked(surface).unwrap().with_policy(terms).unwrap())
    .collect()
}

/// Checks that a failure is readable by a model, a person and a terminal.
fn check(failure: &Failure, sent: &str) {
    let Failure { code, message, hint, expected, example, .. } = failure;
    assert!([code::INVALID_PARAMS, code::DENIED].contains(&code.as_str()), "{code} of {sent}: {message}");
    assert!(!message.is_empty(), "{sent}");
    let example = example.as_ref().map(ToString::to_string);
    let texts = [Some(message), hint.as_ref(), expected.as_ref(), example.as_ref()];
    for text in texts.into_iter().flatten() {
        assert!(
            loggia_text::is_clean(text) && !text.contains(['\n', '\r', '\t', '\u{2028}', '\u{85}']),
            "{text:?} of {sent}"
        );
    }
    let bytes: usize = texts.into_iter().flatten().map(String::len).sum();
    assert!(bytes < 4096, "{bytes} bytes of {sent}: {failure:?}");
}

/// Sends arguments through everything that reads input. Returns whether they were accepted.
fn answer(contract: &Contract, arguments: Map<String, Value>) -> bool {
    let sent = crate::text::show::json(&Value::Object(arguments.clone()), 400);
    let view = ToolView::all_actions();
    let routed = match contract.route(arguments, &view) {
        Ok(routed) => routed,
        Err(refused) => {
            let name = refused.command.name.unwrap_or_default();
            assert!(
                loggia_text::is_clean(&name) && !name.contains('\n') && name.chars().count() <= 80,
                "{name:?}"
            );
            check(&refused.failure, &sent);
            return false;
        }
    };
    let outcome = match routed.target {
        CallTarget::Action { action, params } => {
            let action = &contract.surface().actions[action];
            contract.prepare(action, params).map(|prepared| {
                let all = contract.resolved_inputs(action, &prepared.params);
                assert!(serde_json::to_string(&all).unwrap().len() < 256 * 1024);
            })
        }
        CallTarget::Describe(request) => contract.describe_page(&request, routed.detail, &view).map(drop),
        _ => Ok(()),
    };
    outcome.as_ref().map_err(|failure| check(failure, &sent)).is_ok()
}

/// H43.
#[test]
fn hostile_input_gets_short_printable_failures() {
    let mut hostile = Hostile(7);
    let contracts = contracts();
    let mut accepted = 0;
    let mut refused = 0;
    for round in 0..3000 {
        let contract = &contracts[round % contracts.len()];
        match answer(contract, hostile.arguments()) {
            true => accepted += 1,
            false => refused += 1,
        }
        let of = hostile.text();
        if let Err(failure) = contract.describe(Some(&of), Detail::Full, &ToolView::all_actions()) {
            check(&failure, &of);
        }
    }
    assert!(accepted > 100 && refused > 1000, "{accepted} accepted, {refused} refused");
}

/// H43.
#[test]
fn parser_limits_are_handled() {
    let contracts = contracts();
    for text in [
        r#"{"action": "search", "query": "x", "limit": 1e308}"#,
        r#"{"action": "search", "query": "x", "limit": 123456789012345678901234567890}"#,
        r#"{"action": "search", "query": "x", "query": "y", "action": "list"}"#,
        r#"{"action": "search", "action": "search", "params": {"query": "x"}, "params": {}}"#,
        r#"{"__proto__": {"action": "add"}, "constructor": 1}"#,
        r#"{"action": "add", "params": [["text", "x"]]}"#,
        r#"{"action": "add", "params": {"text": "a\u0000b"}}"#,
        r#"{"": {"": {"": ""}}}"#,
        r#"{"action": "", "": ""}"#,
        r#"{"action": "\ud83d\ude00"}"#,
        r#"{"action": "describe", "of": ""}"#,
        r#"{"action": "batch", "items": [{"action": "batch", "items": []}]}"#,
        r#"{"cmd": {}, "action": []}"#,
    ] {
        for contract in &contracts {
            answer(contract, serde_json::from_str(text).unwrap());
        }
    }
    // The parser refuses what does not fit.
    assert!(serde_json::from_str::<Value>(r#"{"limit": 1e400}"#).is_err());
}

/// H43.
#[test]
fn nesting_is_accepted_up_to_the_limit() {
    let contract = Contract::new(Arc::new(fixture::one(json!({"p": true}), json!([])))).unwrap();
    let deep = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!([inner]));
    let send = |levels| {
        let sent = json!({"action": "go", "p": deep(levels)}).as_object().unwrap().clone();
        let CallTarget::Action { params, .. } =
            contract.route(sent, &ToolView::all_actions()).unwrap().target
        else {
            panic!()
        };
        contract.prepare(contract.action("go").unwrap(), params)
    };
    // The object of parameters counts as a level.
    assert!(send(63).is_ok());
    for levels in [64, 65, 100, 1000] {
        let failure = send(levels).unwrap_err();
        assert_eq!(failure.message, "the parameters nest deeper than 64 levels", "{levels}");
        assert_eq!(failure.expected.as_deref(), Some("go(p?: any)"));
        assert!(failure.hint.is_some());
    }
}
