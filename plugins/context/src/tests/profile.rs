//! Persona and preferences.

use super::*;

fn host(store: &Store) -> Host {
    Host::new().store(store)
}

#[test]
fn a_persona_is_set_and_removed() {
    let store = Store::new();
    let call = |action: &str, params: Value| host(&store).call(&Context, action, params).unwrap();
    assert_eq!(call("persona", json!({})).message.unwrap(), "No persona is set.");
    assert_eq!(call("set_persona", json!({"text": " A patient guide. "})).data, "A patient guide.");
    assert_eq!(call("persona", json!({})).data, "A patient guide.");
    assert_eq!(call("set_persona", json!({"text": "  "})).data, Value::Null);
    assert_eq!(call("persona", json!({})).data, Value::Null);
}

#[test]
fn preferences_keep_their_types() {
    let store = Store::new();
    let steps = [
        json!({"name": "language", "text": "de"}),
        json!({"name": "emoji", "flag": false}),
        json!({"name": "units.decimals", "number": 2.5}),
        json!({"name": "topics", "list": ["trains", "tea"]}),
        json!({"name": "language", "text": "it"}),
        json!({"name": "language", "flag": true}),
        json!({"name": "language"}),
        json!({"name": "language", "flag": true}),
        json!({"name": "both", "flag": true, "text": "x"}),
        json!({"name": "topics", "list": [""]}),
        json!({"name": "a b", "flag": true}),
    ];
    let lines = steps.map(|params| {
        let result = host(&store).call(&Context, "set_preference", params.clone());
        let result = result.map_or_else(|failure| explained(&failure), |reply| reply.data.to_string());
        format!("{params}\n  {result}")
    });
    insta::assert_snapshot!(lines.join("\n"));
    let all = host(&store).call(&Context, "preferences", json!({})).unwrap().data;
    assert_eq!(
        all,
        json!({"emoji": false, "language": true, "topics": ["trains", "tea"], "units.decimals": 2.5})
    );
}

#[test]
fn preferences_are_bounded() {
    let store = Store::new();
    let set = |name: usize, flag: bool| {
        host(&store).call(&Context, "set_preference", json!({"name": format!("p{name}"), "flag": flag}))
    };
    for name in 0..50 {
        set(name, true).unwrap();
    }
    assert_eq!(set(50, true).unwrap_err().to_string(), "unavailable: at most 50 preferences can be set");
    assert_eq!(set(7, false).unwrap().data["p7"], false, "known ones can change");
}

#[test]
fn callers_with_names_have_their_own() {
    let store = Store::new();
    let as_caller = |name: &str| host(&store).caller(name);
    as_caller("ann").call(&Context, "set_persona", json!({"text": "Ann's."})).unwrap();
    host(&store).call(&Context, "set_persona", json!({"text": "Everyone's."})).unwrap();
    let persona = |host: Host| host.call(&Context, "persona", json!({})).unwrap().data;
    assert_eq!(persona(as_caller("ann")), "Ann's.");
    assert_eq!(persona(as_caller("bob")), Value::Null);
    assert_eq!(persona(host(&store)), "Everyone's.");
}

#[test]
fn without_a_store_the_grant_is_named() {
    let failure = Host::new().call(&Context, "set_persona", json!({"text": "x"})).unwrap_err();
    assert_eq!(failure.code, "denied");
}
