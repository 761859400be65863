//! Properties that hold for every schema and every value, tried with reproducible random ones.

use std::sync::Arc;

use loggia_facade::Effect;
use serde_json::{Map, Value, json};

use crate::{
    contract::{build::Contract, rules::compile},
    model::{action_policy::ActionPolicy, keywords, resolve::resolve, shape::ValueShape, view::ToolView},
    publish::{
        expose::{ExposeOptions, SchemaForm},
        lint::tests::accepted,
    },
    tests::{fixture, published::is_complete},
};

/// Xorshift: reproducible on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    fn list<T>(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| make(self)).collect()
    }

    fn name(&mut self) -> String {
        self.one(&["a", "b", "kind", "long name", "x/y~z", "__proto__"]).to_owned()
    }

    fn constant(&mut self) -> Value {
        self.one(&[
            json!(null),
            json!(true),
            json!(0),
            json!(1),
            json!(5.0),
            json!(-2.5),
            json!(""),
            json!("a"),
            json!("A"),
            json!("5"),
            json!("true"),
            json!("[1]"),
            json!("{\"a\": 1}"),
            json!("2026-01-31"),
            json!("ünï"),
        ])
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 6 } else { 10 }) {
            0..6 => self.constant(),
            6 | 7 => Value::Array(self.list(3, |r| r.value(depth - 1))),
            _ => self.list(3, |r| (r.name(), r.value(depth - 1))).into_iter().collect::<Map<_, _>>().into(),
        }
    }

    fn schema(&mut self, depth: usize) -> Value {
        if self.below(20) == 0 {
            return json!(true);
        }
        let mut out = Map::new();
        for _ in 0..=self.below(3) {
            let (key, value) = self.keyword(depth);
            out.insert(key.to_owned(), value);
        }
        // A shape treats an object without `additionalProperties` as closed.
        if out.contains_key("properties") && !out.contains_key("additionalProperties") {
            out.insert("additionalProperties".to_owned(), json!(false));
        }
        // Otherwise `properties` would not constrain a string, but be published as an object.
        for (keyword, kind) in [("properties", "object"), ("items", "array"), ("prefixItems", "array")] {
            if out.contains_key(keyword) && !out.contains_key("type") {
                out.insert("type".to_owned(), kind.into());
            }
        }
        Value::Object(out)
    }

    fn keyword(&mut self, depth: usize) -> (&'static str, Value) {
        let kinds = ["string", "integer", "number", "boolean", "null", "array", "object"];
        let inner = depth.saturating_sub(1);
        match self.below(if depth == 0 { 12 } else { 26 }) {
            0..3 => ("type", self.one(&kinds).into()),
            3 => {
                let mut two = vec![self.one(&kinds), self.one(&kinds)];
                two.dedup();
                ("type", two.into())
            }
            4 => {
                let mut values = vec![self.constant()];
                values.extend(self.list(3, Self::constant).into_iter().filter(|v| !v.is_null()));
                values.sort_by_key(Value::to_string);
                values.dedup();
                ("enum", values.into())
            }
            5 => ("const", self.constant()),
            6 => (
                self.one(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]),
                self.one(&[0, 1, 5]).into(),
            ),
            7 => (
                self.one(&["minLength", "maxLength", "minItems", "maxItems", "minProperties"]),
                self.one(&[0, 1, 2]).into(),
            ),
            8 => (self.one(&["pattern", "format"]), self.one(&["date", "^a"]).into()),
            9 => ("description", "Some text.".into()),
            10 => ("writeOnly", true.into()),
            11 => ("$ref", self.one(&["#/$defs/One", "#/$defs/Two"]).into()),
            12..16 => {
                let members: Map<_, _> = self.list(3, |r| (r.name(), r.schema(inner))).into_iter().collect();
                ("properties", members.into())
            }
            16 => ("required", json!([self.name()])),
            17 => ("items", self.schema(inner)),
            18 => {
                ("additionalProperties", self.one(&[json!(false), json!(true), json!({"type": "integer"})]))
            }
            19 => ("prefixItems", json!([self.schema(inner)])),
            20 => ("not", self.schema(inner)),
            21 => ("uniqueItems", true.into()),
            22 => ("allOf", json!([self.schema(inner)])),
            23 => ("anyOf", json!([self.schema(inner), {"type": "null"}])),
            24 => ("anyOf", json!([self.schema(inner), self.schema(inner)])),
            _ => ("oneOf", json!([self.schema(inner), self.schema(inner)])),
        }
    }

    fn params(&mut self) -> Value {
        json!({"type": "object", "properties": {"p": self.schema(3), "q": self.schema(1)},
            "$defs": {"One": {"type": "string", "enum": ["a", "Bc"]}, "Two": {"type": "object", "properties":
                {"a": {"$ref": "#/$defs/One"}, "b": {"type": ["integer", "null"], "default": 5}}}}})
    }
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(members) => members.values().any(holds_null),
        _ => false,
    }
}

#[test]
fn resolved_schemas_accept_the_same_values() {
    let mut random = Random(1);
    let mut accepted = 0;
    for _ in 0..1500 {
        let params = random.params();
        let Ok(resolved) = resolve(params.as_object().unwrap()) else { continue };
        let (Ok(theirs), Ok(ours)) = (compile(&params), compile(&resolved)) else {
            assert_eq!(compile(&params).is_ok(), compile(&resolved).is_ok(), "{params}\n{resolved}");
            continue;
        };
        for _ in 0..20 {
            let value = json!({"p": random.value(3)});
            assert_eq!(theirs.is_valid(&value), ours.is_valid(&value), "{value} by\n{params}\n{resolved}");
            accepted += usize::from(ours.is_valid(&value));
        }
    }
    assert!(accepted > 3000, "{accepted}: the generator makes too little that is valid");
}

#[test]
fn published_schemas_are_never_stricter_than_validation() {
    let mut random = Random(2);
    let mut accepted = 0;
    for _ in 0..1500 {
        let params = random.params();
        let Ok(resolved) = resolve(params.as_object().unwrap()) else { continue };
        let Ok(strict) = compile(&resolved) else { continue };
        let published = compile(&Value::Object(ValueShape::from_schema(&resolved).to_json())).unwrap();
        for _ in 0..20 {
            let value = json!({"p": random.value(3)});
            // Published properties omit null.
            if strict.is_valid(&value) && !holds_null(&value) {
                assert!(published.is_valid(&value), "{value} by\n{resolved}");
                accepted += 1;
            }
        }
    }
    assert!(accepted > 2000, "{accepted}: the generator makes too little that is valid");
}

#[test]
fn prepared_parameters_are_valid_and_stable() {
    let mut random = Random(3);
    let mut outcomes = [0, 0];
    for _ in 0..1500 {
        let params = random.params();
        let surface = fixture::surface("any", vec![fixture::action("go", params.clone())]);
        let Ok(contract) = Contract::new(Arc::new(surface)) else { continue };
        let action = &contract.surface().actions[0];
        for _ in 0..20 {
            let mut sent = json!({"p": random.value(3)}).as_object().unwrap().clone();
            if random.below(3) == 0 {
                sent.insert(random.name(), random.value(1));
            }
            match contract.prepare(action, sent.clone()) {
                Ok(prepared) => {
                    let again = contract.prepare(action, prepared.params.clone()).unwrap();
                    assert_eq!(again.params, prepared.params, "{sent:?} by {params}");
                    assert!(again.resolved.is_empty(), "{:?} of {sent:?} by {params}", again.resolved);
                    outcomes[0] += 1;
                }
                Err(failure) => {
                    assert!(
                        !failure.message.is_empty() && failure.message.chars().count() < 2500,
                        "{failure}"
                    );
                    outcomes[1] += 1;
                }
            }
        }
    }
    assert!(outcomes.iter().all(|count| *count > 1500), "{outcomes:?}");
}

#[test]
fn arbitrary_schemas_and_arguments_get_an_answer() {
    let mut random = Random(4);
    for _ in 0..3000 {
        let mut params = random.value(3);
        if let (Value::Object(params), 0) = (&mut params, random.below(2)) {
            // Keywords of the wrong type.
            let key = random.one(&[
                "type",
                "properties",
                "required",
                "items",
                "anyOf",
                "$ref",
                "enum",
                "allOf",
                "default",
            ]);
            let value = random.value(2);
            params.insert(key.to_owned(), value);
            params.insert("type".to_owned(), json!("object"));
        }
        let Value::Object(params) = params else { continue };
        let surface = fixture::surface(
            "any",
            vec![fixture::action("go", json!({})), fixture::action("run", Value::Object(params))],
        );
        let _ = Contract::from_checked(Arc::new(surface.clone()));
        let _ = Contract::new(Arc::new(surface));
    }
    let contract = Contract::new(Arc::new(fixture::notes())).unwrap();
    for _ in 0..3000 {
        let mut arguments = Map::new();
        for key in random
            .list(4, |r| r.one(&["action", "cmd", "params", "detail", "wait", "of", "text", "id", "limit"]))
        {
            let value = if random.below(3) == 0 {
                json!(random.one(&["add", "list", "describe"]))
            } else {
                random.value(2)
            };
            arguments.insert(key.to_owned(), value);
        }
        match contract.route(arguments, &ToolView::all_actions()) {
            Ok(crate::contract::routed::RoutedCall {
                target: crate::contract::routed::CallTarget::Action { action, params },
                ..
            }) => {
                let _ = contract.prepare(&contract.surface().actions[action], params);
            }
            Ok(crate::contract::routed::RoutedCall {
                target: crate::contract::routed::CallTarget::Describe(request),
                detail,
                ..
            }) => {
                let _ = contract.describe_page(&request, detail, &ToolView::all_actions());
            }
            Ok(_) => {}
            Err(refused) => assert!(!refused.failure.message.is_empty()),
        }
    }
}

#[test]
fn resolved_schemas_have_no_references() {
    let mut random = Random(5);
    for _ in 0..500 {
        if let Ok(resolved) = resolve(random.params().as_object().unwrap()) {
            fn refers(schema: &Value) -> bool {
                schema
                    .as_object()
                    .is_some_and(|s| s.contains_key("$ref") || keywords::children(s).any(refers))
            }
            assert!(!refers(&resolved), "{resolved}");
        }
    }
}

#[test]
fn every_client_reads_all_of_published_schemas() {
    let mut random = Random(6);
    let mut published = 0;
    for _ in 0..1000 {
        let actions = (0..=random.below(3)).map(|index| {
            let mut action = fixture::action(&format!("a{index}"), random.params());
            action.effect = random.one(&[Effect::Read, Effect::Write, Effect::Destructive]);
            (action.details, action.long_running) = (random.below(2) == 0, random.below(2) == 0);
            action
        });
        let surface = fixture::surface("any", actions.collect());
        // Every callable contract can be published, even if its surface exceeds the bounds.
        let Ok(contract) = Contract::from_checked(Arc::new(surface)) else { continue };
        let terms = ActionPolicy {
            confirm: vec!["a0".into()],
            batch: random.below(2) == 0,
            ..ActionPolicy::default()
        };
        let contract = contract.with_policy(terms).unwrap();
        accepted(&contract);
        is_complete(&contract);
        published += 1;
    }
    assert!(published > 300, "{published}: the generator makes too little that can be read");
}

#[test]
fn valid_values_are_valid_in_every_form() {
    let mut random = Random(7);
    let mut accepted = 0;
    for _ in 0..300 {
        let actions = (0..=random.below(2)).map(|index| {
            let mut params = random.params();
            // Objects without `additionalProperties` count as closed.
            params["$defs"]["Two"]["additionalProperties"] = json!(false);
            fixture::action(&format!("a{index}"), params)
        });
        let surface = fixture::surface("any", actions.collect());
        let Ok(contract) = Contract::from_checked(Arc::new(surface)) else { continue };
        let Ok(strict) = contract.rules_at(0).compiled().map(|compiled| &compiled.validator) else {
            continue;
        };
        let schemas = [
            SchemaForm::Flat,
            SchemaForm::Signatures,
            SchemaForm::Names,
            SchemaForm::Union,
            SchemaForm::Granular,
        ]
        .map(|form| {
            let tools = contract.publish(&ExposeOptions { form, ..ExposeOptions::default() });
            (form, compile(&Value::Object((*tools[0].input_schema).clone())).unwrap())
        });
        for _ in 0..20 {
            let params = json!({"p": random.value(3)});
            if !strict.is_valid(&params) || holds_null(&params) {
                continue;
            }
            accepted += 1;
            let mut flat = params.clone();
            flat["action"] = "a0".into();
            let nested = json!({"action": "a0", "params": params});
            for (form, schema) in &schemas {
                let call = match form {
                    SchemaForm::Flat => &flat,
                    SchemaForm::Granular => &params,
                    _ => &nested,
                };
                assert!(schema.is_valid(call), "{call} as {} by {:?}", form.as_str(), contract.surface());
            }
        }
    }
    assert!(accepted > 200, "{accepted}: the generator makes too little that is valid");
}
