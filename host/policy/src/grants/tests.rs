//! Tests of the table: requests of plugins for grants.

use super::*;
use crate::{file::tests::parse, model::Policy};

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
