//! Failing calls and their error messages.

use super::*;

#[test]
fn an_unknown_action_lists_the_available_ones() {
    assert_eq!(
        World::default().failure("delete", json!({})),
        "invalid_params: Unknown action: \"delete\". Available actions: create_epic_complete, \
         complete_task_with_validation, upsert, list, get, archive, progress, plan, describe."
    );
}

#[test]
fn unknown_ids_teach_the_form() {
    let world = World::login();
    for (action, id) in [
        ("get", "t_0099"),
        ("get", "t_1"),
        ("get", "7"),
        ("get", "e_0002"),
        ("archive", "f_0099"),
        ("progress", "e_0002"),
        ("plan", "x_0001"),
        ("complete_task_with_validation", "t_0099"),
    ] {
        let failure = world.reply(action, json!({"id": id})).unwrap_err();
        assert_eq!(failure.code, "not_found", "{action} {id}");
        assert!(failure.message.contains(&format!("`{id}`")), "{failure}");
        assert!(failure.hint.as_deref().is_some_and(|hint| hint.contains("`t_0001` (task)")), "{failure}");
    }
}

#[test]
fn wrong_lists_are_explained() {
    let world = World::login();
    let check = |params: Value, expected: &str| {
        let said = world.failure("list", params.clone());
        assert!(said.contains(expected), "{params}: {said}");
    };
    check(json!({"kind": "story"}), "`kind` must be one of epic, feature, task");
    check(json!({"state": "open"}), "`state` is not one: \"open\"");
    check(json!({"parent": "t_0001"}), "`t_0001` is a task, which has no parts");
    check(json!({"parent": "e_0009"}), "there is no epic `e_0009`");
    check(json!({"cursor": "20"}), "`cursor` is not from `list`");
    check(json!({"limit": 0}), "`limit`");
}

#[test]
fn without_a_store_the_missing_grant_is_named() {
    for (action, params) in
        [("create_epic_complete", login()), ("list", json!({})), ("get", json!({"id": "e_0001"}))]
    {
        let failure = Host::new().call(&Projects, action, params).unwrap_err();
        assert_eq!(failure.code, "denied", "{action}");
        assert!(failure.hint.as_deref().is_some_and(|hint| hint.contains("store = true")), "{action}");
    }
}
