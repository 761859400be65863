//! Tests of the table: requests of plugins for grants.

use std::sync::Arc;

use loggia_facade::{Action, Object};

use super::*;
use crate::{file::tests::parse, model::Policy};

fn needing(name: &str, needs: &[&str]) -> Action {
    Action {
        name: name.to_owned(),
        summary: "Works.".to_owned(),
        effect: Effect::Read,
        idempotent: false,
        open_world: false,
        long_running: false,
        details: false,
        aliases: Vec::new(),
        needs: needs.iter().map(|&need| need.to_owned()).collect(),
        group: None,
        resource: None,
        view: None,
        params: Arc::new(Object::new()),
        data: None,
        examples: Vec::new(),
    }
}

#[test]
fn actions_without_a_needed_grant_are_listed() {
    let text = String::new;
    let surface = Surface {
        name: "notes".to_owned(),
        title: text(),
        version: text(),
        summary: text(),
        instructions: None,
        default_action: None,
        actions: vec![
            needing("plain", &[]),
            needing("embed", &["config: embeddings"]),
            needing("both", &["store", "config: embeddings"]),
            needing("odd", &["gpu"]),
        ],
        views: Vec::new(),
        wants: Vec::new(),
    };
    let check = |policy: &str, expected: &[(&str, &str)]| {
        let unmet = unmet_needs(&surface, &parse(policy).unwrap());
        let unmet: Vec<_> = unmet.iter().map(|unmet| (&*unmet.action, &*unmet.grant)).collect();
        assert_eq!(unmet, expected, "{policy}");
    };
    check("", &[("embed", "config: embeddings"), ("both", "store"), ("odd", "gpu")]);
    check("[grants]\nconfig.web = 1", &[("embed", "config: embeddings"), ("both", "store"), ("odd", "gpu")]);
    check(
        "[grants]\nstore = true",
        &[("embed", "config: embeddings"), ("both", "config: embeddings"), ("odd", "gpu")],
    );
    check("[grants]\nstore = true\nconfig.embeddings = { url = \"x\" }", &[("odd", "gpu")]);
}

#[test]
fn requests_name_a_grant_and_optionally_a_detail() {
    let check = |text: &str, expected: Option<(&str, Option<&str>)>| {
        let request = wanted(text).map(|want| (want.grant.key().name, want.detail));
        assert_eq!(request, expected, "{text}");
    };
    check("dirs", Some(("dirs", None)));
    check("dirs: /notes read-write", Some(("dirs", Some("/notes read-write"))));
    check("http: https://api.example.com", Some(("http", Some("https://api.example.com"))));
    check("secrets:GITHUB_TOKEN", Some(("secrets", Some("GITHUB_TOKEN"))));
    check("invoke: projects:create", Some(("invoke", Some("projects:create"))));
    check("store:", Some(("store", None)));
    check("network", None);
    check("", None);
    check("https://api.example.com", None);
}

#[test]
fn granted_requests_are_recognised() {
    let policy = parse(
        r#"[grants]
        dirs = [{ path = "a", at = "/a", access = "read" }, { path = "b", at = "/b", access = "read-write" }]
        http = ["https://*.example.com"]
        secrets = [{ from-env = "GITHUB_TOKEN", host = "api.example.com", header = "X" }]
        env = { LANG = "C" }
        config = { region = "eu" }
        store = true
        invoke = ["projects:create", "search:*"]"#,
    )
    .unwrap();
    let check = |text: &str, expected: bool| {
        let request = wanted(text).unwrap();
        assert_eq!(request.is_granted(&policy), expected, "{text}");
        assert!(!request.is_granted(&Policy::default()), "{text}");
    };
    check("dirs", true);
    check("dirs: /a", true);
    check("dirs: /a/ read-write", false);
    check("dirs: /b read-write", true);
    check("dirs: /c", false);
    check("dirs: a folder for notes", true);
    check("http", true);
    check("http: https://api.example.com", true);
    check("http: https://example.com", false);
    check("http: http://api.example.com", false);
    check("secrets: GITHUB_TOKEN", true);
    check("secrets: GITHUB_TOKEN for api.example.com", true);
    check("secrets: OTHER", false);
    check("env: LANG", true);
    check("env: TZ", false);
    check("config: region", true);
    check("config: zone", false);
    check("store", true);
    check("store: 16MiB", true);
    check("store: 64MiB", false);
    check("store: much", true);
    check("invoke: projects:create", true);
    check("invoke: projects:delete", false);
    check("invoke: projects:*", false);
    check("invoke: search:web", true);
    check("invoke: search:*", true);
    check("invoke: projects:create, search:web to plan", true);
    check("invoke: projects:create, projects:delete", false);
    check("invoke", true);
    check("env: LANG, TZ", false);
    check("caller", false);
    check("elicit", false);
}

#[test]
fn roots_satisfy_only_requests_without_a_path() {
    for (access, reads, writes) in [("read", true, false), ("read-write", true, true)] {
        let dirs =
            format!("[grants]\ndirs = [{{ path = 'a', roots = true, at = '/a', access = '{access}' }}]");
        let policy = parse(&dirs).unwrap();
        for (text, expected) in [
            ("dirs", reads),
            ("dirs: where the code is", reads),
            ("dirs: read-write", writes),
            ("dirs: /a", false),
            ("dirs: /a read-write", false),
        ] {
            assert_eq!(wanted(text).unwrap().is_granted(&policy), expected, "{access} {text}");
        }
    }
}

/// The macros of the SDK refuse requests of other grants when a plugin is compiled.
#[test]
#[allow(clippy::disallowed_methods, reason = "tests read the sources of the repository")]
fn the_sdk_knows_all_grants() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/macros/src/grants.rs");
    let text = std::fs::read_to_string(path).unwrap();
    let list = text.split_once("= [").and_then(|(_, rest)| rest.split_once("];")).unwrap().0;
    let known: Vec<&str> = list.split(',').map(|name| name.trim().trim_matches('"')).collect();
    assert_eq!(known, names().collect::<Vec<_>>());
}
