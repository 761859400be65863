//! Requests and epics of maximum size.

use super::*;

fn tasks(count: usize, spec: &Value) -> Vec<Value> {
    (0..count)
        .map(|task| json!({"title": "ü".repeat(100), "summary": format!("Task {task}"), "spec": spec}))
        .collect()
}

fn epic(features: usize, count: usize, spec: &Value) -> Value {
    let features: Vec<Value> = (0..features)
        .map(|feature| json!({"title": format!("F{feature}"), "tasks": tasks(count, spec)}))
        .collect();
    json!({"title": "Large", "features": features})
}

#[test]
fn five_hundred_tasks_are_one_call() {
    let world = World::default();
    let spec = json!({"instructions": "x".repeat(1_000), "estimate": 5});
    let created = world.data("create_epic_complete", epic(100, 5, &spec));
    assert_eq!(created["features"][99]["tasks"][4], "t_0500");
    assert_eq!(world.store.commits(), 1, "one transaction");
    let plan = world.data("plan", json!({"id": "e_0001"}));
    assert_eq!(plan["waves"][0].as_array().unwrap().len(), 500);
    let failure = world.reply("create_epic_complete", epic(3, 167, &json!({}))).unwrap_err();
    assert_eq!(failure.to_string(), "invalid_params: `features` has 501 tasks: at most 500");
}

#[test]
fn a_full_epic_refuses_more() {
    let world = World::default();
    world.data("create_epic_complete", epic(100, 5, &json!({})));
    let check = |params: Value, expected: &str| {
        let failure = world.reply("upsert", params).unwrap_err();
        assert_eq!(failure.to_string(), expected);
    };
    check(json!({"parent": "e_0001", "title": "X"}), "conflict: `e_0001` has 100 features already");
    check(json!({"parent": "f_0001", "title": "X"}), "conflict: `e_0001` has 500 tasks already");
}

#[test]
fn the_largest_epic_fits_into_its_row() {
    let world = World::default();
    // The longest titles, of characters of four bytes, with twenty dependencies each.
    let depends_on: Vec<String> = (0..20).map(|task| task.to_string()).collect();
    let task = |at: usize| {
        let depends_on = if at < 20 { &[][..] } else { &depends_on[..] };
        json!({"title": "🦀".repeat(200), "depends_on": depends_on, "spec": {"estimate": 1_000_000, "can_run_in_parallel": false}})
    };
    let indexes: Vec<String> = (1..=20).map(|feature| feature.to_string()).collect();
    let mut features =
        vec![json!({"title": "🦀".repeat(200), "tasks": (0..500).map(task).collect::<Vec<_>>()})];
    features.extend((1..100).map(|at| {
        let depends_on = if at <= 20 { &[][..] } else { &indexes[..] };
        json!({"title": "🦀".repeat(200), "depends_on": depends_on})
    }));
    world.data("create_epic_complete", json!({"title": "🦀".repeat(200), "features": features}));
    let row = world.store.value("epics/e_0001").unwrap().to_string().len();
    assert!((500_000..1_000_000).contains(&row), "{row}");
}

#[test]
fn long_texts_are_left_out_of_large_answers() {
    let world = World::default();
    world.data("create_epic_complete", epic(2, 40, &json!({"instructions": "y".repeat(10_000)})));
    let reply = world.host().detail(Detail::Full).call(&Projects, "get", json!({"id": "e_0001"})).unwrap();
    assert!(reply.data.to_string().len() < 900_000);
    let message = reply.message.unwrap();
    assert!(message.starts_with("Too much for one answer: "), "{message}");
    let last = &reply.data["features"][1]["tasks"][39];
    assert!(last["spec"].is_null() && last["id"] == "t_0080");
}

#[test]
fn too_many_dependencies_are_refused() {
    let world = World::default();
    let depends_on: Vec<String> = (0..21).map(|task| task.to_string()).collect();
    let mut tasks = tasks(21, &json!({}));
    tasks.push(json!({"title": "last", "depends_on": depends_on}));
    let request = json!({"title": "E", "features": [{"title": "F", "tasks": tasks}]});
    assert_eq!(
        world.failure("create_epic_complete", request),
        "invalid_params: features[0].tasks[21].depends_on: 21 dependencies: at most 20"
    );
}

#[test]
fn texts_of_maximum_size_can_be_read() {
    let world = World::default();
    // Characters that JSON escapes as six.
    let text = |length: usize| "\u{1}".repeat(length);
    let spec = json!({
        "instructions": text(16_000),
        "acceptance": vec![text(500); 20],
        "files": vec![text(500); 50],
        "validations": vec![json!({"file_matches": {"path": text(4096), "pattern": text(1000)}}); 10],
    });
    for epic in 0..3 {
        let tasks: Vec<Value> = (0..4)
            .map(|task| json!({"title": format!("T{task}"), "summary": text(2000), "spec": spec}))
            .collect();
        let features = json!([{"title": "F", "tasks": tasks}]);
        world.data("create_epic_complete", json!({"title": format!("E{epic}"), "features": features}));
    }
    let parent = json!("f_0001");
    for number in 5..=8 {
        let task =
            json!({"parent": parent, "title": format!("T{number}"), "summary": text(2000), "spec": spec});
        world.data("upsert", task);
    }
    let row = world.store.value("texts/t_0001").unwrap().to_string().len();
    assert!(10 * row < 8 << 20 && row < 1 << 20, "{row}");
    let reply = world.host().detail(Detail::Full).call(&Projects, "get", json!({"id": "f_0001"})).unwrap();
    assert!(reply.data.to_string().len() < 1 << 20);
    assert_eq!(
        reply.message.as_deref(),
        Some("Too much for one answer: 8 parts without texts. `get` reads them.")
    );
    let long = json!({"call": "ci.runs", "arguments": {"branch": text(400)}, "equals": "x"});
    let refused = json!({"id": "t_0001", "version": 1, "spec": {"validations": [{"invoke": long}]}});
    assert_eq!(world.failure("upsert", refused), "invalid_params: `arguments` are longer than 2000 bytes");
}
