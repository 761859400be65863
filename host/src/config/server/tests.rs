//! The file, as operators write it and as they get it wrong.

use std::path::{Path, PathBuf};

use super::*;
use crate::config::PolicySetting;

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
fn an_empty_file_says_nothing() {
    assert_eq!(parse(""), Ok(Settings::default()));
}

#[test]
fn a_file_says_all_that_a_server_takes() {
    let settings = parse(include_str!("example.toml")).unwrap();
    insta::assert_debug_snapshot!(settings);
}

#[test]
fn variables_are_filled_in_and_paths_start_at_the_file() {
    let settings = parse(
        "folder = 'plugins'\nstate = '~/state'\ncache = '/var/cache'\n[http]\nlisten = '127.0.0.1:${PORT}'",
    )
    .unwrap();
    assert_eq!(settings.folder, Some(PathBuf::from("/etc/loggia/plugins")));
    assert_eq!(settings.state, Some(PathBuf::from("/home/ada/state")));
    assert_eq!(settings.cache, Some(PathBuf::from("/var/cache")));
    assert_eq!(settings.http.unwrap().listen.port(), 9000);
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_what_was_meant() {
    let told: Vec<String> = [
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
        "folder = 1\ncache = []\nstate = {}\nwasm-stack = '1KiB'\ndrain = 3\nmax-protocol-version = 2030",
        "[publish]\nschema = 'flot'\nsplit = 'efect'\ntoken-budget = -1\n[log]\nlevel = 'loud'\nformat = []",
        "[http]\nbodi = '4MiB'\nconnections = 0\nheader-time = '10'\nbody = '4MB'\nallow-anonymous = 'no'\n\
         hosts = [\n  1,\n  'http://b',\n  '${NOTHING}',\n]\n[http.per-caller]\nrate = -1\nburst = 0",
        "[[auth.tokens]]\nhash = 1\n[[auth.tokens]]\nnames = 'ci'\nscopes = 'x'\n[auth.oauth]\nissuer = 1\nleeway = 1\n\
         algorithms = ['HS256', 'RS256', 'HS512']",
        "[admin]\nlisten = 'x'\nhosts = [1, 2]",
        // What follows from another mistake is not told.
        "[[http]]\nlisten = 1\n[[auth.tokens]]\n[auth]\n",
        "[http.per-caller]\nrte = 5\nburst = 5",
        "[http]\nlisten = '0.0.0.0:80'\n[[auth.token]]\nname = 'ci'\n[[auth.tokens]]\nnam = 'ci'\nother = 1",
        "[admin]\nlisten =\nhosts = 1",
        "[auth]\ntokens = [1, { name = 'x' }]",
    ]
    .map(|text| format!("{text}\n=>\n{}", parse(text).expect_err(text)))
    .to_vec();
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn each_key_that_has_no_value_of_its_kind_is_told_once_beside_all_others() {
    let mut wrong = Vec::new();
    let line = |(n, line): (usize, &str)| match line.split_once(" = ") {
        Some((key, _)) if !line.starts_with('#') => {
            wrong.push(format!("  line {}: `", n + 1));
            format!("{key} = {{}}\n")
        }
        _ => format!("{line}\n"),
    };
    let text: String = include_str!("example.toml").lines().enumerate().map(line).collect();
    let told = parse(&text).unwrap_err();
    let told: Vec<&str> = told.lines().collect();
    assert_eq!(told.len(), wrong.len(), "{told:#?}");
    for (told, wrong) in told.into_iter().zip(wrong) {
        assert!(told.starts_with(&wrong), "{told}");
    }
}

/// `LOGGIA_WRITE=1` writes the files anew.
#[test]
fn the_schema_and_the_page_in_the_repository_are_the_grammar() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for (name, text) in [
        ("loggia.schema.json", format!("{:#}\n", Settings::json_schema())),
        ("operators/config.md", reference()),
    ] {
        let path = docs.join(name);
        if std::env::var_os("LOGGIA_WRITE").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), text, "LOGGIA_WRITE=1 writes it anew");
    }
}

#[test]
fn what_the_grammar_takes_the_schema_takes() {
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
