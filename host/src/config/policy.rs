//! `<name>.toml` beside `<name>.wasm`: what the operator grants a plugin, and within which limits.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use loggia_sandbox::{DirGrant, Grants, Limits};
use loggia_schema::{Form, Split, Terms};
use serde::Deserialize;

use super::{
    units,
    words::{FormWord, SplitWord},
};
use crate::gate::{Chain, Clocks, InvokeRule, Rules};

/// A policy, validated. The default grants nothing.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// What the plugin may use.
    pub grants: Grants,
    /// How much of it.
    pub limits: Limits,
    /// What the gate holds its calls to.
    pub rules: Rules,
    /// What is said of its actions.
    pub terms: Terms,
    /// How it is published.
    pub expose: Exposed,
}

/// How a plugin is published, as far as its policy says.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Exposed {
    /// What input schemas show.
    pub form: Option<Form>,
    /// Into how many tools.
    pub split: Option<Split>,
    /// Whether the tools say what their results look like.
    pub output_schema: bool,
}

/// Why a policy file cannot be used. Reads after the file's name.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PolicyError(String);

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct File {
    grants: GrantsTable,
    limits: LimitsTable,
    actions: ActionsTable,
    expose: ExposeTable,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct GrantsTable {
    dirs: Vec<DirTable>,
    invoke: Vec<String>,
    elicit: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ActionsTable {
    deny: Vec<String>,
    confirm: Vec<String>,
    chain: ChainWord,
    batch: bool,
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
enum ChainWord {
    Off,
    #[default]
    Advise,
    Follow,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ExposeTable {
    schema: Option<FormWord>,
    split: Option<SplitWord>,
    output_schema: bool,
}

impl ExposeTable {
    fn read(&self) -> Exposed {
        let (form, split) = (self.schema.map(Form::from), self.split.map(Split::from));
        Exposed { form, split, output_schema: self.output_schema }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DirTable {
    path: PathBuf,
    at: String,
    access: Access,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Access {
    Read,
    ReadWrite,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct LimitsTable {
    memory: Option<String>,
    result: Option<String>,
    logs: Option<String>,
    cpu: Option<String>,
    wall: Option<String>,
    long_cpu: Option<String>,
    long_wall: Option<String>,
    concurrency: Option<usize>,
}

impl Policy {
    /// Reads the text of a policy file. Relative paths start at `folder`, `~` at `home`.
    ///
    /// # Errors
    ///
    /// Names the line, and for an unknown key the nearest known one.
    pub fn parse(text: &str, folder: &Path, home: Option<&Path>) -> Result<Self, PolicyError> {
        let file: File = toml::from_str(text).map_err(|error| PolicyError(explain(&error, text)))?;
        let limits = limits(&file.limits).map_err(PolicyError)?;
        let rules = rules(&file, &limits).map_err(PolicyError)?;
        let dirs = dirs(file.grants.dirs, folder, home).map_err(PolicyError)?;
        let ActionsTable { deny, confirm, batch, .. } = file.actions;
        let terms = Terms { deny, confirm, batch };
        Ok(Self {
            grants: Grants { dirs, ..Grants::default() },
            limits,
            rules,
            terms,
            expose: file.expose.read(),
        })
    }
}

fn limits(table: &LimitsTable) -> Result<Limits, String> {
    let mut limits = Limits::default();
    let mut size = |key, text: &Option<String>, at: fn(&mut Limits) -> &mut usize, most: &str| {
        let Some(text) = text else { return Ok(()) };
        let bytes = units::bytes(text).map_err(|e| format!("`limits.{key}`: {e}"))?;
        if bytes == 0 || bytes > units::bytes(most)? {
            return Err(format!(
                "`limits.{key}` must be more than nothing and at most {most} (it is {text})"
            ));
        }
        *at(&mut limits) = bytes;
        Ok(())
    };
    size("memory", &table.memory, |l| &mut l.memory, "1GiB")?;
    size("result", &table.result, |l| &mut l.result, "8MiB")?;
    size("logs", &table.logs, |l| &mut l.logs, "4MiB")?;
    let mut time = |key, text: &Option<String>, at: fn(&mut Limits) -> &mut Duration, most: &str| {
        let Some(text) = text else { return Ok(()) };
        let time = units::duration(text).map_err(|e| format!("`limits.{key}`: {e}"))?;
        if time.is_zero() || time > units::duration(most)? {
            return Err(format!(
                "`limits.{key}` must be more than nothing and at most {most} (it is {text})"
            ));
        }
        *at(&mut limits) = time;
        Ok(())
    };
    time("cpu", &table.cpu, |l| &mut l.call.cpu, "60s")?;
    time("wall", &table.wall, |l| &mut l.call.wall, "10m")?;
    time("long-cpu", &table.long_cpu, |l| &mut l.long.cpu, "30m")?;
    time("long-wall", &table.long_wall, |l| &mut l.long.wall, "24h")?;
    Ok(limits)
}

fn rules(file: &File, limits: &Limits) -> Result<Rules, String> {
    const MOST: usize = 40;
    let concurrency = file.limits.concurrency.unwrap_or(Rules::default().concurrency);
    if concurrency == 0 || concurrency > MOST {
        return Err(format!("`limits.concurrency` must be 1 to {MOST} (it is {concurrency})"));
    }
    let clock = |long| {
        let (budget, _, wall) = limits.budget(long);
        (budget.wall, wall)
    };
    let wall = Clocks { call: clock(false), long: clock(true) };
    let rule = |text: &String| {
        let said = "must name actions like \"notes:add\" or \"notes:*\"";
        InvokeRule::parse(text).ok_or_else(|| format!("`grants.invoke` {said} (it is {text:?})"))
    };
    let invoke = file.grants.invoke.iter().map(rule).collect::<Result<_, _>>()?;
    let chain = match file.actions.chain {
        ChainWord::Off => Chain::Off,
        ChainWord::Advise => Chain::Advise,
        ChainWord::Follow => Chain::Follow,
    };
    Ok(Rules { concurrency, wall, invoke, elicit: file.grants.elicit, chain })
}

fn dirs(tables: Vec<DirTable>, folder: &Path, home: Option<&Path>) -> Result<Vec<DirGrant>, String> {
    let mut seen = BTreeSet::new();
    let mut grants = Vec::new();
    for table in tables {
        let at = table.at.trim_end_matches('/');
        let parts: Vec<&str> = at.split('/').skip(1).collect();
        if !at.starts_with('/') || parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
            let said = "must be a plain absolute path of the plugin's, like \"/notes\"";
            return Err(format!("`grants.dirs`: `at` {said} (it is {:?})", table.at));
        }
        if !seen.insert(at.to_owned()) {
            return Err(format!("`grants.dirs`: two directories are given as {at:?}"));
        }
        let path = match table.path.strip_prefix("~") {
            Ok(rest) => {
                home.ok_or("`grants.dirs`: `~` has no meaning here: there is no home directory")?.join(rest)
            }
            Err(_) => folder.join(&table.path),
        };
        grants.push(DirGrant { path, at: at.to_owned(), writable: table.access == Access::ReadWrite });
    }
    Ok(grants)
}

/// The parser's sentence with its line, and the nearest known name for an unknown one.
fn explain(error: &toml::de::Error, text: &str) -> String {
    let line =
        error.span().map(|span| text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1);
    let at = line.map_or(String::new(), |line| format!("line {line}: "));
    let said = error.message();
    // serde says: unknown field `x`, expected one of `a`, `b` (or: expected `a`).
    let mut names = said.split('`').skip(1).step_by(2);
    let unknown = said.starts_with("unknown").then(|| names.next()).flatten();
    let nearest = unknown.and_then(|unknown| {
        let scored = names.map(|name| (strsim::jaro_winkler(unknown, name), name));
        scored.filter(|(score, _)| *score > 0.7).max_by(|a, b| a.0.total_cmp(&b.0))
    });
    match nearest {
        Some((_, name)) => format!("{at}{said}; did you mean `{name}`?"),
        None => format!("{at}{said}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Policy, String> {
        Policy::parse(text, Path::new("/plugins"), Some(Path::new("/home/ada"))).map_err(|e| e.to_string())
    }

    #[test]
    fn an_empty_policy_grants_nothing() {
        assert_eq!(parse("").unwrap().grants, Grants::default());
    }

    #[test]
    fn the_readme_shows_a_policy_that_sets_what_holds_without_it() {
        let readme = include_str!("../../../README.md");
        let block = readme.split("```").find(|block| block.starts_with("toml\n[grants]")).unwrap();
        let policy = parse(block.strip_prefix("toml").unwrap()).unwrap();
        assert_eq!(policy.limits, Limits::default());
        assert_eq!(policy.rules.concurrency, Rules::default().concurrency);
        assert_eq!(policy.grants.dirs.len(), 1);
        assert_eq!(policy.terms, Terms::default());
        assert_eq!((policy.rules.chain, policy.rules.elicit), (Chain::default(), false));
        assert!(policy.rules.invoke.is_empty());
        let exposed =
            Exposed { form: Some(Form::default()), split: Some(Split::default()), output_schema: false };
        assert_eq!(policy.expose, exposed);
    }

    #[test]
    fn directories_start_at_the_policy_file_or_at_home() {
        let policy = parse(
            r#"
            [grants]
            dirs = [
                { path = "~/notes", at = "/notes", access = "read-write" },
                { path = "data", at = "/data/", access = "read" },
                { path = "/srv/x", at = "/x", access = "read" },
            ]
            [limits]
            memory = "128MiB"
            cpu = "500ms"
            "#,
        )
        .unwrap();
        let paths: Vec<String> = policy
            .grants
            .dirs
            .iter()
            .map(|d| format!("{} {} {}", d.path.display(), d.at, d.writable))
            .collect();
        assert_eq!(paths, ["/home/ada/notes /notes true", "/plugins/data /data false", "/srv/x /x false"]);
        assert_eq!(policy.limits.memory, 128 << 20);
        assert_eq!(policy.limits.call.cpu, Duration::from_millis(500));
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
            schema = "signatures"
            split = "effect"
            output_schema = true
            "#,
        )
        .unwrap();
        assert!(policy.rules.may_invoke("search", "web") && !policy.rules.may_invoke("projects", "list"));
        assert!(policy.rules.elicit);
        assert_eq!(policy.rules.chain, Chain::Follow);
        let terms = Terms { deny: vec!["purge".into()], confirm: vec!["delete".into()], batch: true };
        assert_eq!(policy.terms, terms);
        let exposed =
            Exposed { form: Some(Form::Signatures), split: Some(Split::Effect), output_schema: true };
        assert_eq!(policy.expose, exposed);
        assert_eq!(parse("").unwrap().expose, Exposed::default());
    }

    #[test]
    fn a_mistake_is_named_with_its_line_and_the_nearest_key() {
        let check = |text: &str, expected: &str| {
            let said = parse(text).expect_err(text);
            assert!(said.contains(expected), "{text}: {said}");
        };
        check("[limits]\nmemroy = \"1MiB\"", "line 2: unknown field `memroy`");
        check("[limits]\nmemroy = \"1MiB\"", "did you mean `memory`?");
        check("[grant]", "did you mean `grants`?");
        check("[limits]\nmemory = \"2GiB\"", "at most 1GiB (it is 2GiB)");
        check("[limits]\nmemory = \"64\"", "`limits.memory`: `64` is not a size");
        check("[limits]\nconcurrency = 0", "must be 1 to 40");
        check("[grants]\ninvoke = [\"projects\"]", "`grants.invoke` must name actions like");
        check("[actions]\nchain = \"folow\"", "did you mean `follow`?");
        check("[expose]\nschema = \"signature\"", "did you mean `signatures`?");
        check("[grants]\ndirs = [{ path = \"x\", at = \"x\", access = \"read\" }]", "plain absolute path");
        check(
            "[grants]\ndirs = [{ path = \"x\", at = \"/a/../b\", access = \"read\" }]",
            "plain absolute path",
        );
        check(
            "[grants]\ndirs = [{ path = \"x\", at = \"/x\", access = \"write\" }]",
            "unknown variant `write`",
        );
        check(
            "[grants]\ndirs = [{ path = \"x\", at = \"/x\", access = \"read\" }, { path = \"y\", at = \"/x/\", access = \"read\" }]",
            "two directories",
        );
        check("[grants\n", "line 1");
    }
}
