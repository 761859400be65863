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
  - name: reserve
    description: Reserves, fails, and undoes what it has done.
    transaction: saga
    parameters: {type: object, properties: {id: {type: string}}, required: [id]}
    steps:
      - id: pay
        tool: keeps.increment
        arguments: {key: '{{.params.id}}.pay'}
        compensate: {tool: keeps.increment, arguments: {key: '{{.params.id}}.pay.undo'}}
      - id: seats
        type: forEach
        collection: '[1,2,3]'
        maxParallel: 2
        dependsOn: [pay]
        step:
          tool: keeps.increment
          arguments: {key: '{{.params.id}}.seats#{{.forEach.index}}'}
          compensate: {tool: keeps.increment, arguments: {key: '{{.params.id}}.seats#{{.forEach.index}}.undo'}}
      - {id: fails, type: forEach, collection: no list, step: {tool: keeps.get, arguments: {key: x}}, dependsOn: [seats]}
  - name: approve
    description: Asks before it pays.
    parameters: {type: object, properties: {id: {type: string}}, required: [id]}
    steps:
      - {id: sure, type: elicitation, message: 'Pay {{.params.id}}?', timeout: 720h,
         schema: {type: object, properties: {yes: {type: boolean}}, required: [yes]}}
      - {id: pay, tool: keeps.increment, arguments: {key: '{{.params.id}}.pay'}, dependsOn: [sure]}
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
/// Calls of one reservation, which is a saga.
const RESERVED: [&str; 4] = ["pay", "seats#0", "seats#1", "seats#2"];
/// Runs that begin in each host's life; the last one is a saga.
const RUNS: u64 = 4;
/// Questions that stay open over all lives. A host has room for some more.
const QUESTIONS: u64 = 25;

fn stage(workflow: &str) -> Folder {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = true\n");
    folder.write("orders.workflow.yaml", workflow);
    folder.write("mails.workflow.yaml", MAILS);
    folder
}

/// Handles of runs by the ids of their orders.
pub(crate) type KnownRuns = BTreeMap<String, String>;

/// Action of a run: the last one of each life is a saga.
fn order_or_saga(number: u64) -> &'static str {
    if number + 1 == RUNS { "reserve" } else { "place" }
}

/// Begins runs until the host is killed, and keeps the handles that it acknowledged.
/// `action` chooses by their number.
pub(crate) async fn begin_runs(
    host: &mut Raw,
    life: u64,
    action: impl Fn(u64) -> &'static str,
    known: &mut KnownRuns,
) -> Result<()> {
    for number in 0..RUNS {
        let action = action(number);
        let order = json!({"action": action, "id": format!("o{life}x{number}"), "wait": false});
        host.call(number + 1, "orders", &order).await?;
    }
    loop {
        note_run(&host.answer().await?, life, known)?;
    }
}

/// Notes the handle of a run that a host has acknowledged.
pub(crate) fn note_run(answer: &Value, life: u64, known: &mut KnownRuns) -> Result<()> {
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
    let (chance, mut known, mut asked) = (RandomState::new(), KnownRuns::new(), Vec::new());
    for life in 0..kills {
        if life % (kills / QUESTIONS).max(1) == 0 {
            asked.push(ask_and_kill(&folder, life).await?);
            continue;
        }
        let mut host = Raw::start(folder.path()).await?;
        let moment = Duration::from_millis(120).mul_f64(chance.hash_one(life) as f64 / u64::MAX as f64);
        // Ends with an error once the host is killed.
        let _ = tokio::time::timeout(moment, begin_runs(&mut host, life, order_or_saga, &mut known)).await;
        host.child.start_kill()?;
        host.child.wait().await?;
        while let Ok(answer) = host.answer().await {
            note_run(&answer, life, &mut known)?;
        }
    }
    ensure!(known.len() as u64 > kills, "only {} runs began", known.len());
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let (mut placed, mut reserved) = ([0, 0], [0, 0]);
    for (order, run) in &known {
        let result = result_of(&client, run).await.with_context(|| order.clone())?;
        if order.ends_with(&format!("x{}", RUNS - 1)) {
            let is_undone = check_reservation(&client, order, &result).await?;
            reserved[usize::from(!is_undone)] += 1;
        } else {
            let is_complete = check_order(&client, order, &result).await?;
            placed[usize::from(!is_complete)] += 1;
        }
    }
    let ([completed, interrupted], [undone, partly]) = (placed, reserved);
    // Its host has taken up the runs that wait, too.
    client.end().await?;
    answer_all(&folder, &asked).await?;
    let (runs, questions) = (known.len(), asked.len());
    eprintln!(
        "{kills} kills: {runs} runs, {completed} completed, {interrupted} interrupted; sagas: {undone} undone, {partly} not wholly; \
         {questions} questions, all answered"
    );
    // How many depends on the machine.
    assert!(completed > 0 && interrupted > 0, "{completed} completed, {interrupted} were interrupted");
    assert!(undone > 0 && partly > 0, "{undone} were undone, {partly} not wholly");
    Ok(())
}

/// Begins a run that asks, and kills its host once that is acknowledged. Returns its order and its handle.
async fn ask_and_kill(folder: &Folder, life: u64) -> Result<(String, String)> {
    let mut host = HttpHost::start(folder.path()).await?;
    let client = Client::http_as(&host, Era::Stateful, Kind::person([])).await?;
    let order = format!("q{life}");
    let begun = client.envelope("orders", json!({"action": "approve", "id": order, "wait": false})).await?;
    let run = begun["data"]["run"]["id"].as_str().with_context(|| begun.to_string())?.to_owned();
    host.child.start_kill()?;
    host.child.wait().await?;
    Ok((order, run))
}

/// Answers the questions of these runs, and checks that each then pays once.
async fn answer_all(folder: &Folder, asked: &[(String, String)]) -> Result<()> {
    let host = HttpHost::start(folder.path()).await?;
    let yes = asked.iter().map(|_| accepted(json!({"yes": true})));
    let client = Client::http_as(&host, Era::Stateful, Kind::person(yes)).await?;
    for (order, run) in asked {
        let result = result_of(&client, run).await?;
        assert_eq!(result["ok"], true, "{order}: {result}");
        assert_eq!(count(&client, &format!("{order}.pay")).await?, 1, "{order}");
    }
    client.end().await
}

/// Number of times that a change was made.
async fn count(client: &Client, key: &str) -> Result<usize> {
    let count = client.envelope("keeps", json!({"action": "get", "key": key})).await?;
    let value = count["data"]["value"].as_str();
    value.map_or(Ok(0), |value| Ok(value.parse()?))
}

/// Checks an order. Returns true if it was completed.
async fn check_order(client: &Client, order: &str, result: &Value) -> Result<bool> {
    let mut made = BTreeSet::new();
    for key in KEYS {
        match count(client, &format!("{order}.{key}")).await? {
            0 => {}
            1 => drop(made.insert(key)),
            more => panic!("{order}.{key} was made {more} times: {result}"),
        }
    }
    if result["ok"] == true {
        assert_eq!(made.len(), KEYS.len(), "{order}: {result}");
        return Ok(true);
    }
    assert!(result.to_string().contains("interrupted"), "{order}: {result}");
    for step in result["details"]["completed"].as_array().into_iter().flatten() {
        let step = step.as_str().unwrap_or_default();
        assert!(step == "seen" || step == "parcels" || made.contains(step), "{order}: {result}");
    }
    Ok(false)
}

/// Checks that a reservation reports exactly what was undone. Returns true if nothing of it remains.
async fn check_reservation(client: &Client, order: &str, result: &Value) -> Result<bool> {
    let listed = |name: &str, call: &str| {
        let calls = result["details"][name].as_array().into_iter().flatten();
        calls.filter(|listed| listed.as_str().or(listed["step"].as_str()) == Some(call)).count()
    };
    let mut remains = false;
    for call in RESERVED {
        let made = count(client, &format!("{order}.{call}")).await?;
        let undone = count(client, &format!("{order}.{call}.undo")).await?;
        let lists = ["compensated", "compensation_failed", "unknown"].map(|name| listed(name, call));
        let is_exact = match lists {
            [1, 0, 0] => (made, undone) == (1, 1),
            // The host was killed while it was undone, or made.
            [0, 1, 0] => made == 1 && undone <= 1,
            [0, 0, 1] => made <= 1 && undone == 0,
            [0, 0, 0] => (made, undone) == (0, 0),
            _ => false,
        };
        assert!(is_exact, "{order}.{call} was made {made} times and undone {undone} times: {result}");
        remains |= lists[0] == 0 && lists != [0, 0, 0];
    }
    assert_eq!(result["details"]["undone"], !remains, "{order}: {result}");
    Ok(!remains)
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

/// The person answers only after some hosts were killed, through another client, in both lifecycles.
#[tokio::test]
async fn no_question_is_forgotten_by_kills() -> Result<()> {
    for era in ERAS {
        let folder = stage(ORDER);
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
