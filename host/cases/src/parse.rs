//! Parses a cases file.

use std::{collections::BTreeMap, time::Duration};

use loggia_facade::{Answer, Object};
use loggia_workflow::yaml::{self, MapEntry, YamlNode, YamlValue};
use serde_json::Value;

use super::{
    case_file::{
        CaseFile, CaseLimits, ExpectedEnvelope, ExpectedStore, HttpSource, PersonReply, TestCase, to_slug,
    },
    fields::{NodeReader, find},
    keys::{CASE_KEYS, EXPECT_KEYS, FILE_KEYS, LIMIT_KEYS, OWN_EXPECT_KEYS, PERSON_KEYS, STORE_KEYS, names},
    policy::check_overrides,
    problem::CaseProblem,
};

/// Longest name of a case: it becomes a part of file names.
const NAME_CHARS: usize = 100;

/// Parses a file.
///
/// # Errors
///
/// All problems, in the order of their lines.
pub fn parse_case_file(text: &str) -> Result<CaseFile, Vec<CaseProblem>> {
    let tree = yaml::parse(text).map_err(|problem| vec![problem.into()])?;
    let mut reader = NodeReader::default();
    reader.problems.extend(tree.problems.into_iter().map(CaseProblem::from));
    let file = read_file(&mut reader, &tree.root);
    match file {
        Some(file) if reader.problems.is_empty() => Ok(file),
        _ => {
            reader.problems.sort();
            Err(reader.problems)
        }
    }
}

fn read_file(reader: &mut NodeReader, root: &YamlNode) -> Option<CaseFile> {
    let fields = reader.fields(root, "", &names(FILE_KEYS))?;
    let plugin = find(fields, "plugin").and_then(|node| reader.text(node, "plugin")).map(str::to_owned);
    let with = find(fields, "with").and_then(|node| read_names(reader, node)).unwrap_or_default();
    let policy = find(fields, "policy").and_then(|node| {
        let overrides = reader.object(node, "policy")?;
        check_overrides(&overrides).map_err(|why| reader.report(CaseProblem::of(node, why))).ok()?;
        Some(overrides)
    });
    let http = match find(fields, "http").and_then(|node| reader.text(node, "http")) {
        None => HttpSource::Nothing,
        Some("live") => HttpSource::Live,
        Some(folder) => HttpSource::Folder(folder.to_owned()),
    };
    let surface = find(fields, "surface").and_then(|node| reader.flag(node, "surface")).unwrap_or(false);
    let limits = find(fields, "limits").and_then(|node| read_limits(reader, node)).unwrap_or_default();
    let cases = match find(fields, "cases") {
        Some(node) => read_cases(reader, node),
        None => {
            let problem = CaseProblem::of(root, "the file has no `cases`");
            reader.report(problem.hint("write `cases:`, and a list of calls with what you expect"));
            Vec::new()
        }
    };
    let policy = policy.unwrap_or_default();
    Some(CaseFile { plugin, with, policy, http, surface, limits, cases })
}

fn read_names(reader: &mut NodeReader, node: &YamlNode) -> Option<Vec<String>> {
    let items = reader.items(node, "with")?;
    Some(items.iter().filter_map(|item| reader.text(item, "with").map(str::to_owned)).collect())
}

fn read_limits(reader: &mut NodeReader, node: &YamlNode) -> Option<CaseLimits> {
    let fields = reader.fields(node, "limits", &names(LIMIT_KEYS))?;
    let mut number =
        |key: &str| find(fields, key).and_then(|node| reader.count(node, &format!("limits.{key}")));
    let tokens = number("tokens").and_then(|tokens| usize::try_from(tokens).ok());
    Some(CaseLimits { tokens, p95: number("p95-ms").map(Duration::from_millis) })
}

fn read_cases(reader: &mut NodeReader, node: &YamlNode) -> Vec<TestCase> {
    let Some(items) = reader.items(node, "cases") else { return Vec::new() };
    if items.is_empty() {
        reader.report(CaseProblem::of(node, "`cases` is empty"));
    }
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut cases = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let Some(case) = read_case(reader, item, &format!("cases[{at}]")) else { continue };
        // Names that differ in punctuation alone would share a snapshot.
        match names.insert(to_slug(&case.name), item.line) {
            Some(line) => {
                let message = format!("the case at line {line} has the same name, `{}`", case.name);
                reader.report(CaseProblem::of(item, message).hint("give each case a name of its own"));
            }
            None => cases.push(case),
        }
    }
    cases
}

fn read_case(reader: &mut NodeReader, node: &YamlNode, path: &str) -> Option<TestCase> {
    let fields = reader.fields(node, path, &names(CASE_KEYS))?;
    let inner = |key: &str| format!("{path}.{key}");
    let missing = |reader: &mut NodeReader, key: &str, hint: &str| {
        reader.report(CaseProblem::of(node, format!("`{path}` has no `{key}`")).hint(hint));
    };
    let name = match find(fields, "name") {
        Some(node) => reader.text(node, &inner("name")).filter(|name| {
            let fits = name.chars().count() <= NAME_CHARS && !to_slug(name).is_empty();
            if !fits {
                let message = format!("a name has 1 to {NAME_CHARS} characters, with a letter or digit");
                reader.problems.push(CaseProblem::of(node, message));
            }
            fits
        }),
        None => {
            missing(reader, "name", "name it by the behaviour that it shows");
            None
        }
    };
    let call = match find(fields, "call") {
        Some(node) => reader.object(node, &inner("call")).filter(|call| {
            let names = call.contains_key("action") || call.contains_key("cmd");
            if !names {
                let problem = CaseProblem::of(node, format!("`{path}.call` has no `action`"));
                reader.problems.push(problem.hint("write { action: NAME, PARAMETER: VALUE }"));
            }
            names
        }),
        None => {
            missing(reader, "call", "write call: { action: NAME, PARAMETER: VALUE }");
            None
        }
    };
    let person = find(fields, "person").and_then(|node| read_person(reader, node, &inner("person")));
    let expect = match find(fields, "expect") {
        Some(node) => read_expect(reader, node, &inner("expect")),
        None => Some(ExpectedEnvelope { ok: true, ..ExpectedEnvelope::default() }),
    };
    let mut store = |key: &str| {
        find(fields, key).map_or(Some(ExpectedStore::default()), |node| read_store(reader, node, &inner(key)))
    };
    let (state, own_state) = (store("state"), store("own-state"));
    Some(TestCase {
        name: name?.to_owned(),
        line: node.line,
        call: call?,
        person,
        expect: expect?,
        state: state?,
        own_state: own_state?,
    })
}

fn read_person(reader: &mut NodeReader, node: &YamlNode, path: &str) -> Option<Vec<PersonReply>> {
    let items = reader.items(node, path)?;
    Some(items.iter().filter_map(|item| read_reply(reader, item, path)).collect())
}

fn read_reply(reader: &mut NodeReader, node: &YamlNode, path: &str) -> Option<PersonReply> {
    let fields = reader.fields(node, path, &names(PERSON_KEYS))?;
    let asks = find(fields, "asks").cloned();
    let answers: Vec<&MapEntry> = fields.iter().filter(|entry| entry.key != "asks").collect();
    let [entry] = answers[..] else {
        let message = format!("each reply of `{path}` has one of `accepted`, `declined` and `cancelled`");
        reader.report(CaseProblem::of(node, message));
        return None;
    };
    let answer = match (entry.key.as_str(), &entry.node.value) {
        ("accepted", YamlValue::Plain(Value::Bool(true), _)) => Answer::Accepted(Object::new().into()),
        ("accepted", _) => Answer::Accepted(reader.object(&entry.node, &format!("{path}.accepted"))?.into()),
        ("declined", YamlValue::Plain(Value::Bool(true), _)) => Answer::Declined,
        ("cancelled", YamlValue::Plain(Value::Bool(true), _)) => Answer::Cancelled,
        (key, _) => {
            reader.report(CaseProblem::of(&entry.node, format!("`{path}.{key}` must be true")));
            return None;
        }
    };
    Some(PersonReply { asks, answer })
}

fn read_expect(reader: &mut NodeReader, node: &YamlNode, path: &str) -> Option<ExpectedEnvelope> {
    let known = names(EXPECT_KEYS);
    let (_, in_envelope) = known.split_at(OWN_EXPECT_KEYS);
    let fields = reader.fields(node, path, &known)?;
    let ok = find(fields, "ok").and_then(|node| reader.flag(node, &format!("{path}.ok")));
    let snapshot = find(fields, "snapshot").and_then(|node| reader.flag(node, &format!("{path}.snapshot")));
    // Null is a value here: `data: null`.
    let members: Vec<(String, YamlNode)> = fields
        .iter()
        .filter(|entry| in_envelope.contains(&entry.key.as_str()))
        .map(|entry| (entry.key.clone(), entry.node.clone()))
        .collect();
    let exactly = fields.iter().find(|entry| entry.key == "exactly").map(|entry| entry.node.clone());
    let fails = members.iter().any(|(key, _)| matches!(key.as_str(), "code" | "error"));
    if ok == Some(true) && fails {
        let message = format!("`{path}` expects success, and a failure's `code` or `error`");
        reader.report(CaseProblem::of(node, message));
    }
    members.iter().map(|(_, node)| node).chain(&exactly).for_each(|node| check_patterns(reader, node));
    Some(ExpectedEnvelope { ok: ok.unwrap_or(!fails), members, exactly, snapshot: snapshot.unwrap_or(false) })
}

fn read_store(reader: &mut NodeReader, node: &YamlNode, path: &str) -> Option<ExpectedStore> {
    let fields = reader.fields(node, path, &names(STORE_KEYS))?;
    let before = match find(fields, "before") {
        Some(node) => Some(reader.object(node, &format!("{path}.before"))?),
        None => None,
    };
    let mut expected = |key: &str| {
        let node = find(fields, key)?;
        reader.entries(node, &format!("{path}.{key}"))?;
        check_patterns(reader, node);
        Some(node.clone())
    };
    Some(ExpectedStore { before, after: expected("after"), exactly: expected("exactly") })
}

/// Reports invalid patterns and numbers before anything runs.
fn check_patterns(reader: &mut NodeReader, node: &YamlNode) {
    match &node.value {
        YamlValue::Text(text) => {
            if let Some(Err(why)) = super::compare::pattern(text) {
                reader.report(CaseProblem::of(node, format!("the pattern {text} is not valid: {why}")));
            }
        }
        YamlValue::List(items) => items.iter().for_each(|item| check_patterns(reader, item)),
        YamlValue::Map(entries) => entries.iter().for_each(|entry| check_patterns(reader, &entry.node)),
        YamlValue::Unreal(_) => drop(reader.json(node)),
        YamlValue::Plain(..) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKETCH: &str = "\
policy: { store: true, elicit: true }
http: cassettes/
cases:
  - name: adds
    call: { action: add, text: milk }
    expect: { ok: true, data: { id: n_1, text: milk } }
  - name: refuses-empty
    call: { action: add, text: \"\" }
    expect: { ok: false, code: invalid_params, error: /at least 1/ }
  - name: asks-before-delete
    person: [ { declined: true } ]
    call: { action: delete, id: n_1 }
    expect: { ok: false, code: denied }
limits: { tokens: 300, p95-ms: 20 }
";

    #[test]
    fn a_file_becomes_data() {
        let file = parse_case_file(SKETCH).unwrap();
        assert_eq!(file.http, HttpSource::Folder("cassettes/".into()));
        assert_eq!(file.limits, CaseLimits { tokens: Some(300), p95: Some(Duration::from_millis(20)) });
        let names: Vec<&str> = file.cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, ["adds", "refuses-empty", "asks-before-delete"]);
        let ok: Vec<bool> = file.cases.iter().map(|case| case.expect.ok).collect();
        assert_eq!(ok, [true, false, false]);
        assert_eq!(file.cases[2].person.as_ref().unwrap()[0].answer, Answer::Declined);
        assert!(file.cases[0].person.is_none());
    }

    #[test]
    fn mistakes_are_reported_at_their_places() {
        let check = |text: &str, expected: &str| {
            let problems = parse_case_file(text).unwrap_err();
            let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
            assert_eq!(shown.join("\n"), expected, "{text}");
        };
        let case = "cases: [{ name: a, call: { action: x } }]\n";
        check(
            &format!("{case}polcy: {{}}\n"),
            "line 2, column 1: the file has an unknown key `polcy` (did you mean `policy`?)",
        );
        check(
            "cases:\n  - name: a\n    call: { action: x }\n    expect: { dat: 1 }\n",
            "line 4, column 15: `cases[0].expect` has an unknown key `dat` (did you mean `data`?)",
        );
        check("a", "line 1, column 1: `the file` must be an object, not a text");
        check(
            "http: x\n",
            "line 1, column 1: the file has no `cases` (write `cases:`, and a list of calls with what you expect)",
        );
        check("cases: []\n", "line 1, column 8: `cases` is empty");
        check(
            "cases:\n  - call: { x: 1 }\n",
            "line 2, column 5: `cases[0]` has no `name` (name it by the behaviour that it shows)\n\
             line 2, column 11: `cases[0].call` has no `action` (write { action: NAME, PARAMETER: VALUE })",
        );
        check(
            "cases:\n  - { name: a b, call: { action: x } }\n  - { name: A-b, call: { action: x } }\n",
            "line 3, column 5: the case at line 2 has the same name, `A-b` (give each case a name of its own)",
        );
        check(
            "cases:\n  - name: a\n    call: { action: x }\n    expect: { data: { b: '/[/' } }\n    person: [{}]\n",
            "line 4, column 26: the pattern /[/ is not valid: it is no regular expression\n\
             line 5, column 14: each reply of `cases[0].person` has one of `accepted`, `declined` and `cancelled`",
        );
        check(
            &format!("limits: {{ p95-ms: 0 }}\n{case}"),
            "line 1, column 19: `limits.p95-ms` must be a whole number greater than 0, not a number",
        );
        check("a: [\n", "line 2: invalid YAML: while parsing a node, did not find expected node content");
    }
}
