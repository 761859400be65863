//! `script` over MCP: programs over real facades, questions inside them, hostile ones, and what they save.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, Kind, Served, Token, accepted, heard};
use rmcp::model::{ElicitResult, ElicitationAction};
use serde_json::{Value, json};

use super::{add, readme_table::read_table};

/// Grants, and limits that end hostile programs. Steps end them soon on any machine; CPU time passes faster on a busy
/// one, so only a program that no step ends gets little of it.
fn policy(cpu: &str) -> String {
    format!(
        "[grants]\ninvoke = [\"*\"]\nconfig = {{ steps = 10000000 }}\n\
         [limits]\nlong-cpu = \"{cpu}\"\nbreaker-faults = 1000\n"
    )
}

/// `script` beside `memories` with this policy.
fn world(memories: &str) -> Folder {
    world_with_cpu("60s", memories)
}

fn world_with_cpu(cpu: &str, memories: &str) -> Folder {
    let folder = Folder::new();
    add(&folder, "script", &policy(cpu));
    add(&folder, "memories", &format!("[grants]\nstore = true\n{memories}"));
    folder
}

async fn run(client: &Client, code: &str) -> Result<Value> {
    client.envelope("script", json!({"action": "run", "code": code})).await
}

fn declined() -> ElicitResult {
    ElicitResult::new(ElicitationAction::Decline)
}

#[tokio::test]
async fn a_program_calls_real_facades() -> Result<()> {
    let folder = world("");
    for era in ERAS {
        let client = Client::stdio(folder.path(), era).await?;
        client.names_become(&["memories", "script"]).await;
        let many = "const titles = Array.from({ length: 40 }, (_, i) => `Fact ${i}`);\n\
            const added = await Promise.all(titles.map(title => memories.add({ title })));\n\
            const read = await Promise.all(added.map(({ id }) => memories.get({ id })));\n\
            return read.map(m => m.title).join() === titles.join()";
        let envelope = run(&client, many).await?;
        assert_eq!(
            (&envelope["data"]["result"], &envelope["data"]["calls"]),
            (&json!(true), &json!(80)),
            "{envelope}"
        );
        let direct = client.envelope("memories", json!({"action": "get", "id": "m_0001"})).await?;
        let through = run(&client, "return await memories.get({ id: 'm_0001' })").await?;
        assert_eq!(through["data"]["result"], direct["data"]);
        let failed = run(&client, "const id = 'm_0999';\nreturn await memories.get({ id })").await?;
        let direct = client.envelope("memories", json!({"action": "get", "id": "m_0999"})).await?;
        assert_eq!((&failed["code"], &failed["hint"]), (&direct["code"], &direct["hint"]), "{failed}");
        assert_eq!(
            (&failed["details"]["call"], &failed["details"]["line"]),
            (&json!("memories.get"), &json!(2))
        );
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_reading_program_cannot_write() -> Result<()> {
    let folder = world("");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.names_become(&["memories", "script"]).await;
    let read = |code: &str| client.envelope("script", json!({"action": "run_read", "code": code}));
    let denied = read("await memories.add({ title: 'Tea' })").await?;
    assert_eq!(
        (&denied["code"], &denied["details"]["details"]["effect"]),
        (&json!("denied"), &json!("write")),
        "{denied}"
    );
    let caught = read("try { await memories.add({ title: 'Tea' }) } catch (e) { return e.code }").await?;
    assert_eq!(caught["data"]["result"], "denied", "{caught}");
    assert_eq!(read("return (await memories.list()).length").await?["data"]["result"], 0);
    client.end().await
}

#[tokio::test]
async fn types_and_check_know_the_facades() -> Result<()> {
    let folder = world("");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.names_become(&["memories", "script"]).await;
    let types = client.envelope("script", json!({"action": "types", "query": "remember something"})).await?;
    let text = types["data"].as_str().context("a text")?;
    assert!(text.contains("add(p: { title: string /* ") && text.contains("[write]"), "{text}");
    let all = client.envelope("script", json!({})).await?;
    assert!(all["data"].as_str().is_some_and(|text| text.contains("declare const memories")), "{all}");
    for (code, valid, action) in [
        ("return (await memories.list()).length", true, "run_read"),
        ("await memories.add({ title: 'Tea' })", true, "run"),
        ("await memories.add({ titel: 'Tea' })", false, "run"),
        ("await memories.list({ limit: 'ten' })", false, "run"),
    ] {
        let verdict = client.envelope("script", json!({"action": "check", "code": code})).await?;
        assert_eq!(
            (&verdict["data"]["valid"], &verdict["data"]["action"]),
            (&json!(valid), &json!(action)),
            "{verdict}"
        );
    }
    client.end().await
}

#[tokio::test]
async fn a_program_has_the_rights_of_its_caller() -> Result<()> {
    let folder = world("");
    let ada = Token::new("ada", &["script:*", "memories:add", "memories:list"]).await?;
    let bob = Token::new("bob", &["script:run_read", "script:types"]).await?;
    let served = Served::configured(&folder, "", &[&ada, &bob]).await?;
    for era in ERAS {
        let client = Client::http_by(&served.host, era, Kind::default(), &ada).await?;
        assert_eq!(
            run(&client, "return (await memories.add({ title: 'Tea' })).title").await?["data"]["result"],
            "Tea"
        );
        let denied = run(&client, "return await memories.delete({ id: 'm_0001' })").await?;
        assert_eq!(
            (&denied["code"], &denied["details"]["details"]["scope"]),
            (&json!("denied"), &json!("memories:delete")),
            "{denied}"
        );
        let types = client.envelope("script", json!({"action": "types"})).await?.to_string();
        assert!(types.contains("add(p: ") && !types.contains("delete("), "{types}");
        client.end().await?;
        // A facade outside the scopes is not there.
        let client = Client::http_by(&served.host, era, Kind::default(), &bob).await?;
        let read = |code: &str| client.envelope("script", json!({"action": "run_read", "code": code}));
        assert_eq!(read("return typeof memories").await?["data"]["result"], "undefined");
        let hidden = read("return call('memories', 'list')").await?;
        let never = read("return call('nothing_', 'list')").await?;
        assert_eq!(hidden["code"], "not_found", "{hidden}");
        assert_eq!(hidden.to_string().replace("memories", "nothing_"), never.to_string());
        client.end().await?;
    }
    Ok(())
}

/// Vercel's and others' scripts cannot ask. Here the program waits, and goes on with the answer.
#[tokio::test]
async fn a_question_inside_parks_the_program() -> Result<()> {
    let code = "const done = [];\n\
        for (const id of ['m_0001', 'm_0002']) {\n\
          try { await memories.delete({ id }); done.push(id) } catch (e) { done.push(e.code) }\n\
        }\n\
        return [done, (await memories.list()).length]";
    for era in ERAS {
        for http in [false, true] {
            let folder = world("[actions]\nconfirm = [\"delete\"]\n");
            let kind = Kind::person([declined(), accepted(json!({"confirm": true}))]);
            // Holds the host while the client lives.
            let host = if http { Some(HttpHost::start(folder.path()).await?) } else { None };
            let mut client = match &host {
                Some(host) => Client::http_as(host, era, kind).await?,
                None => Client::stdio_as(folder.path(), era, kind).await?,
            };
            client.names_become(&["memories", "script"]).await;
            run(&client, "for (const title of ['a', 'b', 'c']) await memories.add({ title })").await?;
            let envelope = run(&client, code).await?;
            assert_eq!(
                envelope["data"]["result"],
                json!([["denied", "m_0002"], 2]),
                "{era:?} {http} {envelope}"
            );
            for _ in 0..2 {
                let question = heard("a question", &mut client.questions).await?;
                let message = question["message"].as_str().unwrap_or_default();
                assert!(message.contains("Run `delete` (destructive)"), "{question}");
            }
            client.end().await?;
        }
    }
    Ok(())
}

/// A plugin that a program calls asks by itself.
#[tokio::test]
async fn an_inner_plugin_asks_the_person() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    folder.write("worker.toml", "[grants]\nelicit = true\n");
    add(&folder, "script", &policy("60s"));
    for era in ERAS {
        let kind = Kind::person([accepted(json!({"newest": 3, "why": "dust"})), declined()]);
        let client = Client::stdio_as(folder.path(), era, kind).await?;
        client.names_become(&["script", "worker"]).await;
        let envelope = run(&client, "return [await worker.clean(), await worker.clean()]").await?;
        assert_eq!(
            envelope["data"]["result"],
            json!(["kept 3 because dust", "declined"]),
            "{era:?} {envelope}"
        );
        client.end().await?;
    }
    Ok(())
}

/// Programs of `plugins/script/src/tests/hostile.js`: code, and how each ends.
fn hostile() -> Result<Vec<(&'static str, String, &'static str, &'static str)>> {
    let mut cases: Vec<(&str, String, &str, &str)> = Vec::new();
    for line in include_str!("../../../plugins/script/src/tests/hostile.js").lines() {
        if let Some(heading) = line.strip_prefix("//# ").or_else(|| line.strip_prefix("//! ")) {
            let (name, rest) = heading.split_once(" -> ").context("an arrow")?;
            let (outcome, text) = rest.split_once(": ").context("a text")?;
            cases.push((name, String::new(), outcome, text));
        } else if let Some(case) = cases.last_mut() {
            case.1.push_str(line);
            case.1.push('\n');
        }
    }
    Ok(cases)
}

#[tokio::test]
async fn hostile_programs_spoil_nothing() -> Result<()> {
    let cases = hostile()?;
    ensure!(cases.len() >= 70, "{}", cases.len());
    let (slow, others): (Vec<_>, Vec<_>) = cases.into_iter().partition(|(.., text)| *text == "CPU time");
    ensure!(!slow.is_empty());
    spoil_nothing(world("").path(), others).await?;
    spoil_nothing(world_with_cpu("2s", "").path(), slow).await
}

/// Runs each program, and a harmless one after it.
async fn spoil_nothing(folder: &Path, cases: Vec<(&str, String, &str, &str)>) -> Result<()> {
    let client = Client::stdio(folder, Era::Stateful).await?;
    client.names_become(&["memories", "script"]).await;
    client.envelope("memories", json!({"action": "add", "title": "Tea"})).await?;
    for (name, code, outcome, text) in cases {
        let envelope = run(&client, &code).await?;
        if outcome == "ok" {
            assert_eq!(envelope["ok"], true, "{name}: {envelope}");
            assert!(envelope["data"].to_string().contains(text), "{name}: {envelope}");
        } else {
            assert_eq!(envelope["code"], outcome, "{name}: {envelope}");
            assert!(
                envelope["error"].as_str().is_some_and(|error| error.contains(text)),
                "{name}: {envelope}"
            );
        }
        // The next caller notices nothing.
        assert_eq!(
            run(&client, "return (await memories.list())[0].title").await?["data"]["result"],
            "Tea",
            "{name}"
        );
    }
    client.end().await
}

/// Calls of a task, and bytes and tokens of their JSON.
#[derive(Debug, Default)]
struct Cost {
    calls: usize,
    bytes: usize,
    written: usize,
    read: usize,
}

impl Cost {
    /// Makes a call; its envelope.
    async fn call(&mut self, client: &Client, tool: &str, arguments: Value) -> Result<Value> {
        let count = |text: &str| bpe_openai::o200k_base().count(text);
        let envelope = client.envelope(tool, arguments.clone()).await?;
        ensure!(envelope["ok"] == true, "{arguments}: {envelope}");
        let (call, result) =
            (json!({"name": tool, "arguments": arguments}).to_string(), envelope.to_string());
        self.calls += 1;
        self.bytes += call.len() + result.len();
        self.written += count(&call);
        self.read += count(&result);
        Ok(envelope["data"].clone())
    }

    fn tokens(&self) -> usize {
        self.written + self.read
    }
}

/// Keeps a fact about each of 25 cities, reads each again, and answers which are large.
async fn one_by_one(client: &Client) -> Result<(Cost, Value)> {
    let mut cost = Cost::default();
    let mut ids = Vec::new();
    for city in 0..25 {
        let body = format!("Inhabitants: {}.", city * 7919 % 1000);
        let add = json!({"action": "add", "title": format!("City {city}"), "body": body, "tags": ["city"]});
        ids.push(cost.call(client, "memories", add).await?["id"].clone());
    }
    let mut large = Vec::new();
    for id in ids {
        let city = cost.call(client, "memories", json!({"action": "get", "id": id})).await?;
        let body = city["body"].as_str().unwrap_or_default();
        let inhabitants = body.trim_start_matches("Inhabitants: ").trim_end_matches('.').parse::<u32>()?;
        if inhabitants > 900 {
            large.push(city["title"].clone());
        }
    }
    Ok((cost, large.into()))
}

/// The same as one program.
const PROGRAM: &str = "const cities = Array.from({ length: 25 }, (_, i) => ({ title: `City ${i}`, body: `Inhabitants: ${i * 7919 % 1000}.`, tags: ['city'] }));
const added = await Promise.all(cities.map(c => memories.add(c)));
const read = await Promise.all(added.map(({ id }) => memories.get({ id })));
return read.filter(c => parseInt(c.body.slice(13)) > 900).map(c => c.title)";

#[tokio::test]
async fn a_program_replaces_fifty_calls() -> Result<()> {
    let folder = world("");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.names_become(&["memories", "script"]).await;
    let (single, expected) = one_by_one(&client).await?;
    let mut program = Cost::default();
    let data = program.call(&client, "script", json!({"action": "run", "code": PROGRAM})).await?;
    assert_eq!((&data["result"], &data["calls"]), (&expected, &json!(50)), "{data}");
    // A model that does not know the actions reads their declarations first.
    let mut declared = Cost::default();
    let types = json!({"action": "types", "query": "add get memory", "limit": 1000});
    declared.call(&client, "script", types).await?;
    declared.call(&client, "script", json!({"action": "run", "code": PROGRAM})).await?;
    client.end().await?;
    let mut table =
        "| way | calls of the model | bytes | tokens written | tokens read | tokens |\n|---|---:|---:|---:|---:|---:|\n".to_owned();
    for (way, cost) in
        [("call by call", &single), ("one program", &program), ("`types`, then the program", &declared)]
    {
        let Cost { calls, bytes, written, read } = cost;
        writeln!(table, "| {way} | {calls} | {bytes} | {written} | {read} | {} |", cost.tokens())?;
    }
    assert!(program.tokens() * 10 <= single.tokens(), "{table}");
    assert!(declared.tokens() * 4 <= single.tokens(), "{table}");
    let there = read_table("script/README.md", &table)?;
    assert_eq!(there, table, "LOGGIA_WRITE=1 updates the table of plugins/script/README.md");
    Ok(())
}
