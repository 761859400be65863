//! Calls of every operation, answered by a mock.

use std::sync::Arc;

use loggia_api::{
    ApiDescription, ApiFacade, ApiOperation, ApiParameter, BodyForm, CursorKey, ParameterPlace,
    ParameterStyle, adapt_api, api_grants,
};
use loggia_egress::{EgressClient, EgressGrants, EgressLimits, HttpRule, RuleDestination};
use loggia_facade::{Action, Facade, Object, Stop, code};
use serde_json::{Value, json};

use crate::{documents, mock, samples, session::call};

/// A facade of a description whose server is on loopback.
fn facade(description: &Arc<ApiDescription>, granted: &str) -> Arc<ApiFacade> {
    let to = RuleDestination::parse(granted).expect("a destination");
    let policy =
        EgressGrants { rules: vec![HttpRule { to, methods: None, reads: Vec::new() }], secrets: Vec::new() };
    let grants = api_grants(description, &policy).expect("grants");
    let client = EgressClient::new(grants, EgressLimits::default());
    Arc::new(ApiFacade::new(adapt_api(description.clone()), client, CursorKey::new([7; 32]), 1 << 20))
}

/// The value that a call gives to a parameter of the operation, whatever its name in the action.
fn given<'a>(params: &'a Object, action: &Action, name: &str, place: &str) -> Option<&'a Value> {
    let renamed = format!("(`{name}` of the {place})");
    let own = |params: &'a Object, schema: &Value| {
        let properties = schema.get("properties")?.as_object()?;
        let (key, _) = properties
            .iter()
            .find(|(_, schema)| schema["description"].as_str().is_some_and(|text| text.ends_with(&renamed)))
            .or_else(|| {
                let is_renamed = |schema: &Value| {
                    let text = schema["description"].as_str().and_then(|text| text.strip_suffix(')'));
                    let end = text.and_then(|text| text.rsplit_once("(`")?.1.split_once("` of the "));
                    end.is_some_and(|(_, place)| {
                        ["path", "query", "header", "cookie", "body"].contains(&place)
                    })
                };
                properties.get_key_value(name).filter(|(_, schema)| !is_renamed(schema))
            })?;
        params.get(key)
    };
    let schema = Value::Object((*action.params).clone());
    own(params, &schema)
        .or_else(|| own(params.get("arguments")?.as_object()?, &schema["properties"]["arguments"]))
}

fn scalar(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The pairs that a value should be sent as.
fn pairs(name: &str, value: &Value, style: ParameterStyle, explode: bool) -> Vec<(String, String)> {
    let one = |text: String| vec![(name.to_owned(), text)];
    match (value, style) {
        (Value::Null, _) => vec![],
        (value, ParameterStyle::Json) => one(value.to_string()),
        (Value::Object(members), ParameterStyle::DeepObject) => members
            .iter()
            .flat_map(|(key, value)| pairs(&format!("{name}[{key}]"), value, style, true))
            .collect(),
        (Value::Array(items), ParameterStyle::DeepObject) => items
            .iter()
            .enumerate()
            .flat_map(|(index, value)| pairs(&format!("{name}[{index}]"), value, style, true))
            .collect(),
        (Value::Array(items), _) if explode => {
            items.iter().map(|item| (name.to_owned(), scalar(item))).collect()
        }
        (Value::Object(members), _) if explode => {
            members.iter().map(|(key, value)| (key.clone(), scalar(value))).collect()
        }
        (Value::Array(items), _) => one(items.iter().map(scalar).collect::<Vec<_>>().join(",")),
        (value, _) => one(scalar(value)),
    }
}

/// What the server should understand of a call.
fn expected(operation: &ApiOperation, action: &Action, params: &Object) -> (Value, Vec<(String, String)>) {
    let of =
        |place: ParameterPlace| {
            operation.parameters.iter().filter(move |p| p.place == place).filter_map(
                move |p: &ApiParameter| Some((p, given(params, action, &p.name, place.as_str())?)),
            )
        };
    let path: Object = of(ParameterPlace::Path)
        .map(|(p, value)| (p.name.clone(), scalar(value).trim_matches('/').into()))
        .collect();
    let query =
        of(ParameterPlace::Query).flat_map(|(p, value)| pairs(&p.name, value, p.style, p.explode)).collect();
    (Value::Object(path), query)
}

/// The body that a call should send.
fn expected_body(operation: &ApiOperation, action: &Action, params: &Object) -> Option<Value> {
    let body = operation.body.as_ref()?;
    let whole = action.params["properties"].get("body").is_some_and(|schema| {
        body.schema["properties"].get("body").is_none() && schema["type"] == body.schema["type"]
    });
    if whole {
        return Some(params.get("body").cloned().unwrap_or(Value::Null));
    }
    let mut members = Object::new();
    for name in body.schema["properties"].as_object()?.keys() {
        if let Some(value) = given(params, action, name, "body") {
            members.insert(name.clone(), value.clone());
        }
    }
    Some(if members.is_empty() && !body.required { Value::Null } else { Value::Object(members) })
}

async fn check(name: &str) {
    let (listener, address) = mock::listen().await;
    let server = format!("http://{address}");
    let (description, _) = documents::imported(name, Some(format!("{server}/base")));
    let description = Arc::new(description);
    tokio::spawn(mock::serve(listener, description.clone()));
    let facade = facade(&description, &server);
    let (mut called, mut twins) = (0, 0);
    for action in &facade.surface().actions {
        let operation = &facade.api().routes[&action.name].operation;
        for is_full in [false, true] {
            let params = samples::params(action, is_full);
            let reply = facade.clone().dispatch(call(&action.name, params.clone())).await;
            let seen =
                reply.unwrap_or_else(|stop| panic!("{} {params:?}: {stop:?}", action.name)).data.into_value();
            let (path, query) = expected(operation, action, &params);
            let subject = format!("{} {} {params:?}", operation.method, operation.path);
            if seen.is_null() {
                // A response to HEAD has no body.
                continue;
            }
            // Two operations may have the same form of path.
            if seen["action"] != *action.name {
                assert!(seen["action"].is_string(), "{subject}: {seen}");
                twins += 1;
                continue;
            }
            assert_eq!(seen["path"], path, "{subject}");
            assert_eq!(seen["query"], json!(query), "{subject}");
            assert_eq!(seen["accept"], operation.accept, "{subject}");
            match (&operation.body, expected_body(operation, action, &params)) {
                (Some(body), Some(value)) if body.form == BodyForm::Json => {
                    assert_eq!(seen["body"], value, "{subject}")
                }
                (Some(body), Some(Value::Object(members))) if body.form == BodyForm::Form => {
                    let nested = |value: &Value| {
                        value.is_object()
                            || value
                                .as_array()
                                .is_some_and(|items| items.iter().any(|i| i.is_object() || i.is_array()))
                    };
                    let pairs: Vec<_> = members
                        .iter()
                        .flat_map(|(name, value)| {
                            let style = body.styles.get(name).copied();
                            let style = style.unwrap_or(if nested(value) {
                                ParameterStyle::DeepObject
                            } else {
                                ParameterStyle::Form
                            });
                            pairs(name, value, style, true)
                        })
                        .collect();
                    for (seen, pair) in seen["body"].as_array().expect("pairs").iter().zip(&pairs) {
                        assert_eq!(*seen, json!(pair), "{subject}");
                    }
                    assert_eq!(seen["body"].as_array().map(Vec::len), Some(pairs.len()), "{subject}");
                }
                _ => {}
            }
            called += 1;
        }
    }
    // Every operation is called twice; few have a path of the same form as another.
    assert!(called >= 200 && twins * 50 <= called, "{name}: {called}, {twins} twins");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "downloads 800 MB: tests/release/run apis"]
async fn github_is_called_as_described() {
    check("github").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "downloads 800 MB: tests/release/run apis"]
async fn stripe_is_called_as_described() {
    check("stripe").await;
}

#[tokio::test]
async fn other_servers_are_not_reached() {
    let (listener, address) = mock::listen().await;
    let text = format!(
        "format = 1\nname = \"api\"\nsummary = \"An API.\"\nserver = \"http://{address}\"\n[[operation]]\naction = \"a\"\nmethod = \"GET\"\npath = \"/\"\n\
         summary = \"Reads.\"\n[[operation]]\naction = \"b\"\nmethod = \"POST\"\npath = \"/b\"\nsummary = \"Writes.\"\n"
    );
    let description = Arc::new(ApiDescription::parse(&text).expect("a description"));
    tokio::spawn(mock::serve(listener, description.clone()));
    // Nothing is granted that the policy does not name.
    assert!(api_grants(&description, &EgressGrants::default()).is_err());
    let facade = facade(&description, &format!("http://{address}"));
    assert!(facade.clone().dispatch(call("a", Object::new())).await.is_ok());
    let Err(Stop::Failure(failure)) = facade.clone().dispatch(call("none", Object::new())).await else {
        panic!("a failure")
    };
    assert_eq!(failure.code, code::NOT_FOUND);

    // The policy allows GET only.
    let to = RuleDestination::parse(&format!("http://{address}")).expect("a destination");
    let policy = EgressGrants {
        rules: vec![HttpRule { to, methods: Some(vec!["GET".into()]), reads: vec![] }],
        secrets: vec![],
    };
    let client =
        EgressClient::new(api_grants(&description, &policy).expect("grants"), EgressLimits::default());
    let facade = Arc::new(ApiFacade::new(adapt_api(description), client, CursorKey::new([7; 32]), 1 << 20));
    let Err(Stop::Failure(failure)) = facade.dispatch(call("b", Object::new())).await else {
        panic!("a failure")
    };
    assert_eq!(failure.code, code::DENIED);
}

#[tokio::test]
async fn dead_servers_are_unavailable() {
    let (listener, address) = mock::listen().await;
    drop(listener);
    let text = format!(
        "format = 1\nname = \"api\"\nsummary = \"An API.\"\nserver = \"http://{address}\"\n[[operation]]\naction = \"a\"\nmethod = \"GET\"\npath = \"/\"\nsummary = \"Reads.\"\n"
    );
    let description = Arc::new(ApiDescription::parse(&text).expect("a description"));
    let facade = facade(&description, &format!("http://{address}"));
    let Err(Stop::Failure(failure)) = facade.dispatch(call("a", Object::new())).await else {
        panic!("a failure")
    };
    assert_eq!(failure.code, code::UNAVAILABLE);
    assert!(failure.message.starts_with("the API `api` cannot be reached: no connection to"), "{failure}");
}
