//! After any sequence of changes, the rules of epics hold.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::{
    get::get,
    ids::Kind,
    list::{ListFilter, list},
    plan::plan,
    progress::progress,
};

/// Features and tasks that a sequence refers to; some never exist.
const FEATURES: usize = 4;
const TASKS: usize = 8;

#[derive(Debug, Clone)]
enum Step {
    AddTask(usize, Vec<usize>),
    Depend(usize, Vec<usize>),
    DependFeature(usize, Vec<usize>),
    Move(usize, usize),
    State(usize, &'static str, bool),
    Complete(usize, bool),
    Archive(String, bool),
}

fn step() -> impl Strategy<Value = Step> {
    let task = || 1..=TASKS;
    let feature = || 1..=FEATURES;
    let tasks = || proptest::collection::vec(1..=TASKS, 0..3);
    let id = prop_oneof![
        Just("e_0001".to_owned()),
        feature().prop_map(|number| format!("f_000{number}")),
        task().prop_map(|number| format!("t_000{number}")),
    ];
    let state = prop_oneof![Just("todo"), Just("in_progress"), Just("cancelled")];
    prop_oneof![
        2 => (feature(), tasks()).prop_map(|(feature, tasks)| Step::AddTask(feature, tasks)),
        3 => (task(), tasks()).prop_map(|(task, tasks)| Step::Depend(task, tasks)),
        2 => (feature(), proptest::collection::vec(1..=FEATURES, 0..2))
            .prop_map(|(feature, features)| Step::DependFeature(feature, features)),
        1 => (task(), feature()).prop_map(|(task, feature)| Step::Move(task, feature)),
        4 => (task(), state, any::<bool>()).prop_map(|(task, state, ignore)| Step::State(task, state, ignore)),
        4 => (task(), any::<bool>()).prop_map(|(task, ignore)| Step::Complete(task, ignore)),
        2 => (id, any::<bool>()).prop_map(|(id, archived)| Step::Archive(id, archived)),
    ]
}

impl Step {
    fn call(&self, world: &World) -> (&'static str, Value) {
        let tasks =
            |tasks: &[usize]| -> Vec<String> { tasks.iter().map(|task| format!("t_000{task}")).collect() };
        let version = |id: &str| {
            world.run(|| get(id, Detail::Minimal)).map_or(json!(1), |item| item["version"].clone())
        };
        match self {
            Self::AddTask(feature, after) => (
                "upsert",
                json!({"parent": format!("f_000{feature}"), "title": "T", "depends_on": tasks(after)}),
            ),
            Self::Depend(task, after) => {
                let id = format!("t_000{task}");
                ("upsert", json!({"id": id, "version": version(&id), "depends_on": tasks(after)}))
            }
            Self::DependFeature(feature, after) => {
                let id = format!("f_000{feature}");
                let after: Vec<String> = after.iter().map(|feature| format!("f_000{feature}")).collect();
                ("upsert", json!({"id": id, "version": version(&id), "depends_on": after}))
            }
            Self::Move(task, feature) => {
                let id = format!("t_000{task}");
                ("upsert", json!({"id": id, "version": version(&id), "parent": format!("f_000{feature}")}))
            }
            Self::State(task, state, ignore) => (
                "upsert",
                json!({"id": format!("t_000{task}"), "state": state, "ignore_dependencies": ignore}),
            ),
            Self::Complete(task, ignore) => (
                "complete_task_with_validation",
                json!({"id": format!("t_000{task}"), "ignore_dependencies": ignore}),
            ),
            Self::Archive(id, archived) => ("archive", json!({"id": id, "archived": archived})),
        }
    }

    /// Whether the step may finish or start a task although others before it are open.
    fn ignores(&self) -> bool {
        matches!(self, Self::State(_, _, true) | Self::Complete(_, true))
    }
}

impl World {
    /// Runs a reading function below the actions: the host's checks would take most of the time.
    fn run<T: Serialize>(&self, read: impl FnOnce() -> Result<Reply<T>>) -> Result<Value> {
        let reply = self.host().run(read)?;
        Ok(serde_json::to_value(reply.data).unwrap())
    }

    /// The ids of all items of a kind, or of the archived ones.
    fn all(&self, kind: Kind, state: Option<&str>) -> Vec<String> {
        let rows = self.run(|| list(&ListFilter::new(kind, state, None)?, 200, None)).unwrap();
        rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    }
}

fn world() -> World {
    let world = World::default();
    let features = json!([
        {"title": "A", "tasks": [{"title": "a"}, {"title": "b", "depends_on": ["0"]}]},
        {"title": "B", "depends_on": ["0"], "tasks": [{"title": "c"}]},
        {"title": "C", "tasks": [{"title": "d", "depends_on": ["1.0"]}]},
    ]);
    world.data("create_epic_complete", json!({"title": "E", "features": features}));
    world
}

/// The items of the epic's row: id, parent, and whether it is archived itself.
fn items(world: &World) -> BTreeMap<String, (Option<String>, bool)> {
    let epic = world.store.value("epics/e_0001").unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let archived = |value: &Value| value["archived"] == true;
    let mut items = BTreeMap::from([("e_0001".to_owned(), (None, archived(&epic)))]);
    for feature in epic["features"].as_array().unwrap() {
        items.insert(text(&feature["id"]), (Some("e_0001".to_owned()), archived(feature)));
    }
    for task in epic["tasks"].as_array().unwrap() {
        items.insert(text(&task["id"]), (Some(text(&task["feature"])), archived(task)));
    }
    items
}

/// Whether the item or one above it is archived.
fn is_hidden(items: &BTreeMap<String, (Option<String>, bool)>, id: &str) -> bool {
    let (parent, archived) = &items[id];
    *archived || parent.as_ref().is_some_and(|parent| is_hidden(items, parent))
}

/// Tasks that a task needs, directly or through its feature, by the stored row alone.
fn needs(epic: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let list = |value: &Value| -> Vec<String> { value.as_array().into_iter().flatten().map(text).collect() };
    let tasks = epic["tasks"].as_array().unwrap();
    let of_feature = |feature: &str| -> Vec<String> {
        tasks.iter().filter(|task| task["feature"] == feature).map(|task| text(&task["id"])).collect()
    };
    let features: BTreeMap<String, Vec<String>> = epic["features"]
        .as_array()
        .unwrap()
        .iter()
        .map(|feature| (text(&feature["id"]), list(&feature["depends_on"])))
        .collect();
    tasks
        .iter()
        .map(|task| {
            let mut needed: BTreeSet<String> = list(&task["depends_on"]).into_iter().collect();
            needed.extend(features[&text(&task["feature"])].iter().flat_map(|feature| of_feature(feature)));
            (text(&task["id"]), needed)
        })
        .collect()
}

/// Whether tasks can be removed one after another, each when nothing that it needs is left.
fn is_acyclic(mut needs: BTreeMap<String, BTreeSet<String>>) -> bool {
    while let Some(free) = needs.iter().find(|(_, needed)| needed.is_empty()).map(|(id, _)| id.clone()) {
        needs.remove(&free);
        needs.values_mut().for_each(|needed| _ = needed.remove(&free));
    }
    needs.is_empty()
}

fn sum(counts: &Value) -> u64 {
    counts.as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum()
}

/// Checks that a plan has each open task once, after all that it needs.
fn check_plan(
    plan: &Value,
    needs: &BTreeMap<String, BTreeSet<String>>,
    open: &BTreeSet<String>,
) -> Result<(), TestCaseError> {
    let mut planned = BTreeSet::new();
    for wave in plan["waves"].as_array().unwrap() {
        let ids: Vec<&str> =
            wave.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect();
        for id in &ids {
            let is_missing = |needed: &&String| open.contains(*needed) && !planned.contains(*needed);
            prop_assert_eq!(needs[*id].iter().filter(is_missing).count(), 0, "{} in {}", id, plan);
        }
        for id in ids {
            prop_assert!(planned.insert(id.to_owned()), "{} twice in {}", id, plan);
        }
    }
    prop_assert_eq!(&planned, open);
    Ok(())
}

fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let world = world();
    for step in steps {
        let hidden_before: Vec<String> = {
            let items = items(&world);
            items.keys().filter(|id| is_hidden(&items, id)).cloned().collect()
        };
        let before = world.store.value("epics/e_0001").unwrap();
        let (action, params) = step.call(&world);
        let reply = world.reply(action, params.clone());
        let epic = world.store.value("epics/e_0001").unwrap();
        if reply.is_err() {
            prop_assert_eq!(&epic, &before, "a refused call changes nothing: {} {}", action, params);
        }
        // Nothing below an archived item changes; only `archive` touches what is archived.
        if action != "archive" && reply.is_ok() && epic != before {
            let id = params["id"].as_str().or(params["parent"].as_str()).unwrap().to_owned();
            prop_assert!(!hidden_before.contains(&id), "{} {}", action, params);
        }
        // No cycle of dependencies.
        let needs = needs(&epic);
        prop_assert!(is_acyclic(needs.clone()), "{}", epic);
        // A task is started and completed only after what it needs, unless the call says so.
        let item_map = items(&world);
        let state = |id: &str| {
            let tasks = epic["tasks"].as_array().unwrap();
            tasks.iter().find(|task| task["id"] == id).unwrap()["state"].as_str().unwrap().to_owned()
        };
        if let (Step::State(task, "in_progress", _) | Step::Complete(task, _), true) = (&step, epic != before)
            && !step.ignores()
        {
            for needed in &needs[&format!("t_000{task}")] {
                let is_open = matches!(state(needed).as_str(), "todo" | "in_progress");
                prop_assert!(!is_open || is_hidden(&item_map, needed), "{:?} needs {}", step, needed);
            }
        }
        // No child of an archived parent is listed.
        for kind in [Kind::Epic, Kind::Feature, Kind::Task] {
            let (listed, archived) = (world.all(kind, None), world.all(kind, Some("archived")));
            for (ids, hidden) in [(&listed, false), (&archived, true)] {
                for id in ids {
                    prop_assert_eq!(is_hidden(&item_map, id), hidden, "{}", id);
                }
            }
            let all = item_map.keys().filter(|id| Kind::of(id) == Some(kind)).count();
            prop_assert_eq!(listed.len() + archived.len(), all);
        }
        // Sums of the progress.
        let progress = world.run(|| Ok(Reply::new(progress("e_0001")?))).unwrap();
        let is_live = |id: &&String| {
            let (feature, archived) = &item_map[*id];
            id.starts_with('t') && !archived && !item_map[feature.as_ref().unwrap()].1
        };
        prop_assert_eq!(sum(&progress["tasks"]) as usize, item_map.keys().filter(is_live).count());
        let features: u64 =
            progress["features"].as_array().unwrap().iter().map(|feature| sum(&feature["tasks"])).sum();
        prop_assert_eq!(features, sum(&progress["tasks"]));
        if epic["archived"] != true {
            let is_open = |id: &&String| matches!(state(id).as_str(), "todo" | "in_progress");
            let open = item_map.keys().filter(is_live).filter(is_open).cloned().collect();
            check_plan(&world.run(|| plan("e_0001")).unwrap(), &needs, &open)?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn rules_hold_after_any_changes(steps in proptest::collection::vec(step(), 1..40)) {
        run(steps)?;
    }
}
