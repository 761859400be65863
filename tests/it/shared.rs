//! Hosts that share a database: with different state folders, as on different machines.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use loggia_postgres::testing::PrivateServer;
use loggia_tests::{
    Client, ERAS, Era, Folder, HttpHost, Kind, Raw, accepted, binary, cache, eventually, fixture, scratch,
    signal, state,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    reload::becomes,
    workflows::killed::{KnownRuns, begin_runs, note_run},
};

const ASKS: &str = "
facade: orders
compositeTools:
  - name: approve
    description: Asks before it pays.
    parameters: {type: object, properties: {id: {type: string}}, required: [id]}
    steps:
      - {id: seen, tool: keeps.increment, arguments: {key: '{{.params.id}}.seen'}}
      - {id: sure, type: elicitation, message: 'Pay {{.params.id}}?', timeout: 720h, dependsOn: [seen],
         schema: {type: object, properties: {yes: {type: boolean}}, required: [yes]}}
      - {id: pay, tool: keeps.increment, arguments: {key: '{{.params.id}}.pay'}, dependsOn: [sure]}
";

/// A folder with a plugin and a workflow; each call makes that of another machine.
fn machine() -> Folder {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = true\n");
    folder.write("orders.workflow.yaml", ASKS);
    folder
}

/// Settings of a server that uses this database.
fn settings(server: &PrivateServer) -> (String, String) {
    let options = server.options();
    let table = format!("[state]\nurl = '{}'\nschema = '{}'\n", options.url, options.schema);
    (table, options.schema)
}

/// Runs `loggia runs` with the settings file of a folder; returns its exit code, its output and its notes.
async fn loggia(settings: &str, arguments: &[&str]) -> Result<(i32, String, String)> {
    let folder = Folder::new();
    let file = folder.beside("config").join("loggia.toml");
    std::fs::write(&file, settings)?;
    let output = Command::new(binary())
        .args(arguments)
        .arg("--config")
        .arg(file)
        .env_remove("LOGGIA_STATE")
        .env("XDG_STATE_HOME", scratch())
        .env("LOGGIA_CACHE", cache())
        .env_remove("LOGGIA_CONFIG")
        .kill_on_drop(true)
        .output()
        .await?;
    let code = output.status.code().context("a code")?;
    Ok((code, String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
}

/// Status and number of runs of each server, by `loggia fleet status`.
async fn fleet(settings: &str) -> Result<Vec<(String, u64)>> {
    let (code, listed, notes) = loggia(settings, &["fleet", "status", "--json"]).await?;
    ensure!(code == 0, "{code} {notes}");
    let lines = listed.lines().map(|line| {
        let host: Value = serde_json::from_str(line)?;
        let status = host["status"].as_str().context("no status")?;
        Ok((status.to_owned(), host["runs"].as_u64().context("no runs")?))
    });
    lines.collect()
}

#[tokio::test]
async fn a_killed_hosts_run_goes_on_elsewhere() -> Result<()> {
    let server = PrivateServer::shared();
    for era in ERAS {
        let (settings, _) = settings(&server);
        let (one, other) = (machine(), machine());
        let mut host = HttpHost::configured(&one, &settings).await?;
        let client = Client::http_as(&host, era, Kind::person([])).await?;
        let order = json!({"action": "approve", "id": "o1", "wait": false});
        let begun = client.envelope("orders", order).await?;
        let run = begun["data"]["run"]["id"].as_str().with_context(|| begun.to_string())?.to_owned();
        status_becomes(&client, &run, "waiting").await;
        let later = HttpHost::configured(&other, &settings).await?;
        let (_, listed, notes) = loggia(&settings, &["runs", "list", "--json"]).await?;
        let listed: Value = serde_json::from_str(&listed).with_context(|| format!("{listed} {notes}"))?;
        assert_eq!((&listed["run"], &listed["outcome"]), (&json!(run), &json!("unfinished")));
        assert_eq!(fleet(&settings).await?, [("alive".to_owned(), 1), ("alive".to_owned(), 0)]);
        host.child.start_kill()?;
        host.child.wait().await?;
        let client = Client::http_as(&later, era, Kind::person([accepted(json!({"yes": true}))])).await?;
        status_becomes(&client, &run, "succeeded").await;
        let (_, shown, _) = loggia(&settings, &["runs", "show", &run]).await?;
        let shown: Value = serde_json::from_str(&shown)?;
        assert_eq!(shown["outcome"], "succeeded");
        assert_eq!(shown["steps"].as_array().map(Vec::len), Some(3), "{shown}");
        // The step before the question ran on the other machine.
        let paid = client.envelope("keeps", json!({"action": "get", "key": "o1.seen"})).await?;
        assert_eq!(paid["data"]["value"], "1", "{paid}");
        let (_, listed, _) = loggia(&settings, &["state", "list", "keeps", "--json"]).await?;
        assert!(listed.contains("o1.pay"), "{listed}");
        assert_eq!(fleet(&settings).await?, [("lost".to_owned(), 0), ("alive".to_owned(), 0)]);
        client.end().await?;
    }
    Ok(())
}

/// Steps that each change something once.
const ORDER: &str = "
facade: orders
compositeTools:
  - name: place
    description: Places an order.
    parameters: {type: object, properties: {id: {type: string}}, required: [id]}
    steps:
      - {id: seen, tool: keeps.get, arguments: {key: '{{.params.id}}.pay'}}
      - {id: pay, tool: keeps.increment, arguments: {key: '{{.params.id}}.pay'}, dependsOn: [seen]}
      - {id: stock, tool: keeps.increment, arguments: {key: '{{.params.id}}.stock'}, dependsOn: [seen]}
      - {id: mail, tool: keeps.increment, arguments: {key: '{{.params.id}}.mail'}, dependsOn: [pay, stock]}
";
const KEYS: [&str; 3] = ["pay", "stock", "mail"];

/// Every life is of another machine, which the others survive. State and runs are in the database alone. `LOGGIA_FLEET_KILLS`
/// sets another number of lives.
#[tokio::test]
#[allow(clippy::print_stderr, reason = "`tests/chaos/run` shows the figures")]
async fn no_run_is_lost_and_no_step_repeated_on_other_machines() -> Result<()> {
    let kills: u64 = std::env::var("LOGGIA_FLEET_KILLS").map_or(Ok(12), |kills| kills.parse())?;
    let server = PrivateServer::shared();
    let (settings, _) = settings(&server);
    let machine = || {
        let folder = machine();
        folder.write("orders.workflow.yaml", ORDER);
        let file = folder.beside("config").join("loggia.toml");
        std::fs::write(&file, &settings).map(|()| (folder, file))
    };
    let (folder, file) = machine()?;
    let client =
        Client::stdio_with(folder.path(), Era::Stateful, |command| _ = command.arg("--config").arg(&file))
            .await?;
    let (chance, mut known) = (RandomState::new(), KnownRuns::new());
    for life in 0..kills {
        let (folder, file) = machine()?;
        let mut host =
            Raw::start_with(folder.path(), |command| _ = command.arg("--config").arg(&file)).await?;
        // Some are killed before their first run, and some after their last.
        let moment = Duration::from_millis(500).mul_f64(chance.hash_one(life) as f64 / u64::MAX as f64);
        let _ = tokio::time::timeout(moment, begin_runs(&mut host, life, |_| "place", &mut known)).await;
        host.child.start_kill()?;
        host.child.wait().await?;
        while let Ok(answer) = host.answer().await {
            note_run(&answer, life, &mut known)?;
        }
    }
    ensure!(known.len() as u64 > kills, "only {} runs began", known.len());
    let mut completed = 0;
    for (order, run) in &known {
        let result = eventually(async || {
            let status = json!({"action": "run_status", "run_id": run, "wait": true});
            let told = client.envelope("orders", status).await.map_err(|error| error.to_string())?;
            let run = &told["data"]["run"];
            match run["status"].as_str() {
                Some("succeeded" | "failed") => Ok(run["result"].clone()),
                _ => Err(told.to_string()),
            }
        })
        .await;
        let mut made = 0;
        for key in KEYS {
            let get = json!({"action": "get", "key": format!("{order}.{key}")});
            match client.envelope("keeps", get).await?["data"]["value"].as_str() {
                None => {}
                Some("1") => made += 1,
                Some(more) => panic!("{order}.{key} was made {more} times: {result}"),
            }
        }
        // A change whose end nobody saw is not repeated.
        ensure!(
            (result["ok"] == true && made == KEYS.len()) || result.to_string().contains("interrupted"),
            "{order}: {made} {result}"
        );
        completed += u64::from(result["ok"] == true);
    }
    eprintln!("{kills} machines killed: {} runs, {completed} completed, the others interrupted", known.len());
    client.end().await
}

async fn status_becomes(client: &Client, run: &str, expected: &str) {
    eventually(async || {
        let wait = expected != "waiting";
        let status = json!({"action": "run_status", "run_id": run, "wait": wait});
        let told = client.envelope("orders", status).await.map_err(|error| error.to_string())?;
        match told["data"]["run"]["status"] == expected {
            true => Ok(()),
            false => Err(told.to_string()),
        }
    })
    .await;
}

#[tokio::test]
async fn a_server_without_its_database_says_why() -> Result<()> {
    let server = PrivateServer::shared();
    let (settings, schema) = settings(&server);
    let table = "[state]\nurl = ";
    for (settings, expected) in [
        (format!("{table}'postgres://ada:hunter2@127.0.0.1:1/db'"), "127.0.0.1:1 cannot be reached"),
        (
            format!("{table}'{}'\nschema = '{schema}'", server.url("nobody")),
            "refuses the login: role \"nobody\"",
        ),
        (format!("{table}'postgres://ada:hunter2@h/db?sslmode=prefer'"), "has an `sslmode` other than"),
        (format!("{settings}password-file = 'missing'"), "failed to read the password file"),
    ] {
        let folder = machine();
        let path = folder.path().display().to_string();
        let (code, _, notes) = loggia(&settings, &["serve", &path]).await?;
        ensure!(code == 1 && notes.contains(expected), "{code} {notes}");
        ensure!(!notes.contains("hunter2"), "{notes}");
    }
    let (code, _, notes) = loggia(&settings, &["runs", "show", "none"]).await?;
    ensure!(
        code == 11 && notes.contains(&format!("in the schema `{schema}` of 127.0.0.1:")),
        "{code} {notes}"
    );
    let checked = format!("{settings}[upstream.x]\n");
    let (code, _, notes) = loggia(&checked, &["runs", "list"]).await?;
    ensure!(code != 0 && notes.contains("upstream.x.command"), "{code} {notes}");
    Ok(())
}

/// No grant reaches the password of the database.
#[tokio::test]
async fn the_password_file_is_fenced() -> Result<()> {
    let server = PrivateServer::shared();
    let (settings, _) = settings(&server);
    let folder = machine();
    let secrets = folder.beside("secrets");
    std::fs::write(secrets.join("password"), "ignored-by-trust\n")?;
    folder.write(
        "keeps.toml",
        &format!(
            "[grants]\nstore = true\ndirs = [{{ path = '{}', at = '/data', access = 'read' }}]\n",
            secrets.display()
        ),
    );
    let with_password = format!("{settings}password-file = '{}'\n", secrets.join("password").display());
    for (settings, is_served) in [(settings, true), (with_password, false)] {
        let host = HttpHost::configured(&folder, &settings).await?;
        let client = Client::http(&host, Era::Stateful).await?;
        assert_eq!(client.names().await?.contains(&"keeps".to_owned()), is_served, "{settings}");
        client.end().await?;
    }
    Ok(())
}

/// A first server gives the database its secret, so that callers find their entries there.
#[tokio::test]
async fn state_migrates_to_the_database_and_back() -> Result<()> {
    let server = PrivateServer::shared();
    let (settings, _) = settings(&server);
    let folder = machine();
    let put = |value: &str| json!({"action": "put", "key": "drink", "value": value});
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.envelope("keeps", put("tea")).await?;
    client.end().await?;
    let with_folder = format!("{settings}folder = '{}'\n", state(folder.path()).display());
    let migrate = async |to: &'static str, more: &[&str]| {
        loggia(&with_folder, &[&["state", "migrate", "--to", to], more].concat()).await
    };
    let (code, _, notes) = migrate("folder", &[]).await?;
    ensure!(code == 11 && notes.contains("no plugin has stored anything in the schema"), "{code} {notes}");
    let hash = format!("sha256:{}", "07".repeat(32));
    let without = format!("[state]\nfolder = '{}'\n", state(folder.path()).display());
    let (code, _, notes) = loggia(&without, &["token", "revoke", &hash]).await?;
    ensure!(code == 0, "{code} {notes}");
    let (code, _, notes) = migrate("database", &[]).await?;
    ensure!(code == 0 && notes.contains("copied 1 entry of `keeps` to the schema"), "{code} {notes}");
    let (_, listed, _) = loggia(&settings, &["token", "revoked"]).await?;
    ensure!(listed.contains(&hash), "{listed}");
    let (code, _, notes) = migrate("database", &[]).await?;
    ensure!(code == 1 && notes.contains("has keeps already; --replace"), "{code} {notes}");

    let host = HttpHost::configured(&folder, &settings).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    let get = json!({"action": "get", "key": "drink"});
    assert_eq!(client.envelope("keeps", get.clone()).await?["data"]["value"], "tea");
    client.envelope("keeps", put("coffee")).await?;
    client.end().await?;
    drop(host);

    let (code, _, notes) = migrate("folder", &["--replace"]).await?;
    ensure!(code == 0 && notes.contains("copied 1 entry of `keeps`"), "{code} {notes}");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    assert_eq!(client.envelope("keeps", get).await?["data"]["value"], "coffee");
    client.end().await?;
    let (code, _, notes) = loggia("", &["state", "migrate", "--to", "folder"]).await?;
    ensure!(code == 2 && notes.contains("there is no database"), "{code} {notes}");
    Ok(())
}

/// Whoever waits for its runs need not wait for the end of its lease.
#[tokio::test]
async fn a_server_that_ends_gives_its_lease_up() -> Result<()> {
    let server = PrivateServer::shared();
    let (settings, schema) = settings(&server);
    let hosts = format!("SELECT count(*) FROM {schema}.hosts");
    for is_http in [false, true] {
        let folder = machine();
        if is_http {
            let mut host = HttpHost::configured(&folder, &settings).await?;
            assert_eq!(server.ask(&hosts), "1");
            signal(&host.child, Signal::TERM)?;
            host.child.wait().await?;
        } else {
            // Its input is at its end.
            let path = folder.path().display().to_string();
            let (code, _, notes) = loggia(&settings, &["serve", &path]).await?;
            ensure!(code == 0 && notes.contains("runs and the state of plugins are in"), "{code} {notes}");
        }
        assert_eq!(server.ask(&hosts), "0", "over HTTP: {is_http}");
    }
    Ok(())
}

/// A name belongs to the file that served it first on any server, and the state folder's record counts until then.
#[tokio::test]
async fn names_have_one_owner_over_all_servers() -> Result<()> {
    let server = PrivateServer::shared();
    let (settings, _) = settings(&server);
    let names = async |host: &HttpHost| {
        let client = Client::http(host, Era::Stateful).await?;
        let names = client.names().await?;
        client.end().await.map(|()| names)
    };
    // Recorded before there was a database.
    let first = Folder::with(&["echo"]);
    Client::stdio(first.path(), Era::Stateful).await?.end().await?;
    let host = HttpHost::configured(&first, &settings).await?;
    assert_eq!(names(&host).await?, ["echo"]);
    let second = Folder::new();
    second.put("other", &fixture("echo"));
    second.put("keeps", &fixture("keeps"));
    second.write("keeps.toml", "[grants]\nstore = true\n");
    let later = HttpHost::configured(&second, &settings).await?;
    assert_eq!(names(&later).await?, ["keeps"]);
    let record: Value = serde_json::from_slice(&std::fs::read(state(second.path()).join("names.json"))?)?;
    assert_eq!(record["names"][0], json!({"name": "echo", "stem": "echo"}), "{record}");
    // The operator decides, for all.
    second.write("other.toml", "[expose]\nname = \"echo\"\n");
    eventually(async || match names(&later).await {
        Ok(names) if names.len() == 2 => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    Ok(())
}

/// Servers of several machines load plugins from the same path, with different files while an update is rolled out.
#[tokio::test]
async fn a_version_is_approved_for_all_servers() -> Result<()> {
    let server = PrivateServer::shared();
    let (settings, _) = settings(&server);
    let folder = Folder::new();
    let file = folder.beside("config").join("loggia.toml");
    std::fs::write(&file, &settings)?;
    let serve = async |machine: &str, version: &str| {
        folder.put("version", &fixture(version));
        let state = folder.beside(machine);
        let host = HttpHost::start_with(folder.path(), |command| {
            command.env("LOGGIA_PIN", "surface").env("LOGGIA_STATE", state).arg("--config").arg(&file);
        })
        .await?;
        let client = Client::http(&host, Era::Stateful).await?;
        anyhow::Ok((host, client))
    };
    let stop = async |(mut host, client): (HttpHost, Client)| {
        client.end().await?;
        signal(&host.child, Signal::TERM)?;
        host.child.wait().await?;
        anyhow::Ok(())
    };
    let first = serve("first", "version_one").await?;
    becomes(&first.1, "one").await;
    stop(first).await?;
    // By a command on a third machine.
    let pending = async || {
        let (code, listed, notes) = loggia(&settings, &["pending", "--json"]).await?;
        ensure!(code == 0, "{code} {notes}");
        let waits = listed.lines().map(serde_json::from_str::<Value>);
        Ok(waits.collect::<Result<Vec<_>, _>>()?)
    };
    let second = serve("second", "version_text").await?;
    let waits = async || {
        eventually(async || match pending().await.as_deref() {
            Ok([version]) => Ok(version["version"].as_str().unwrap_or_default().to_owned()),
            other => Err(format!("{other:?}")),
        })
        .await
    };
    let found = waits().await;
    assert_eq!(second.1.names().await?, [""; 0], "it has no copy of the approved version");
    let (_, diff, notes) = loggia(&settings, &["diff", "version"]).await?;
    assert!(diff.contains("\n~ summary: "), "{diff}{notes}");
    // It is withdrawn by the server that found it.
    folder.put("version", &fixture("version_one"));
    becomes(&second.1, "one").await;
    eventually(async || match pending().await.as_deref() {
        Ok([]) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    folder.put("version", &fixture("version_text"));
    assert_eq!(waits().await, found);
    let (code, _, notes) = loggia(&settings, &["approve", &found]).await?;
    assert_eq!((code, notes), (0, format!("approved: {found}\n")));
    becomes(&second.1, "text").await;
    assert_eq!(pending().await?, [Value::Null; 0]);
    stop(second).await?;
    // One that has not been updated yet starts again.
    let first = serve("first", "version_one").await?;
    becomes(&first.1, "one").await;
    stop(first).await?;
    Ok(())
}
