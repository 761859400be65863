//! Runs survive hosts that are killed.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, Kind, Raw, accepted, eventually};
use serde_json::{Value, json};

/// Parallel steps, a loop, a retry and another workflow around steps that change something. Each change counts under a key of
/// its own.
const ORDER: &str = "
facade: orders
compositeTools:
  - name: place
    description: Places an order.
    parameters: {type: object, properties: {id: {type: string}}, required: [id]}
    steps:
      - {id: seen, tool: keeps.get, arguments: {key: '{{.params.id}}.pay'}}
      - {id: pay, tool: keeps.increment, arguments: {key: '{{.params.id}}.pay'}, dependsOn: [seen]}
      - {id: stock, tool: keeps.increment, arguments: {key: '{{.params.id}}.stock'}, dependsOn: [seen],
         onError: {action: retry, retryCount: 3, retryDelay: 10ms}}
      - {id: parcels, type: forEach, collection: '[1,2,3,4]', maxParallel: 2, dependsOn: [pay, stock],
         step: {tool: keeps.increment, arguments: {key: '{{.params.id}}.parcel{{.forEach.index}}'}}}
      - {id: mail, tool: mails.send, arguments: {key: '{{.params.id}}.mail'}, dependsOn: [parcels]}
";
/// A workflow that the other one calls.
const MAILS: &str = "
facade: mails
compositeTools:
  - name: send
    description: Sends a mail.
    parameters: {type: object, properties: {key: {type: string}}, required: [key]}
    steps:
      - {id: write, tool: keeps.get, arguments: {key: '{{.params.key}}'}}
      - {id: post, tool: keeps.increment, arguments: {key: '{{.params.key}}'}, dependsOn: [write]}
";
/// Keys of one order.
const KEYS: [&str; 7] = ["pay", "stock", "parcel0", "parcel1", "parcel2", "parcel3", "mail"];
/// Runs that begin in each host's life.
const RUNS: u64 = 4;

fn stage(workflow: &str) -> Folder {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = true\n");
    folder.write("orders.workflow.yaml", workflow);
    folder.write("mails.workflow.yaml", MAILS);
    folder
}

/// Handles of runs by the ids of their orders.
type KnownRuns = BTreeMap<String, String>;

/// Begins runs until the host is killed, and keeps the handles that it acknowledged.
async fn begin_runs(host: &mut Raw, life: u64, known: &mut KnownRuns) -> Result<()> {
    for number in 0..RUNS {
        let order = json!({"action": "place", "id": format!("o{life}x{number}"), "wait": false});
        host.call(number + 1, "orders", &order).await?;
    }
    loop {
        note_run(&host.answer().await?, life, known)?;
    }
}

fn note_run(answer: &Value, life: u64, known: &mut KnownRuns) -> Result<()> {
    let number = answer["id"].as_u64().with_context(|| answer.to_string())? - 1;
    let run = &answer["result"]["structuredContent"]["data"]["run"]["id"];
    let run = run.as_str().with_context(|| format!("no run: {answer}"))?;
    known.insert(format!("o{life}x{number}"), run.to_owned());
    Ok(())
}

/// Kills so many hosts while runs begin and go on; `LOGGIA_KILLS` sets another number.
#[tokio::test]
#[allow(clippy::print_stderr, reason = "`tests/chaos/run` shows the figures")]
async fn no_run_is_lost_and_no_step_repeated_by_kills() -> Result<()> {
    let kills: u64 = std::env::var("LOGGIA_KILLS").map_or(Ok(200), |kills| kills.parse())?;
    let folder = stage(ORDER);
    let (chance, mut known) = (RandomState::new(), KnownRuns::new());
    for life in 0..kills {
        let mut host = Raw::start(folder.path()).await?;
        let moment = Duration::from_millis(120).mul_f64(chance.hash_one(life) as f64 / u64::MAX as f64);
        // Ends with an error once the host is killed.
        let _ = tokio::time::timeout(moment, begin_runs(&mut host, life, &mut known)).await;
        host.child.start_kill()?;
        host.child.wait().await?;
        while let Ok(answer) = host.answer().await {
            note_run(&answer, life, &mut known)?;
        }
    }
    ensure!(known.len() as u64 > kills, "only {} runs began", known.len());
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let (mut completed, mut interrupted) = (0, 0);
    for (order, run) in &known {
        let result = result_of(&client, run).await.with_context(|| order.clone())?;
        let mut made = BTreeSet::new();
        for key in KEYS {
            let count =
                client.envelope("keeps", json!({"action": "get", "key": format!("{order}.{key}")})).await?;
            match count["data"]["value"].as_str() {
                None => {}
                Some("1") => drop(made.insert(key)),
                Some(more) => panic!("{order}.{key} was made {more} times: {result}"),
            }
        }
        if result["ok"] == true {
            completed += 1;
            assert_eq!(made.len(), KEYS.len(), "{order}: {result}");
        } else {
            interrupted += 1;
            assert!(result.to_string().contains("interrupted"), "{order}: {result}");
            for step in result["details"]["completed"].as_array().into_iter().flatten() {
                let step = step.as_str().unwrap_or_default();
                assert!(step == "seen" || step == "parcels" || made.contains(step), "{order}: {result}");
            }
        }
    }
    eprintln!("{kills} kills: {} runs, {completed} completed, {interrupted} interrupted", known.len());
    // How many depends on the machine.
    assert!(completed > 0 && interrupted > 0, "{completed} completed, {interrupted} were interrupted");
    client.end().await
}

/// Result of a run, once it has ended.
async fn result_of(client: &Client, run: &str) -> Result<Value> {
    let result = eventually(async || {
        let status = json!({"action": "run_status", "run_id": run, "wait": true});
        let told = client.envelope("orders", status).await.map_err(|error| error.to_string())?;
        let run = &told["data"]["run"];
        match run["status"].as_str() {
            Some("succeeded" | "failed") => Ok(run["result"].clone()),
            _ => Err(told.to_string()),
        }
    });
    Ok(result.await)
}

const ASKS: &str = "
facade: orders
compositeTools:
  - name: approve
    description: Asks before it pays.
    parameters: {type: object, properties: {id: {type: string}}, required: [id]}
    steps:
      - {id: sure, type: elicitation, message: 'Pay {{.params.id}}?', timeout: 720h,
         schema: {type: object, properties: {yes: {type: boolean}}, required: [yes]}}
      - {id: pay, tool: keeps.increment, arguments: {key: '{{.params.id}}.pay'}, dependsOn: [sure]}
";

/// The person answers only after some hosts were killed, through another client, in both lifecycles.
#[tokio::test]
async fn no_question_is_forgotten_by_kills() -> Result<()> {
    for era in ERAS {
        let folder = stage(ASKS);
        let mut runs = Vec::new();
        for life in 0..5 {
            let mut host = HttpHost::start(folder.path()).await?;
            let client = Client::http_as(&host, era, Kind::person([])).await?;
            let order = json!({"action": "approve", "id": format!("o{life}"), "wait": false});
            let begun = client.envelope("orders", order).await?;
            let run = begun["data"]["run"]["id"].as_str().with_context(|| begun.to_string())?;
            runs.push(run.to_owned());
            for run in &runs {
                waits(&client, run).await;
            }
            host.child.start_kill()?;
            host.child.wait().await?;
        }
        let yes = runs.iter().map(|_| accepted(json!({"yes": true})));
        let host = HttpHost::start(folder.path()).await?;
        let client = Client::http_as(&host, era, Kind::person(yes)).await?;
        for (life, run) in runs.iter().enumerate() {
            let result = result_of(&client, run).await?;
            assert_eq!(result["ok"], true, "{result}");
            let key = json!({"action": "get", "key": format!("o{life}.pay")});
            assert_eq!(client.envelope("keeps", key).await?["data"]["value"], "1");
        }
        client.end().await?;
    }
    Ok(())
}

/// Waits until a run waits for its person.
async fn waits(client: &Client, run: &str) {
    eventually(async || {
        let status = json!({"action": "run_status", "run_id": run});
        let told = client.envelope("orders", status).await.map_err(|error| error.to_string())?;
        match told["data"]["run"]["status"] == "waiting" {
            true => Ok(()),
            false => Err(told.to_string()),
        }
    })
    .await;
}
