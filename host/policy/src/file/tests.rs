//! Tests of whole policies: values and messages.

use std::path::{Path, PathBuf};

use loggia_egress::{HostPattern, SecretSource, UrlScheme};
use loggia_schema::{ActionPolicy, SchemaForm, ToolSplit};
use proptest::prelude::*;
use serde_json::json;

use crate::{
    document::PolicySetting,
    limits,
    model::{ChainRule, Exposed, FacadeRules, PluginGrants, PluginLimits, Policy, StateGrant},
};

/// Parses a policy in `/plugins`, with a small environment.
pub(crate) fn parse(text: &str) -> Result<Policy, String> {
    let variable = |name: &str| match name {
        "GITHUB_TOKEN" => Some("hunter2-hunter2\n".to_owned()),
        "HOST" => Some("api.example.com".to_owned()),
        "QUOTA" => Some("lots-of-secrets".to_owned()),
        "EMPTY" => Some(" ".to_owned()),
        "LINES" => Some("a\nb".to_owned()),
        _ => None,
    };
    let home = Some(PathBuf::from("/home/ada"));
    let setting = PolicySetting { folder: Path::new("/plugins"), home, variable: &variable };
    Policy::parse(text, &setting).map_err(|e| e.to_string())
}

fn grants(text: &str) -> PluginGrants {
    parse(&format!("[grants]\n{text}")).unwrap().grants
}

#[test]
fn an_empty_policy_grants_nothing() {
    for text in ["", "[grants]\n[limits]\n[actions]\n[expose]\n"] {
        let policy = parse(text).unwrap();
        assert_eq!((policy.grants, policy.limits), (PluginGrants::default(), PluginLimits::default()));
        assert_eq!((policy.terms, policy.expose), (ActionPolicy::default(), Exposed::default()));
        assert!(policy.rules.invoke.is_empty() && !policy.rules.elicit);
    }
}

#[test]
fn the_policy_of_the_guide_sets_the_defaults() {
    let guide = include_str!("../../../../docs/operators/serving.md");
    let block = guide.split("```").find(|block| block.starts_with("toml\n[grants]")).unwrap();
    let block = block.strip_prefix("toml").unwrap();
    let policy = parse(block).unwrap();
    assert_eq!(policy.limits, PluginLimits::default());
    assert_eq!(policy.rules, FacadeRules::default());
    assert_eq!(policy.grants.dirs.len(), 1);
    assert_eq!(policy.terms, ActionPolicy::default());
    assert_eq!((policy.rules.chain, policy.rules.elicit), (ChainRule::default(), false));
    assert!(policy.rules.invoke.is_empty());
    let exposed = Exposed {
        form: Some(SchemaForm::default()),
        split: Some(ToolSplit::default()),
        ..Exposed::default()
    };
    assert_eq!(policy.expose, exposed);
    // It has the limits that are set most often, each with its maximum at the end of the line.
    let (_, section) = block.split_once("[limits]").unwrap();
    let mut count = 0;
    for limit in limits::LIMITS {
        let Some(line) = section.lines().find(|line| line.split(' ').next() == Some(limit.name())) else {
            continue;
        };
        let (_, max) = line.rsplit_once(' ').unwrap();
        assert_eq!(max, limit.unit.text(limit.most), "{line}");
        count += 1;
    }
    assert!(count > 15, "{count}");
}

#[test]
fn directories_resolve_against_file_or_home() {
    let grants = grants(
        r#"dirs = [
            { path = "~/notes", at = "/notes", access = "read-write" },
            { path = "data", at = "/data/", access = "read" },
            { path = "/srv/${HOST}", at = "/x/${UNSET:-y}", access = "read" },
        ]"#,
    );
    let paths: Vec<String> =
        grants.dirs.iter().map(|d| format!("{} {} {}", d.path.display(), d.at, d.writable)).collect();
    let expected =
        ["/home/ada/notes /notes true", "/plugins/data /data false", "/srv/api.example.com /x/y false"];
    assert_eq!(paths, expected);
}

#[test]
fn directories_can_be_the_clients_roots() {
    let grants = grants(
        r#"dirs = [
            { path = "~/work", roots = true, at = "/", access = "read-write" },
            { path = "more", roots = true, at = "/more/", access = "read" },
            { path = "~/notes", roots = false, at = "/notes", access = "read" },
        ]"#,
    );
    let read: Vec<_> =
        grants.dirs.iter().map(|d| (d.described(), d.roots, d.at.as_str(), d.writable)).collect();
    let roots = |path: &str| format!("the directories below {path} that the client names as its roots");
    let expected = [
        (roots("/home/ada/work"), true, "", true),
        (roots("/plugins/more"), true, "/more", false),
        ("/home/ada/notes".to_owned(), false, "/notes", false),
    ];
    assert_eq!(read, expected);
}

#[test]
fn requests_are_granted_by_destination_and_method() {
    let grants = grants(
        r#"http = [
            "https://api.github.com",
            { url = "https://*.example.com:8443", methods = ["GET", "POST", "GET"], reads = ["POST"] },
        ]"#,
    );
    let [all, some] = grants.http.rules.as_slice() else { panic!("{grants:?}") };
    assert_eq!(all.to.host, HostPattern::Name("api.github.com".into()));
    assert_eq!((all.to.scheme, all.to.port, &all.methods), (UrlScheme::Https, 443, &None));
    assert_eq!((&some.to.host, some.to.port), (&HostPattern::Below("example.com".into()), 8443));
    assert_eq!(some.methods, Some(vec!["GET".into(), "POST".into()]));
    assert_eq!(some.reads, ["POST"]);
}

#[test]
fn secrets_come_from_three_sources() {
    let grants = grants(
        r#"
        http = ["https://api.github.com", "https://*.example.com:8443"]
        secrets = [
            { from-env = "GITHUB_TOKEN", host = "API.github.com", header = "Authorization", format = "Bearer {}" },
            { from-file = "token", host = "a.example.com:8443", header = "X-Key" },
            { per-caller = true, host = "b.example.com:8443", header = "X-Key" },
        ]"#,
    );
    let [first, second, third] = grants.http.secrets.as_slice() else { panic!("{grants:?}") };
    assert_eq!(first.source, SecretSource::Value("GITHUB_TOKEN".into(), "hunter2-hunter2".into()));
    assert_eq!((first.host.as_str(), first.port), ("api.github.com", 443));
    assert_eq!((first.header.as_str(), first.format.as_str()), ("authorization", "Bearer {}"));
    assert_eq!(second.source, SecretSource::File("/plugins/token".into()));
    assert_eq!((second.port, second.format.as_str()), (8443, "{}"));
    assert_eq!(third.source, SecretSource::Caller);
}

fn stored(quota: u64, is_per_caller: bool) -> Option<StateGrant> {
    Some(StateGrant { quota, is_per_caller })
}

#[test]
fn env_config_store_and_caller_are_granted() {
    let granted = grants(
        r#"
        env = { LANG = "en_US.UTF-8", HOST = "${HOST}" }
        store = true
        caller = true
        [grants.config]
        region = "eu"
        nested = { list = [1, 2.5, true], since = 1979-05-27, at = 07:32:00 }"#,
    );
    assert_eq!(granted.env["LANG"], "en_US.UTF-8");
    assert_eq!(granted.env["HOST"], "api.example.com");
    assert_eq!((granted.store, granted.caller), (stored(16 << 20, false), true));
    assert_eq!(granted.config["region"], json!("eu"));
    let nested = json!({"list": [1, 2.5, true], "since": "1979-05-27", "at": "07:32:00"});
    assert_eq!(granted.config["nested"], nested);
    assert_eq!(grants("store = { quota = \"1GiB\" }").store, stored(1 << 30, false));
    assert_eq!(grants("store = {}").store, stored(16 << 20, false));
    assert_eq!(grants("store = { space = \"shared\" }").store, stored(16 << 20, false));
    assert_eq!(grants("store = { space = \"caller\" }").store, stored(16 << 20, true));
    assert_eq!(grants("store = false").store, None);
}

#[test]
fn limits_are_set() {
    let policy = parse(
        "[limits]\nmemory = \"128MiB\"\ncpu = \"500ms\"\nlog-rate = 5\nwritten = \"1GiB\"\nhttp-redirects = 5\n\
         http-time = \"1m\"\nconcurrency = 2\nlong-wall = \"1h\"",
    )
    .unwrap();
    let limits = policy.limits;
    assert_eq!((limits.memory, limits.log_rate, limits.written), (128 << 20, 5, 1 << 30));
    assert_eq!((limits.cpu.as_millis(), limits.http_time.as_secs()), (500, 60));
    assert_eq!((limits.http_redirects, policy.rules.concurrency), (5, 2));
    assert_eq!(policy.rules.wall_clocks.long.1.value, "1h");
}

#[test]
fn actions_and_exposure_are_read() {
    let policy = parse(
        r#"
        [grants]
        invoke = ["projects:create", "search:*"]
        elicit = true
        [actions]
        deny = ["purge"]
        confirm = ["delete"]
        chain = "follow"
        batch = true
        [expose]
        name = "my-notes"
        schema = "signatures"
        split = "effect"
        output_schema = true
        views = true
        "#,
    )
    .unwrap();
    let reach = policy.rules.reach_of("my-notes");
    assert!(reach.may_invoke("search", "web") && !reach.may_invoke("projects", "list"));
    assert!(policy.rules.elicit);
    assert_eq!(policy.rules.chain, ChainRule::Follow);
    let terms = ActionPolicy {
        deny: vec!["purge".into()],
        confirm: vec!["delete".into()],
        batch: true,
        ..ActionPolicy::default()
    };
    assert_eq!(policy.terms, terms);
    let exposed = Exposed {
        name: Some("my-notes".into()),
        form: Some(SchemaForm::Signatures),
        split: Some(ToolSplit::Effect),
        output_schema: true,
        always_load: false,
        views: true,
    };
    assert_eq!(policy.expose, exposed);
}

/// Policies with at least one mistake each.
const MISTAKES: &[&str] = &[
    // Syntax and unknown names.
    "[grants\n",
    "[limits]\nmemory = 64MiB",
    "[grant]",
    "[network]",
    "dirs = []",
    "cpu = \"1s\"",
    "[limits]\nmemroy = \"1MiB\"",
    "[limits]\nzzz = 1",
    "[grants]\ndirs = [{ path = \"x\", at = \"/x\", acess = \"read\" }]",
    "[grants]\nhttp = [{ url = \"https://a.example.com\", method = [\"GET\"] }]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ from_env = \"GITHUB_TOKEN\", host = \"a.example.com\", header = \"X\" }]",
    "[grants]\nstore = { quotas = \"1MiB\" }",
    "[grants]\nstore = { space = \"mine\" }",
    // Types.
    "grants = 5",
    "[grants]\ndirs = \"~/notes\"",
    "[grants]\nenv = { A = 5 }",
    "[grants]\nenv = [\"A=5\"]",
    "[grants]\nelicit = \"yes\"",
    "[grants]\nstore = \"16MiB\"",
    "[grants]\nhttp = [5]",
    "[limits]\nmemory = 64",
    "[limits]\nlog-rate = \"5\"",
    "[actions]\ndeny = \"purge\"",
    "[actions]\ndeny = [5]",
    // Limits.
    "[limits]\nmemory = \"2GiB\"",
    "[limits]\nmemory = \"64\"",
    "[limits]\nwall = \"11m\"",
    "[limits]\nwall = \"0s\"",
    "[limits]\nconcurrency = 0",
    "[limits]\nconcurrency = -1",
    "[limits]\nhttp-redirects = -1",
    "[limits]\nhttp-redirects = 6",
    "[limits]\nmemory = \"${QUOTA}\"",
    // Words.
    "[actions]\nchain = \"folow\"",
    "[expose]\nschema = \"signature\"",
    "[expose]\nsplit = \"effects\"",
    "[expose]\nname = \"My Notes\"",
    // Directories.
    "[grants]\ndirs = [{ at = \"/x\", access = \"read\" }]",
    "[grants]\ndirs = [{ path = \"x\", at = \"x\", access = \"read\" }]",
    "[grants]\ndirs = [{ path = \"x\", at = \"/a/../b\", access = \"write\" }]",
    "[grants]\ndirs = [{ path = \"\", at = \"/b\", access = \"read\" }]",
    "[grants]\ndirs = [\n  { path = \"x\", at = \"/x\", access = \"read\" },\n  { path = \"y\", at = \"/x/\", access = \"read\" },\n]",
    "[grants]\ndirs = [{ path = \"x\", at = \"/\", access = \"read\" }]",
    "[grants]\ndirs = [{ path = \"x\", roots = \"yes\", at = \"/x\", access = \"read\" }]",
    "[grants]\ndirs = [{ path = \"x\", root = true, at = \"/\", access = \"read\" }]",
    "[grants]\ndirs = [{ path = \"x\", roots = true, at = \"//\", access = \"read\" }]",
    "[grants]\ndirs = [\n  { path = \"x\", roots = true, at = \"/\", access = \"read\" },\n  { path = \"y\", roots = true, at = \"/\", access = \"read\" },\n]",
    // Requests.
    "[grants]\nhttp = [\"https://user:${GITHUB_TOKEN}@example.com\"]",
    "[grants]\nhttp = [{ methods = [\"GET\"] }]",
    "[grants]\nhttp = [{ url = \"https://a.example.com\", methods = [\"get\"] }]",
    "[grants]\nhttp = [{ url = \"https://a.example.com\", methods = [\"CONNECT\"] }]",
    "[grants]\nhttp = [{ url = \"https://a.example.com\", methods = [] }]",
    "[grants]\nhttp = [{ url = \"https://a.example.com\", methods = [\"GET\"], reads = [\"POST\"] }]",
    // Secrets.
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ host = \"a.example.com\", header = \"X\" }]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ from-env = \"A\", from-file = \"b\", host = \"a.example.com\", header = \"X\" }]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ from-env = \"A\", per-caller = true, host = \"a.example.com\", header = \"X\" }]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ per-caller = false, host = \"a.example.com\", header = \"X\" }]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ per-caller = 1, host = \"a.example.com\", header = \"X\" }]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ from-env = \"UNSET\", host = \"a.example.com\", header = \"X\" }]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ from-env = \"EMPTY\", host = \"a.example.com\", header = \"X\" }]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ from-env = \"LINES\", host = \"a.example.com\", header = \"X\" }]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ from-env = \"GITHUB_TOKEN\", host = \"b.example.com\", header = \"X\" }]",
    "[grants]\nhttp = [\"http://a.example.com\"]\nsecrets = [{ from-env = \"GITHUB_TOKEN\", host = \"a.example.com\", header = \"X\" }]",
    "[grants]\nhttp = [\"https://*.example.com\"]\nsecrets = [{ from-env = \"GITHUB_TOKEN\", host = \"*.example.com\", header = \"X\" }]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ from-env = \"GITHUB_TOKEN\", host = \"https://a.example.com\", header = \"X\" }]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ from-env = \"GITHUB_TOKEN\", host = \"a.example.com\", header = \"X Y\", format = \"{} {}\" }]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ from-env = \"GITHUB_TOKEN\", host = \"a.example.com\", header = \"X\", format = \"a\\nb{}\" }]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ from-env = \"GITHUB_TOKEN\", host = \"a.example.com\", header = \"Host\" }]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [\n  { from-env = \"GITHUB_TOKEN\", host = \"a.example.com\", header = \"X\" },\n  { from-env = \"GITHUB_TOKEN\", host = \"a.example.com:443\", header = \"x\" },\n]",
    "[grants]\nhttp = [\"https://a.example.com\"]\nsecrets = [{ from-env = \"${GITHUB_TOKEN}\", host = \"a.example.com\", header = \"X\" }]",
    // Other keys.
    "[grants]\nenv = { \"A=B\" = \"c\" }",
    "[grants]\nconfig = { a = nan }",
    "[grants]\nconfig = { a = { b = [1, inf] } }",
    "[grants]\nstore = { quota = \"2GiB\" }",
    "[grants]\nstore = { quota = \"much\" }",
    "[grants]\ninvoke = [\"projects\"]",
    // Variables.
    "[grants]\nenv = { A = \"${UNSET}\" }",
    "[grants]\nenv = { A = \"${A:-${HOST}}\" }",
    "[grants]\ninvoke = [\"${UNSET}:add\"]",
    "[grants]\nconfig = { a = [\"${UNSET}\"] }",
    // Several mistakes.
    "[grant]\n[limits]\nmemory = \"2GiB\"\ncpu = 5\n[actions]\nchains = \"off\"\n[expose]\nsplit = \"no\"",
    "a=1\nb=1\nc=1\nd=1\ne=1\nf=1\ng=1\nh=1\ni=1\nj=1\n",
];

#[test]
fn mistakes_are_reported_with_line_and_key() {
    let mut report = String::new();
    for text in MISTAKES {
        let message = parse(text).expect_err(text);
        assert!(!message.contains('\n') && message.starts_with("line "), "{text}: {message}");
        let leaks = ["hunter2-hunter2", "lots-of"].iter().any(|value| message.contains(value));
        assert!(!leaks, "the value of a variable is shown: {message}");
        report.push_str(&format!("{text}\n  => {message}\n\n"));
    }
    insta::assert_snapshot!(report);
}

#[test]
fn hostile_keys_are_clipped_and_sanitised() {
    for key in [r"\u001b[31m\n\u202e\u200bx".to_owned(), "x".repeat(100_000)] {
        for text in [format!("\"{key}\" = 1"), format!("[grants]\n\"{key}\" = 1\nenv = {{ \"{key}\" = 1 }}")]
        {
            let message = parse(&text).expect_err(&text);
            assert!(message.len() < 2000 && message.starts_with("line "), "{} bytes", message.len());
            assert!(!message.contains(['\u{1b}', '\n', '\u{202e}', '\u{200b}']), "{message:?}");
        }
    }
}

#[test]
fn an_invalid_destination_is_reported_once() {
    for bad in ["ftp://example.com", "nowhere", "https://", "https://**"] {
        let secret = r#"{ from-env = "GITHUB_TOKEN", host = "a.example.com", header = "X" }"#;
        let message = parse(&format!("[grants]\nhttp = [\n{bad:?}]\nsecrets = [{secret}]")).expect_err(bad);
        assert!(message.starts_with("line 3: `grants.http` ") && !message.contains("line 4"), "{message}");
    }
}

#[test]
fn tilde_requires_a_home_directory() {
    let setting = PolicySetting { folder: Path::new("/plugins"), home: None, variable: &|_| None };
    let text = "[grants]\ndirs = [{ path = \"~/x\", at = \"/x\", access = \"read\" }]";
    let message = Policy::parse(text, &setting).unwrap_err().to_string();
    assert!(message.contains("there is no home directory"), "{message}");
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let deep = |open: &str, close: &str| {
        let (open, close) = (open.repeat(100_000), close.repeat(100_000));
        assert!(parse(&format!("[grants]\nconfig.a = {open}1{close}")).is_err());
    };
    deep("[", "]");
    deep("{a=", "}");
    assert!(parse(&format!("{} = 1", vec!["a"; 100_000].join("."))).is_err());
}

fn toml_like() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "[grants]\n",
        "[limits]\n",
        "[actions]\n",
        "[expose]\n",
        "dirs",
        "http",
        "secrets",
        "env",
        "config",
        "store",
        "quota",
        "invoke",
        "memory",
        "cpu",
        "deny",
        "name",
        "path",
        "at",
        "url",
        "from-env",
        " = ",
        "\n",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "\"",
        "\"x\"",
        "\"/x\"",
        "\"64MiB\"",
        "\"${HOST}\"",
        "\"${X\"",
        "5",
        "-1",
        "true",
        "nan",
        "1979-05-27",
        ".",
        "#",
        "'''",
        "\"https://a.example.com\"",
        "é",
        "\r",
        "\0",
    ]);
    prop::collection::vec(words, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn no_text_makes_parsing_panic(text in prop_oneof![any::<String>(), toml_like()]) {
        if let Err(message) = parse(&text) {
            prop_assert!(message.starts_with("line "), "{message}");
        }
    }
}
