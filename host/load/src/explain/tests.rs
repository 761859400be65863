//! Explanations of small plugin folders, as printed.

use std::{path::Path, sync::Arc};

use crate::{FacadeKind, FileKind};
use loggia_facade::{Action, Effect, Object, Surface, Want};
use loggia_policy::PolicySetting;

use super::*;
use crate::explain::render::{OutputStyle, render_text};

/// A facade with these actions and requested grants.
pub fn surface(name: &str, actions: &[(&str, Effect)], wants: &[(&str, &str, bool)]) -> Surface {
    let action = |(name, effect): &(&str, Effect)| Action {
        name: (*name).to_owned(),
        summary: String::new(),
        effect: *effect,
        idempotent: false,
        open_world: false,
        long_running: false,
        details: false,
        aliases: vec![],
        needs: Vec::new(),
        group: None,
        resource: None,
        view: None,
        params: Arc::new(Object::new()),
        data: None,
        examples: vec![],
    };
    let want = |(grant, reason, needed): &(&str, &str, bool)| Want {
        grant: (*grant).to_owned(),
        reason: (*reason).to_owned(),
        needed: *needed,
    };
    Surface {
        name: name.to_owned(),
        title: name.to_owned(),
        version: "1".to_owned(),
        summary: String::new(),
        instructions: None,
        default_action: None,
        actions: actions.iter().map(action).collect(),
        views: Vec::new(),
        wants: wants.iter().map(want).collect(),
    }
}

fn policy(text: &str) -> Policy {
    let variable = |_: &str| Some("hunter2-hunter2".to_owned());
    let setting =
        PolicySetting { folder: Path::new("/plugins"), home: Some("/home/ada".into()), variable: &variable };
    Policy::parse(text, &setting).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Explains the first of these plugins, each with its policy.
fn explained(plugins: &[(Surface, &str)]) -> PolicyExplanation {
    let policies: Vec<Policy> = plugins.iter().map(|(_, text)| policy(text)).collect();
    let subjects = plugins.iter().zip(&policies).map(|((surface, _), policy)| PolicySubject {
        name: &surface.name,
        policy,
        surface: Some(surface),
        kind: COMPONENT,
    });
    explain(&subjects.collect::<Vec<_>>()).unwrap()
}

const COMPONENT: FacadeKind = FacadeKind::File(FileKind::Component);

const ALL: [(&str, Effect); 3] =
    [("list", Effect::Read), ("add", Effect::Write), ("delete", Effect::Destructive)];

const DIR: &str = "dirs = [{ path = \"/srv/notes\", at = \"/notes\", access = \"read\" }]";
const HTTP: &str = "http = [\"https://api.example.com\"]";

#[test]
fn a_plugin_without_a_policy_has_no_grants() {
    let wants = &[("dirs", "keeps notes", false), ("store", "remembers", true), ("gpu", "dreams", false)];
    insta::assert_snapshot!(render_text(
        &explained(&[(surface("notes", &ALL, wants), "")]),
        OutputStyle::Plain
    ));
}

#[test]
fn all_grants_are_explained() {
    let all = r#"
        [grants]
        dirs = [
            { path = "~/notes", at = "/notes", access = "read-write" },
            { path = "/srv/x", at = "/x", access = "read" },
            { path = "~/work", roots = true, at = "/", access = "read-write" },
        ]
        http = [
            "https://api.example.com",
            { url = "https://*.example.org:8443", methods = ["GET", "POST", "DELETE"], reads = ["POST"] },
            { url = "http://127.0.0.1:8080", methods = ["GET"] },
            { url = "https://hooks.example.com", methods = ["POST"] },
        ]
        env = { LANG = "C", TZ = "UTC-hidden" }
        config = { region = "eu-hidden", pages = 5 }
        secrets = [
            { from-env = "TOKEN", host = "api.example.com", header = "Authorization", format = "Bearer {}" },
            { from-file = "~/key", host = "a.example.org:8443", header = "X-Key" },
        ]
        store = true
        caller = true
        invoke = ["projects:create", "search:*"]
        elicit = true
        [limits]
        memory = "128MiB"
        concurrency = 2
        [actions]
        deny = ["purge"]
        confirm = ["delete"]
        chain = "follow"
    "#;
    let wants = &[("store", "remembers", true), ("http: https://other.example.com", "more", false)];
    let explanation = explained(&[(surface("notes", &ALL, wants), all)]);
    let shown = render_text(&explanation, OutputStyle::Plain);
    insta::assert_snapshot!(shown);
    let json = serde_json::to_string_pretty(&explanation).unwrap();
    for hidden in ["hunter2-hunter2", "hidden"] {
        assert!(!shown.contains(hidden) && !json.contains(hidden));
    }
    insta::assert_snapshot!("json", json);
}

#[test]
fn reach_through_other_facades_is_bounded_by_effects() {
    let projects = surface("projects", &ALL, &[]);
    let search = surface("search", &[("web", Effect::Read), ("index", Effect::Write)], &[]);
    let archive = surface("archive", &ALL, &[]);
    let plugins = [
        (
            surface("notes", &[("list", Effect::Read), ("add", Effect::Write)], &[]),
            format!("[grants]\n{DIR}\ninvoke = [\"projects:*\", \"nowhere:go\"]"),
        ),
        (
            projects,
            "[grants]\ninvoke = [\"search:*\", \"notes:*\"]\n[actions]\nconfirm = [\"add\"]".to_owned(),
        ),
        (search, format!("[grants]\n{HTTP}\ninvoke = [\"archive:delete\"]")),
        (archive, "[grants]\nstore = true".to_owned()),
    ];
    let plugins: Vec<_> = plugins.iter().map(|(surface, text)| (surface.clone(), text.as_str())).collect();
    insta::assert_snapshot!(render_text(&explained(&plugins), OutputStyle::Plain));
}

#[test]
fn a_star_reaches_every_other_facade() {
    let tools = surface(
        "tools",
        &[("read", Effect::Read), ("execute", Effect::Destructive)],
        &[("invoke: *", "to call", true)],
    );
    let files = surface("files", &ALL, &[]);
    let search = surface("search", &[("web", Effect::Read)], &[]);
    let plugins = [
        (tools, "[grants]\ninvoke = [\"*\"]".to_owned()),
        (files, format!("[grants]\n{DIR}\n[actions]\ndeny = [\"delete\"]\nconfirm = [\"add\"]")),
        (search, format!("[grants]\n{HTTP}\ninvoke = [\"*\"]")),
    ];
    let plugins: Vec<_> = plugins.iter().map(|(surface, text)| (surface.clone(), text.as_str())).collect();
    let explanation = explained(&plugins);
    insta::assert_snapshot!(render_text(&explanation, OutputStyle::Plain));
    let names: Vec<&str> = explanation.reaches.iter().map(|reach| reach.facade.as_str()).collect();
    assert_eq!(names, ["files", "search"]);
}

#[test]
fn a_possible_data_leak_is_warned_of() {
    let read = [("list", Effect::Read)];
    let check = |own: &str, other: &str, expected: Option<(&[&str], &[&str])>| {
        let plugins = [
            (surface("notes", &read, &[]), format!("[grants]\n{own}")),
            (surface("other", &ALL, &[]), format!("[grants]\n{other}")),
        ];
        let plugins: Vec<_> =
            plugins.iter().map(|(surface, text)| (surface.clone(), text.as_str())).collect();
        let warning = explained(&plugins).warning.map(|warning| (warning.reads, warning.sends));
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let expected = expected.map(|(reads, sends)| (owned(reads), owned(sends)));
        assert_eq!(warning, expected, "{own} {other}");
    };
    let (to, by) = ("https://api.example.com", "https://api.example.com, by calling other");
    check("", "", None);
    check(DIR, "", None);
    check(HTTP, "", None);
    check(DIR, HTTP, None);
    check(&format!("{DIR}\n{HTTP}"), "", Some((&["/srv/notes"], &[to])));
    let post = "http = [{ url = \"https://api.example.com\", methods = [\"POST\"] }]";
    check(&format!("{DIR}\n{post}"), "", None);
    check(
        &format!("{DIR}\n{}", post.replace(" }", ", reads = [\"POST\"] }")),
        "",
        Some((&["/srv/notes"], &[to])),
    );
    check(&format!("store = true\n{HTTP}"), "", Some((&["its state"], &[to])));
    check(&format!("{DIR}\ninvoke = [\"other:list\"]"), HTTP, Some((&["/srv/notes"], &[by])));
    let reads = "/srv/notes, by calling other";
    check(&format!("{HTTP}\ninvoke = [\"other:*\"]"), DIR, Some((&[reads], &[to])));
    check("invoke = [\"other:list\"]", &format!("{DIR}\n{HTTP}"), Some((&[reads], &[by])));
    // A read action cannot call a write action, so nothing is reached.
    check(&format!("{HTTP}\ninvoke = [\"other:add\"]"), DIR, None);
}

#[test]
fn grants_are_explained_as_far_as_usable() {
    let read = [("list", Effect::Read)];
    let granted = format!("[grants]\n{}\n{HTTP}\nstore = true", DIR.replace("\"read\"", "\"read-write\""));
    let says = |explanation: PolicyExplanation| {
        let rights = explanation.may.into_iter().map(|right| right.says);
        rights.collect::<Vec<_>>()
    };
    let expected = [
        "read /srv/notes, mounted at /notes; none of its actions writes",
        "send GET, HEAD requests to https://api.example.com",
        "read its durable state; none of its actions changes it",
    ];
    assert_eq!(says(explained(&[(surface("notes", &read, &[]), &granted)])), expected);
    // The same holds for reached facades; calls of worse actions reach more.
    let caller = |rules: &str| {
        let own = format!("[grants]\ninvoke = [{rules}]");
        let plugins = [(surface("a", &ALL, &[]), own.as_str()), (surface("notes", &ALL, &[]), &granted)];
        explained(&plugins).reaches[0].may[0].says.clone()
    };
    assert_eq!(caller("\"notes:list\""), expected[0]);
    assert!(caller("\"notes:list\", \"notes:add\"").starts_with("read and write"));
}

#[test]
fn a_policy_is_explained_without_its_plugin() {
    let policy = policy(&format!("[grants]\n{DIR}\n[actions]\ndeny = [\"purge\"]\nconfirm = [\"delete\"]"));
    let subject = PolicySubject { name: "notes", policy: &policy, surface: None, kind: COMPONENT };
    insta::assert_snapshot!(render_text(&explain(&[subject]).unwrap(), OutputStyle::Plain));
    assert_eq!(explain(&[]), None);
}

#[test]
fn a_plugins_text_cannot_control_the_terminal() {
    let wants = &[("dirs\u{1b}[2J", "a\nit may do anything", true)];
    let explanation = explained(&[(surface("notes", &ALL, wants), "")]);
    let shown = render_text(&explanation, OutputStyle::Plain);
    assert!(!shown.contains('\u{1b}') && !shown.contains("\nit may do anything"), "{shown}");
    let coloured = render_text(&explanation, OutputStyle::Coloured);
    assert!(coloured.starts_with("\u{1b}[1mnotes may\u{1b}[0m\n"), "{coloured}");
}

#[test]
fn facades_that_call_each_other_are_listed_once() {
    let plugins = [
        (surface("a", &ALL, &[]), "[grants]\ninvoke = [\"b:*\", \"c:list\"]"),
        (surface("b", &ALL, &[]), "[grants]\ninvoke = [\"a:*\", \"c:*\"]"),
        (surface("c", &ALL, &[]), "[grants]\ninvoke = [\"a:*\", \"b:*\"]"),
    ];
    let reaches = explained(&plugins).reaches;
    let facades: Vec<(&str, usize)> =
        reaches.iter().map(|reach| (reach.facade.as_str(), reach.actions.len())).collect();
    assert_eq!(facades, [("b", 3), ("c", 3)]);
}

#[test]
fn an_upstream_is_not_sandboxed() {
    let (notes, server) = (surface("notes", &ALL, &[]), surface("server", &ALL, &[]));
    let reading = policy(
        "[grants]\ndirs = [{ path = \"/srv\", at = \"/srv\", access = \"read\" }]\ninvoke = [\"server:*\"]",
    );
    let (plain, kind) = (Policy::default(), FacadeKind::Upstream);
    let upstream = || PolicySubject { name: "server", policy: &plain, surface: Some(&server), kind };
    let own = explain(&[upstream()]).unwrap();
    assert_eq!(own.may[0].grant, "upstream");
    assert_eq!(own.warning, None);
    let reader = PolicySubject { name: "notes", policy: &reading, surface: Some(&notes), kind: COMPONENT };
    let warning = explain(&[reader, upstream()]).unwrap().warning.unwrap();
    assert_eq!(warning.sends, ["the upstream server, by calling server"]);
}

#[test]
fn an_api_needs_no_grant_of_its_own_server() {
    let wants =
        &[("http: https://api.example.com", "its server", false), ("secrets: TOKEN", "credential", false)];
    let (shop, plain) = (surface("shop", &ALL, wants), Policy::default());
    let lacks = |kind| {
        let subject = PolicySubject { name: "shop", policy: &plain, surface: Some(&shop), kind };
        explain(&[subject]).unwrap().lacks.into_iter().map(|lack| lack.grant).collect::<Vec<_>>()
    };
    assert_eq!(lacks(FacadeKind::File(FileKind::Api)), ["secrets: TOKEN"]);
    assert_eq!(lacks(COMPONENT), ["http: https://api.example.com", "secrets: TOKEN"]);
}
