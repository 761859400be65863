//! What one `create_epic_complete` saves of the seed's sequence of single calls: the table of
//! `plugins/projects/README.md`, measured with the real plugin.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, Era};
use serde_json::{Value, json};

use super::{folder, readme_table::read_table};

/// Features of the plans, and the steps of each.
const FEATURES: [&str; 5] = ["account schema", "login endpoint", "session store", "login form", "audit log"];
const STEPS: [&str; 6] = ["Design", "Implement", "Test", "Document", "Review", "Release"];

/// A plan: title, and the features with their tasks, as `create_epic_complete` takes them.
fn plan(features: usize, steps: usize) -> Value {
    let task = |feature: &str, at: usize, step: &str| {
        let after = if at == 0 { vec![] } else { vec![(at - 1).to_string()] };
        json!({
            "title": format!("{step} the {feature}"),
            "summary": format!("{step} the {feature}, so that the next step can rely on it."),
            "depends_on": after,
            "spec": {
                "instructions": format!("Read what exists of the {feature} first. {step} it in small commits, and keep the tests passing after each of them."),
                "acceptance": [format!("The {feature} behaves as its summary says."), "All tests pass."],
                "files": [format!("src/{}.rs", feature.replace(' ', "_"))],
                "order": at + 1,
                "can_run_in_parallel": true,
                "estimate": 30 + 15 * at,
            },
        })
    };
    let feature = |(at, feature): (usize, &&str)| {
        let after = if at == 0 { vec![] } else { vec![(at - 1).to_string()] };
        let tasks: Vec<Value> =
            STEPS[..steps].iter().enumerate().map(|(at, step)| task(feature, at, step)).collect();
        json!({
            "title": format!("The {feature}"),
            "summary": format!("All work on the {feature}, from its design to its last step."),
            "depends_on": after,
            "tasks": tasks,
        })
    };
    let features: Vec<Value> = FEATURES[..features].iter().enumerate().map(feature).collect();
    json!({"title": "Login", "summary": "Users log in with a password.", "features": features})
}

/// What the calls of one way cost.
#[derive(Debug, Default)]
struct Cost {
    calls: usize,
    /// JSON of the calls and of their results.
    bytes: usize,
    /// Of the calls, which a model writes.
    written: usize,
    /// Of the results, which it reads.
    read: usize,
}

struct Meter {
    client: Client,
    cost: Cost,
}

impl Meter {
    /// Makes a call; the data of its result.
    async fn call(&mut self, arguments: Value) -> Result<Value> {
        let count = |text: &str| bpe_openai::o200k_base().count(text);
        let envelope = self.client.envelope("projects", arguments.clone()).await?;
        ensure!(envelope["ok"] == true, "{arguments}: {envelope}");
        let call = json!({"name": "projects", "arguments": arguments}).to_string();
        let result = envelope.to_string();
        self.cost.calls += 1;
        self.cost.bytes += call.len() + result.len();
        self.cost.written += count(&call);
        self.cost.read += count(&result);
        Ok(envelope["data"].clone())
    }
}

/// One call.
async fn at_once(meter: &mut Meter, plan: &Value) -> Result<Value> {
    let mut call = plan.clone();
    call["action"] = json!("create_epic_complete");
    meter.call(call).await
}

/// The seed's sequence: the epic, its features, their tasks, then a description of each feature and task, then
/// dependencies and execution metadata of each.
async fn one_by_one(meter: &mut Meter, plan: &Value) -> Result<Value> {
    let create = json!({"action": "upsert", "title": plan["title"], "summary": plan["summary"]});
    let epic = meter.call(create).await?["id"].clone();
    let features = plan["features"].as_array().context("features")?;
    // Ids of the features, and of their tasks.
    let mut made: Vec<(Value, Vec<Value>)> = Vec::new();
    for feature in features {
        let create = json!({"action": "upsert", "parent": epic, "title": feature["title"]});
        made.push((meter.call(create).await?["id"].clone(), Vec::new()));
    }
    for (feature, (id, tasks)) in features.iter().zip(&mut made) {
        for task in feature["tasks"].as_array().context("tasks")? {
            let create = json!({"action": "upsert", "parent": id, "title": task["title"]});
            tasks.push(meter.call(create).await?["id"].clone());
        }
    }
    let ids: Vec<Value> = made.iter().map(|(id, _)| id.clone()).collect();
    // Items with their ids, and the ids among which their dependencies are.
    let mut items: Vec<(&Value, &Value, &[Value])> = Vec::new();
    for (feature, (id, tasks)) in features.iter().zip(&made) {
        items.push((feature, id, &ids));
        let parts = feature["tasks"].as_array().context("tasks")?;
        items.extend(parts.iter().zip(tasks).map(|(task, id)| (task, id, tasks.as_slice())));
    }
    for (item, id, _) in &items {
        let mut describe = json!({"action": "upsert", "id": id, "version": 1, "summary": item["summary"]});
        for member in ["instructions", "acceptance", "files"] {
            if let Some(value) = item["spec"].get(member) {
                describe["spec"][member] = value.clone();
            }
        }
        meter.call(describe).await?;
    }
    for (at, (item, id, among)) in items.iter().enumerate() {
        let indexes = item["depends_on"].as_array().context("depends_on")?;
        let ids = indexes.iter().filter_map(|index| among.get(index.as_str()?.parse::<usize>().ok()?));
        let mut schedule =
            json!({"action": "upsert", "id": id, "version": 2, "depends_on": ids.collect::<Vec<_>>()});
        let order = json!({"order": at / (1 + made[0].1.len()) + 1});
        for member in ["order", "can_run_in_parallel", "estimate"] {
            if let Some(value) = item.get("spec").unwrap_or(&order).get(member) {
                schedule["spec"][member] = value.clone();
            }
        }
        meter.call(schedule).await?;
    }
    Ok(json!({"id": epic}))
}

/// The whole epic, without what differs between two ways to make it.
async fn made(client: &Client, epic: &Value) -> Result<Value> {
    let get = json!({"action": "get", "id": epic, "detail": "full"});
    let mut epic = client.envelope("projects", get).await?["data"].take();
    for time in ["created", "updated"] {
        epic.as_object_mut().context("an epic")?.remove(time);
    }
    Ok(epic)
}

/// Measures both ways, each in a store of its own, and compares what they made.
async fn measure(plan: &Value) -> Result<[Cost; 2]> {
    let mut costs = Vec::new();
    let mut epics = Vec::new();
    for is_whole in [false, true] {
        let folder = folder("projects", "[grants]\nstore = true\n");
        let client = Client::stdio(folder.path(), Era::Stateful).await?;
        let mut meter = Meter { client, cost: Cost::default() };
        let created =
            if is_whole { at_once(&mut meter, plan).await? } else { one_by_one(&mut meter, plan).await? };
        epics.push(made(&meter.client, &created["id"]).await?);
        costs.push(meter.cost);
        meter.client.end().await?;
    }
    assert_eq!(epics[0], epics[1], "both ways make the same epic");
    costs.try_into().ok().context("two ways")
}

#[tokio::test]
async fn one_call_replaces_the_seeds_sequence() -> Result<()> {
    let mut table = "| plan | way | calls | bytes | tokens written | tokens read | tokens |\n\
        |---|---|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for (features, steps) in [(2, 3), (5, 6)] {
        let [single, whole] = measure(&plan(features, steps)).await?;
        let name = format!("{features} features, {} tasks", features * steps);
        for (way, cost) in [("single calls", &single), ("`create_epic_complete`", &whole)] {
            let Cost { calls, bytes, written, read } = cost;
            writeln!(
                table,
                "| {name} | {way} | {calls} | {bytes} | {written} | {read} | {} |",
                written + read
            )?;
        }
        // The seed says 20 to 30 calls for a typical plan; single ones grow with it.
        let items = features + features * steps;
        assert_eq!((single.calls, whole.calls), (1 + 3 * items, 1));
        assert!(2 * (whole.written + whole.read) <= single.written + single.read, "{single:?} {whole:?}");
    }
    let there = read_table("projects/README.md", &table)?;
    assert_eq!(there, table, "LOGGIA_WRITE=1 updates the table of plugins/projects/README.md");
    Ok(())
}
