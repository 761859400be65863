//! `complete_task_with_validation`.

use loggia_sdk::host::Schema;

use super::*;

/// A world whose task `t_0001` has these validations, and whose `t_0002` depends on it.
fn world(validations: Value) -> World {
    let world = World::default();
    let tasks = json!([
        {"title": "Build", "spec": {"validations": validations}},
        {"title": "Ship", "depends_on": ["0"]},
    ]);
    world.data("create_epic_complete", json!({"title": "E", "features": [{"title": "F", "tasks": tasks}]}));
    world
}

const COMPLETE: &str = "complete_task_with_validation";

/// Grants the facade `files`, with one file.
fn with_files(host: Host) -> Host {
    let read = || Schema::new(json!({})).effect(Effect::Read);
    let missing =
        |path: &Value| Err(Failure::not_found(format!("not found: {}", path.as_str().unwrap_or_default())));
    host.schema("files", "stat", read())
        .schema("files", "search", read())
        .answer("files", "stat", move |params| match params["path"].as_str() {
            Some("/src/a.rs") => Ok(Reply::new(json!({"path": "/src/a.rs", "kind": "file"}))),
            Some("/src") => Ok(Reply::new(json!({"path": "/src", "kind": "directory"}))),
            _ => missing(&params["path"]),
        })
        .answer("files", "search", move |params| {
            if params["path"] != "/src/a.rs" {
                return missing(&params["path"]);
            }
            if params["pattern"] == "(" {
                return Err(Failure::invalid_params("`pattern` is not a regular expression"));
            }
            let lines = if params["pattern"] == "fn main" {
                json!([{"path": "/src/a.rs", "line": 3, "text": "fn main() {"}])
            } else {
                json!([])
            };
            Ok(Reply::new(lines))
        })
}

/// Grants the facade `ci`, whose `runs` reads and `start` writes.
fn with_ci(host: Host) -> Host {
    host.schema("ci", "runs", Schema::new(json!({})).effect(Effect::Read))
        .schema("ci", "start", Schema::new(json!({})).effect(Effect::Write))
        .answer("ci", "runs", |_| Ok(Reply::new(json!({"runs": [{"state": "green", "number": 7}]}))))
        .answer("ci", "start", |_| panic!("a validation must not write"))
}

#[test]
fn passing_validations_complete_the_task() {
    let world = world(json!([
        {"file_exists": "/src/a.rs"},
        {"file_matches": {"path": "/src/a.rs", "pattern": "fn main"}},
        {"invoke": {"call": "ci.runs", "pointer": "/runs/0/state", "equals": "green"}},
        {"invoke": {"call": "ci:runs", "arguments": {"limit": 1}, "pointer": "/runs/0/number", "equals": "7"}},
    ]));
    let host = with_ci(with_files(world.host()));
    insta::assert_snapshot!(shown(&host.call(&Projects, COMPLETE, json!({"id": "t_0001"})).unwrap()), @r#"
    {
      "id": "t_0001",
      "title": "Build",
      "state": "done",
      "version": 2,
      "validations": [
        {
          "check": "file_exists /src/a.rs",
          "found": "a file"
        },
        {
          "check": "file_matches /src/a.rs",
          "found": "line 3: fn main() {"
        },
        {
          "check": "invoke ci.runs /runs/0/state",
          "found": "green"
        },
        {
          "check": "invoke ci:runs /runs/0/number",
          "found": "7"
        }
      ],
      "unblocked": [
        "t_0002"
      ],
      "percent": 50
    }
    + All 4 validations passed.
    "#);
    let requests = host.requests();
    assert_eq!(requests.len(), 4, "one call each: {requests:?}");
    assert_eq!(world.state("t_0001"), "done");
    assert!(world.data("get", json!({"id": "t_0001"}))["completed"]["at"].is_string());
}

#[test]
fn failures_say_what_was_expected_and_found() {
    let cases = [
        json!([{"file_exists": "/src/b.rs"}]),
        json!([{"file_exists": "/src"}, {"file_exists": "/src/a.rs"}]),
        json!([{"file_matches": {"path": "/src/a.rs", "pattern": "fn test"}}]),
        json!([{"file_matches": {"path": "/src/b.rs", "pattern": "fn main"}}]),
        json!([{"file_matches": {"path": "/src/a.rs", "pattern": "("}}]),
        json!([{"invoke": {"call": "ci.runs", "pointer": "/runs/0/state", "equals": "red"}}]),
        json!([{"invoke": {"call": "ci.runs", "pointer": "/runs/9", "equals": "red"}}]),
        json!([{"invoke": {"call": "ci.runs", "equals": "red"}}]),
        json!([{"invoke": {"call": "ci.start", "equals": "ok"}}]),
        json!([{"invoke": {"call": "bank.balance", "equals": "0"}}]),
        json!([{"file_exists": "/src/b.rs"}, {"manual": "It looks good."}]),
        json!([{"manual": "It looks good."}, {"manual": "It is fast."}]),
    ];
    let mut lines = Vec::new();
    for validations in cases {
        let world = world(validations.clone());
        let host = with_ci(with_files(world.host()));
        let failure = host.call(&Projects, COMPLETE, json!({"id": "t_0001"})).unwrap_err();
        let details = failure.details.as_ref().unwrap();
        let results = details["validations"].as_array().unwrap();
        assert_eq!(results.len(), validations.as_array().unwrap().len(), "all results");
        assert_eq!(world.state("t_0001"), "todo");
        let results: Vec<String> = results.iter().map(|result| format!("\n    {result}")).collect();
        lines.push(format!("{validations}\n  {}{}", explained(&failure), results.concat()));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn ungranted_validations_name_the_grant() {
    let world = world(json!([{"file_exists": "/src/a.rs"}]));
    let failure = world.reply(COMPLETE, json!({"id": "t_0001"})).unwrap_err();
    insta::assert_snapshot!(explained(&failure), @r#"
    validation_failed: `t_0001` is not done: 1 of 1 validations failed: file_exists /src/a.rs
        A validation could not run. The operator grants it in the plugin's policy file: `invoke = ["files:stat"]`.
        > get {"id":"t_0001"}, its instructions and validations
    "#);
}

#[test]
fn missing_files_lead_to_the_granted_action() {
    let check = |validation: Value, action: &'static str, expected: &str| {
        let world = world(json!([validation]));
        let host = with_files(world.host()).schema("files", action, Schema::new(json!({})));
        let failure = host.call(&Projects, COMPLETE, json!({"id": "t_0001"})).unwrap_err();
        assert_eq!(next(failure.next.as_ref()).trim(), expected);
    };
    check(
        json!({"file_exists": "/src/b.rs"}),
        "put",
        r#"> files.put {"path":"/src/b.rs"}, to write the missing file"#,
    );
    check(
        json!({"file_matches": {"path": "/src/a.rs", "pattern": "x"}}),
        "get",
        r#"> files.get {"path":"/src/a.rs"}, to see what it contains"#,
    );
}

#[test]
fn tasks_without_validations_say_so() {
    let world = world(json!([]));
    let reply = world.reply(COMPLETE, json!({"id": "t_0001"})).unwrap();
    assert_eq!(reply.message.as_deref(), Some("It has no validations: completed without checks."));
    let again = world.reply(COMPLETE, json!({"id": "t_0001"})).unwrap();
    assert_eq!(again.message.as_deref(), Some("It was done already."));
    assert_eq!(again.data["version"], 2, "once");
}

#[test]
fn a_person_is_asked_once_for_all() {
    let world = world(json!([{"manual": "It looks good."}, {"manual": "It is fast."}]));
    let host = world.host().person(Answer::Accepted(json!({"confirmed": true})));
    let reply = host.call(&Projects, COMPLETE, json!({"id": "t_0001"})).unwrap();
    assert_eq!(reply.data["validations"][1]["found"], "confirmed by the person who was asked");
    let questions = host.questions();
    assert_eq!(questions.len(), 1);
    insta::assert_snapshot!(
        format!("{}\n{:#}", questions[0].message, Value::Object(questions[0].form.clone())),
        @r#"
    Is this true of the task t_0001 "Build"?
    - It looks good.
    - It is fast.
    {
      "type": "object",
      "properties": {
        "confirmed": {
          "type": "boolean",
          "description": "Is all of this true?"
        },
        "note": {
          "type": "string",
          "description": "If not, what is missing?",
          "maxLength": 500
        }
      },
      "required": [
        "confirmed"
      ]
    }
    "#
    );
}

#[test]
fn a_persons_no_stands() {
    let check = |answer: Answer<Value>, expected: &str| {
        let world = world(json!([{"manual": "It looks good."}]));
        // The name that the caller gives is no substitute for a person who can be asked.
        let params = json!({"id": "t_0001", "confirmed_by": "Ann"});
        let failure = world.host().person(answer).call(&Projects, COMPLETE, params).unwrap_err();
        assert_eq!(failure.details.as_ref().unwrap()["validations"][0]["found"], expected);
        assert_eq!(world.state("t_0001"), "todo");
    };
    check(
        Answer::Accepted(json!({"confirmed": false, "note": "too slow"})),
        "the person did not confirm it: too slow",
    );
    check(Answer::Accepted(json!({"confirmed": false})), "the person did not confirm it");
    check(Answer::Declined, "the person declined to answer");
    check(Answer::Cancelled, "the person closed the question");
}

#[test]
fn without_questions_a_name_confirms() {
    let world = world(json!([{"manual": "It looks good."}]));
    let reply = world.reply(COMPLETE, json!({"id": "t_0001", "confirmed_by": "Ann"})).unwrap();
    assert_eq!(reply.data["validations"][0]["found"], "confirmed by Ann");
    assert_eq!(world.data("get", json!({"id": "t_0001"}))["completed"]["confirmed_by"], "Ann");
}

#[test]
fn open_dependencies_refuse_completion() {
    let world = World::login();
    insta::assert_snapshot!(
        [json!({"id": "t_0002"}), json!({"id": "t_0005"}), json!({"id": "f_0001"}), json!({"id": "t_0099"})]
            .map(|params| explained(&world.reply(COMPLETE, params).unwrap_err()))
            .join("\n"),
        @r#"
    conflict: `t_0002` cannot be completed yet: it depends on `t_0001` "Schema"
        Complete these first, or pass `ignore_dependencies: true`.
        > get {"id":"t_0001"}, it comes first
    conflict: `t_0005` cannot be completed yet: it depends on `t_0004` "Page", `f_0001` "Server"
        Complete these first, or pass `ignore_dependencies: true`.
        > get {"id":"t_0004"}, it comes first
    invalid_params: `f_0001` is not a task: features are done when their tasks are
        `progress` shows the tasks that are left.
        > progress {"id":"f_0001"}
    not_found: not found: there is no task `t_0099`
        Ids are `e_0001` (epic), `f_0001` (feature), `t_0001` (task): `list` and `get` show them.
        > list {}
    "#
    );
    let done = world.data(COMPLETE, json!({"id": "t_0002", "ignore_dependencies": true}));
    assert_eq!(done["state"], "done");
    assert_eq!(world.data("get", json!({"id": "t_0002"}))["completed"]["ignored"], json!(["t_0001"]));
}

#[test]
fn a_change_during_validation_is_a_conflict() {
    let world = world(json!([{"invoke": {"call": "ci.runs", "equals": "1"}}]));
    let store = world.store.clone();
    let host = world.host().schema("ci", "runs", Schema::new(json!({})).effect(Effect::Read)).answer(
        "ci",
        "runs",
        move |_| {
            let change = json!({"id": "t_0001", "version": 1, "title": "Build it all"});
            Host::new().store(&store).call(&Projects, "upsert", change)?;
            Ok(Reply::new(json!(1)))
        },
    );
    let failure = host.call(&Projects, COMPLETE, json!({"id": "t_0001"})).unwrap_err();
    assert_eq!(failure.to_string(), "conflict: `t_0001` was changed while its validations ran");
    assert_eq!(world.state("t_0001"), "todo");
}
