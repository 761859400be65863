//! Tests of whole files: values and messages.

use std::path::{Path, PathBuf};

use super::*;
use crate::document::PolicySetting;

fn parse(text: &str) -> Result<Settings, String> {
    let variable = |name: &str| (name == "PORT").then(|| "9000".to_owned());
    let setting = PolicySetting {
        folder: Path::new("/etc/loggia"),
        home: Some("/home/ada".into()),
        variable: &variable,
    };
    Settings::parse(text, &setting).map_err(|error| error.lines())
}

#[test]
fn an_empty_file_yields_the_defaults() {
    assert_eq!(parse(""), Ok(Settings::default()));
}

#[test]
fn a_file_can_set_every_key() {
    let settings = parse(include_str!("example.toml")).unwrap();
    insta::assert_debug_snapshot!(settings);
}

#[test]
fn variables_expand_and_paths_start_at_the_file() {
    let settings = parse(
        "folder = 'plugins'\nstate = '~/state'\ncache = '/var/cache'\n[http]\nlisten = '127.0.0.1:${PORT}'",
    )
    .unwrap();
    assert_eq!(settings.folder, Some(PathBuf::from("/etc/loggia/plugins")));
    assert_eq!(settings.state.folder, Some(PathBuf::from("/home/ada/state")));
    assert_eq!(settings.cache, Some(PathBuf::from("/var/cache")));
    assert_eq!(settings.http.unwrap().listen.port(), 9000);
}

#[test]
fn mistakes_have_a_line_and_a_suggestion() {
    let reports: Vec<String> = [
        "foldr = 'x'",
        "[http]\nlisten = '127.0.0.1:80'\nlisen = 1\n[htp]\nx = 1",
        "[http]\nlisten = 'everywhere'",
        "[http]\nheader-time = '10'",
        "[http]\nheader-time = '0s'\nbody = '1GiB'\nhosts = ['a.example', 'http://b.example']\norigins = ['c.example']",
        "[http.per-caller]\nrate = -1",
        "wasm-stack = '1KiB'\ndrain = '2h'",
        "[publish]\nschema = 'short'\ntoken-budget = 0",
        "[publish]\ntoken-budget = 0",
        "max-protocol-version = '2030-01-01'",
        "[[auth.tokens]]\nname = 'ci'\nhash = 'sha256:00'",
        "[[auth.tokens]]\nname = 'ci'\nhash = 'sha256:00'\nscope = []",
        "[auth.oauth]\nissuer = 'https://a.example'\njwks = 'keys.json'\nalgorithms = ['HS256']",
        "[admin]",
        "http = '127.0.0.1:80'",
        "[http\n",
        "folder = 1\ncache = []\nstate = 2\nwasm-stack = '1KiB'\ndrain = 3\nmax-protocol-version = 2030",
        "[publish]\nschema = 'flot'\nsplit = 'efect'\ntoken-budget = -1\n[log]\nlevel = 'loud'\nformat = []",
        "[http]\nbodi = '4MiB'\nconnections = 0\nheader-time = '10'\nbody = '4MB'\nallow-anonymous = 'no'\n\
         hosts = [\n  1,\n  'http://b',\n  '${NOTHING}',\n]\n[http.per-caller]\nrate = -1\nburst = 0",
        "[[auth.tokens]]\nhash = 1\n[[auth.tokens]]\nnames = 'ci'\nscopes = 'x'\n[auth.oauth]\nissuer = 1\nleeway = 1\n\
         algorithms = ['HS256', 'RS256', 'HS512']",
        "[admin]\nlisten = 'x'\nhosts = [1, 2]",
        // Consequences of another mistake are not reported.
        "[[http]]\nlisten = 1\n[[auth.tokens]]\n[auth]\n",
        "[http.per-caller]\nrte = 5\nburst = 5",
        "[http]\nlisten = '0.0.0.0:80'\n[[auth.token]]\nname = 'ci'\n[[auth.tokens]]\nnam = 'ci'\nother = 1",
        "[admin]\nlisten =\nhosts = 1",
        "[guards.mask]\nfacades = []\n[guards.Mask]\n[guards.a]\ncomponent = 'a.wasm'\nfacades = ['*', 'A b']\nconfig = 1\ntime = '1h'\n\
         [guards.b]\ncomponent = 'b.wasm'\nfacades = ['*']\nbefore = false\nafter = false",
        "[auth]\ntokens = [1, { name = 'x' }]",
    ]
    .map(|text| format!("{text}\n=>\n{}", parse(text).expect_err(text)))
    .to_vec();
    insta::assert_snapshot!(reports.join("\n\n"));
}

#[test]
fn mistakes_of_auth_never_show_a_token() {
    let token = format!("loggia_{}", "A".repeat(48));
    let hash = format!("sha256:{}", "0".repeat(64));
    let toml = format!(
        "[auth]
        resource = 'tools.example.com/mcp#x'
        tokens = [
            {{ name = 'ci', hash = '{hash}', scopes = ['*'] }},
            {{ name = 'ci', hash = '{hash}', scopes = ['notes:read', 'notes'], expires = '30.6.2027' }},
            {{ name = \"a\\u001bb\", hash = '{token}', scopes = [] }},
            {{ name = 'short', hash = 'sha256:00', scopes = ['*'] }},
        ]
        oauth = {{ issuer = 'id', audience = '', jwks = 'http://id.example.com/keys', algorithms = [], leeway = '1h',
                   scopes = ['a b', 'a\"b'] }}"
    );
    let problems = parse(&toml).unwrap_err();
    assert!(!problems.contains(&token));
    insta::assert_snapshot!(problems);
}

#[test]
fn oauth_requires_a_resource() {
    let missing = parse("[auth]\noauth = { issuer = 'https://id', jwks = 'k.json' }").unwrap_err();
    assert!(missing.starts_with("  line 1: `auth.resource` is missing"), "{missing}");
    let settings = "[auth]\nresource = 'https://h/mcp'\noauth = { issuer = 'https://id', jwks = 'k.json' }";
    let oauth = parse(settings).unwrap().auth.unwrap().oauth.unwrap();
    assert_eq!((oauth.audience, oauth.issuer.as_str()), (None, "https://id"));
    assert_eq!(oauth.jwks, JwksLocation::File("/etc/loggia/k.json".into()));
    assert_eq!(Vec::from_iter(oauth.algorithms), [Algorithm::RS256, Algorithm::ES256]);
}

#[test]
fn each_wrong_type_is_reported_once() {
    let lines: Vec<&str> = include_str!("example.toml").lines().collect();
    for (n, line) in lines.iter().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let Some((key, value)) = line.split_once(" = ") else { continue };
        let wrong = format!("{key} = {}", if value.starts_with('{') { "1" } else { "{}" });
        let text = [&lines[..n], &[wrong.as_str()], &lines[n + 1..]].concat().join("\n");
        let problems = parse(&text).unwrap_err();
        assert!(problems.starts_with(&format!("  line {}: `", n + 1)), "{problems}");
        assert_eq!(problems.lines().count(), 1, "{problems}");
    }
}

/// Rewrites the files if `LOGGIA_WRITE` is set.
#[test]
fn schema_and_page_match_the_tables() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (name, text) in [
        ("loggia.schema.json", format!("{:#}\n", Settings::json_schema())),
        ("operators/config.md", reference()),
    ] {
        let path = docs.join(name);
        if std::env::var_os("LOGGIA_WRITE").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), text, "LOGGIA_WRITE=1 writes it");
    }
}

#[test]
fn the_keys_of_manifests_are_documented() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/authors/builders.md");
    let (page, table) = (std::fs::read_to_string(page).unwrap(), super::manifest_reference());
    assert!(page.contains(&table), "docs/authors/builders.md needs this table:\n{table}");
}

#[test]
fn the_schema_accepts_what_the_tables_accept() {
    let schema = jsonschema::validator_for(&Settings::json_schema()).unwrap();
    let check = |text: &str, fits: bool| {
        let file: toml::Table = text.parse().unwrap();
        assert_eq!(schema.is_valid(&serde_json::to_value(file).unwrap()), fits, "{text}");
    };
    check(include_str!("example.toml"), true);
    check("foldr = 'x'", false);
    check("[http]\nheader-time = '10'", false);
    check("[publish]\nschema = 'short'", false);
}

#[test]
fn an_upstream_has_one_transport() {
    let check = |text: &str, expected: &str| {
        let problems = parse(&format!("[upstream.x]\n{text}")).err().unwrap_or_default();
        assert_eq!(problems, expected, "{text}");
    };
    check("command = 'npx'\nargs = ['-y']\nenv = { A = 'b' }", "");
    check("url = 'https://mcp.example.com/mcp'\nheaders = { authorization = 'Bearer x' }", "");
    check("include = ['a']", "  line 1: `upstream.x.command` is missing: set `command` or `url`");
    check(
        "command = 'npx'\nurl = 'https://h'",
        "  line 3: `upstream.x.url` excludes `command`: set only one of them",
    );
    check(
        "command = 'npx'\nheaders = { a = 'b' }",
        "  line 3: `upstream.x.headers` needs a `url`; a program gets its credentials by `env`",
    );
    check("url = 'https://h'\nargs = ['a']", "  line 3: `upstream.x.args` needs a `command`");
    let form = "must be an http:// or https:// URL without a user name and password";
    for url in ["ftp://h", "https://u:secret@h", "h"] {
        check(&format!("url = '{url}'"), &format!("  line 2: `upstream.x.url` {form}"));
    }
    check(
        "url = 'https://h'\nheaders = { 'a b' = 'c' }",
        "  line 3: `upstream.x.headers.a b` is not a header name",
    );
    let hidden = "  line 3: `upstream.x.headers.a` has a value with characters that a header cannot contain";
    check("url = 'https://h'\nheaders = { a = \"se\\ncret\" }", hidden);
}

#[test]
fn credentials_of_callers_stay_private() {
    let header = "caller-header = { name = 'authorization', format = 'Bearer {}' }";
    for (text, good) in [
        (format!("[upstream.x]\nurl = 'https://h.example'\n{header}"), true),
        (format!("[upstream.x]\nurl = 'http://127.0.0.1:9/mcp'\n{header}"), true),
        (format!("[upstream.x]\nurl = 'http://h.example'\n{header}"), false),
        (format!("[upstream.x]\ncommand = 'x'\n{header}"), false),
        (format!("[upstream.x]\nurl = 'https://h.example'\n{}", header.replace("{}", "")), false),
        (
            format!("[upstream.x]\nurl = 'https://h.example'\n{}", header.replace("authorization", "a b")),
            false,
        ),
    ] {
        assert_eq!(parse(&text).is_ok(), good, "{text}");
    }
    for (url, good) in [
        ("https://auth.example/token", true),
        ("http://localhost:9/token", true),
        ("http://auth.example/token", false),
        ("https://ada@auth.example/token", false),
        ("ftp://auth.example/token", false),
        ("token", false),
    ] {
        let page = "authorize = 'https://auth.example'\nclient-id = 'loggia'";
        assert_eq!(parse(&format!("[login.x]\ntoken = '{url}'\n{page}")).is_ok(), good, "{url}");
    }
}

#[test]
fn an_upstream_name_is_a_facade_name() {
    for (name, good) in [("git-hub_2", true), ("Git", false), ("2x", false), ("'a b'", false)] {
        assert_eq!(parse(&format!("[upstream.{name}]\ncommand = 'x'")).is_ok(), good, "{name}");
    }
}

#[test]
fn debug_output_hides_credentials() {
    let settings = parse("[upstream.x]\ncommand = 'x'\nenv = { TOKEN = 'hunter2-hunter2' }").unwrap();
    assert!(!format!("{settings:?}").contains("hunter2"));
}

#[test]
fn state_is_a_folder_or_a_table() {
    let check = |text: &str, expected: &str| {
        let problems = parse(text).err().unwrap_or_default();
        assert_eq!(problems, expected, "{text}");
    };
    let url = "url = 'postgres://loggia:hunter2@db.example.com/loggia'";
    let settings = parse("[state]\nfolder = 'state'").unwrap();
    assert_eq!(settings.state, parse("state = 'state'").unwrap().state);
    let shared = parse(&format!("[state]\n{url}\npassword-file = 'p'\nschema = 'east'")).unwrap();
    assert_eq!(shared.state.password_file, Some("/etc/loggia/p".into()));
    assert_eq!(shared.state.schema, "east");
    assert!(!format!("{shared:?}").contains("hunter2"));
    check("[state]\nschema = 'east'", "  line 2: `state.schema` needs a `url`");
    check(
        &format!("[state]\n{url}\npassword = 'a'\npassword-file = 'b'"),
        "  line 4: `state.password-file` excludes `password`: set only one of them",
    );
    let form = "must be a URL such as \"postgres://loggia@db.example.com/loggia\"";
    check("[state]\nurl = 'mysql://ada:hunter2@db'", &format!("  line 2: `state.url` {form}"));
    for name in ["", "East", "a-b", "pg_toast", "1a"] {
        assert!(parse(&format!("[state]\n{url}\nschema = '{name}'")).is_err(), "{name}");
    }
}

#[test]
fn the_operators_page_has_an_address() {
    for (url, is_valid) in [
        ("https://ops.example.com/operator/", true),
        ("https://example.com/loggia/operator/", true),
        ("http://127.0.0.1:9090/operator/", true),
        ("http://ops.example.com/operator/", false),
        ("https://ops.example.com/", false),
        ("https://ops.example.com/operator", false),
        ("https://ops.example.com/operator/?a=b", false),
        ("https://ops.example.com/operator/#a", false),
        ("https://ada:x@ops.example.com/operator/", false),
        ("javascript:alert(1)//operator/", false),
    ] {
        let parsed = parse(&format!("[approvals]\npage = \"{url}\"\n"));
        assert_eq!(parsed.is_ok(), is_valid, "{url}: {parsed:?}");
    }
}
