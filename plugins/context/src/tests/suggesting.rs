//! Suggestions of all sources, ranked and without duplicates.

use super::*;

#[test]
fn all_sources_make_one_list() {
    let reply = suggest(&world(), trip(4000));
    insta::assert_snapshot!(shown(&reply));
}

#[test]
fn equal_texts_are_suggested_once() {
    let reply = suggest(&world(), trip(4000));
    let also: Vec<String> = reply.data["suggested_context"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item.get("also").is_some())
        .map(|item| format!("{} {}", item["id"], item["also"]))
        .collect();
    assert_eq!(also.len(), 1, "{also:?}");
    assert!(also[0].contains("memories/m_0002") && also[0].contains("knowledge/k_0002#1"), "{also:?}");
}

#[test]
fn unrelated_tasks_are_not_suggested() {
    let reply = suggest(&world(), trip(4000));
    let ids = ids(&reply.data);
    // `t_0002` shares only "the" and "to" with the task.
    assert!(ids.contains(&"projects/t_0001") && !ids.contains(&"projects/t_0002"), "{ids:?}");
    assert!(reply.data.get("left_out").is_none(), "{}", reply.data);
}

#[test]
fn the_same_task_has_the_same_suggestions() {
    assert_eq!(suggest(&world(), trip(700)), suggest(&world(), trip(700)));
}

#[test]
fn only_the_wanted_sources_are_asked() {
    let host = world();
    let mut params = trip(2000);
    params["sources"] = json!(["memories", "memories", "projects"]);
    let reply = suggest(&host, params);
    let asked: Vec<String> =
        host.requests().iter().map(|request| format!("{}.{}", request.facade, request.action)).collect();
    assert_eq!(asked, ["memories.search", "projects.list", "projects.list", "projects.list"]);
    assert!(ids(&reply.data).iter().all(|id| id.starts_with("memories/") || id.starts_with("projects/")));
}

#[test]
fn nothing_is_injected_unasked() {
    let store = Store::new();
    let host = world().store(&store);
    host.call(&Context, "set_persona", json!({"text": "A patient guide."})).unwrap();
    host.call(&Context, "set_preference", json!({"name": "language", "text": "de"})).unwrap();
    let data = suggest(&host, trip(4000)).data;
    assert!(data.get("persona").is_none() && data.get("preferences").is_none(), "{data}");

    let mut params = trip(4000);
    params["include"] = json!(["preferences"]);
    let data = suggest(&host, params).data;
    assert_eq!((data.get("persona"), &data["preferences"]), (None, &json!({"language": "de"})));

    let mut params = trip(4000);
    params["include"] = json!(["persona", "preferences"]);
    assert_eq!(suggest(&host, params).data["persona"], "A patient guide.");
}

#[test]
fn a_query_has_only_telling_words() {
    let host = world();
    let task = "Plan the trip to Sicily. ".repeat(150);
    suggest(&host, json!({"task": task, "budget": 1000}));
    for request in host.requests() {
        let query = request.params.get("query").and_then(Value::as_str);
        assert!(query.is_none_or(|query| query == "Plan trip Sicily"), "{query:?}");
    }
    suggest(&host, json!({"task": "What is it about?", "budget": 1000}));
    let requests = host.requests();
    assert!(requests.iter().any(|request| request.params.get("query") == Some(&json!("What is it about?"))));
    let word = "ä".repeat(4000);
    suggest(&host, json!({"task": word, "budget": 1000}));
    let requests = host.requests();
    let query = requests.iter().rev().find_map(|request| request.params.get("query")).unwrap();
    assert_eq!(query.as_str().unwrap().chars().count(), 500);
}
