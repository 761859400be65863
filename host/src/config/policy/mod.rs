//! `<name>.toml` beside `<name>.wasm`: what the operator grants a plugin, and within which limits.
//!
//! ```text
//! text ─tree─▶ values with their lines, variables filled in ─field─▶ sections ─▶ Policy, or all that is wrong
//! ```
//!
//! | file | concept |
//! |---|---|
//! | `tree.rs`, `substitute.rs` | TOML as values that know their lines; `${VAR}` in strings |
//! | `key.rs`, `limits.rs` | the keys as data, which parsing, messages and the reference page share |
//! | `field.rs`, `problem.rs` | one value of the right kind, or a problem that names its key |
//! | `grants/`, `actions.rs`, `expose.rs` | the sections |
//! | `reference.rs` | all of it as a page |
//! | `want.rs` | what plugins ask for, in the words of the grants |

mod actions;
mod expose;
mod field;
mod grants;
mod key;
pub mod limits;
mod problem;
mod reference;
mod substitute;
#[cfg(test)]
mod tests;
pub(super) mod tree;
pub mod want;

use std::path::{Path, PathBuf};

use loggia_gate::access::{Clocks, Rules};
use loggia_sandbox::{Grants, Limits};
use loggia_schema::Terms;

pub use self::{expose::Exposed, key::nearest, problem::Problems, reference::reference};
use self::{
    field::{Field, Fields},
    grants::Granted,
    key::did_you_mean,
    limits::Bounds,
};

/// A policy, validated. The default grants nothing.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// What the plugin may use.
    pub grants: Grants,
    /// How much of it.
    pub limits: Limits,
    /// What the gate holds its calls to.
    pub rules: Rules,
    /// What it says itself of calls to others and of questions: a workflow may do what its steps do where it says nothing.
    pub said: Said,
    /// What is said of its actions.
    pub terms: Terms,
    /// How it is published.
    pub expose: Exposed,
}

/// Which of the rules a policy states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Said {
    /// `grants.invoke`.
    pub invoke: bool,
    /// `grants.elicit`.
    pub elicit: bool,
}

/// The paths of the host's that a policy names. They are read from a policy with mistakes too: a secret stays a secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyPaths {
    /// Files that hold secrets (`secrets.from-file`).
    pub secrets: Vec<PathBuf>,
    /// Directories that are granted (`dirs.path`).
    pub dirs: Vec<PathBuf>,
}

/// What the text of a policy depends on beside itself.
pub struct Setting<'a> {
    /// Where relative paths start: the folder in which the file stands.
    pub folder: &'a Path,
    /// What `~` means.
    pub home: Option<PathBuf>,
    /// The environment, for `${VAR}` and for secrets.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// Why a policy file cannot be used: all that is wrong with it, each with its line. Reads after the file's name.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PolicyError(Problems);

impl Setting<'_> {
    /// A path of the host's, as a policy writes it.
    fn path(&self, field: &Field<'_>, problems: &mut Problems) -> Option<PathBuf> {
        let text = field.text_of("a path, in quotes", problems)?;
        if text.value.is_empty() || text.value.contains('\0') {
            field.wrong(format!("is no path (it is {})", text.shown()), problems);
            return None;
        }
        let path = Path::new(&text.value);
        match (path.strip_prefix("~"), &self.home) {
            (Err(_), _) => Some(self.folder.join(path)),
            (Ok(rest), Some(home)) => Some(home.join(rest)),
            (Ok(_), None) => {
                field.wrong(
                    "begins with `~`, which has no meaning here: there is no home directory",
                    problems,
                );
                None
            }
        }
    }
}

impl Policy {
    /// Reads the text of a policy file.
    ///
    /// # Errors
    ///
    /// Names all that is wrong, each with its line, and for an unknown key the nearest known one.
    pub fn parse(text: &str, setting: &Setting<'_>) -> Result<Self, PolicyError> {
        let mut problems = Problems::default();
        let table = tree::tree(text, setting.variable, &mut problems).table;
        let policy = read(&Fields::root(&table), setting, &mut problems);
        if problems.is_empty() { Ok(policy) } else { Err(PolicyError(problems.sorted())) }
    }
}

impl PolicyPaths {
    /// The paths that the text of a policy names, as far as it can be read.
    pub fn parse(text: &str, setting: &Setting<'_>) -> Self {
        let mut problems = Problems::default();
        let table = tree::tree(text, setting.variable, &mut problems).table;
        let file = Fields::root(&table);
        let grants = file.get(grants::GRANTS.name);
        grants.map(|field| grants::paths(&field, setting)).unwrap_or_default()
    }
}

/// The sections' names, in the order in which they are told.
const SECTIONS: [&str; 4] =
    [grants::GRANTS.name, limits::SECTION, actions::ACTIONS.name, expose::EXPOSE.name];

fn read(file: &Fields<'_>, setting: &Setting<'_>, problems: &mut Problems) -> Policy {
    for (key, line) in file.keys().filter(|(key, _)| !SECTIONS.contains(key)) {
        problems.add(line, unknown_section(key));
    }
    let section = |name: &str| file.get(name);
    let Granted { grants, invoke, elicit } =
        section(grants::GRANTS.name).map(|field| grants::read(&field, setting, problems)).unwrap_or_default();
    let Bounds { limits, rules } =
        section(limits::SECTION).map(|field| limits::read(&field, problems)).unwrap_or_default();
    let (terms, chain) =
        section(actions::ACTIONS.name).map(|field| actions::read(&field, problems)).unwrap_or_default();
    let expose = section(expose::EXPOSE.name).map(|field| expose::read(&field, problems)).unwrap_or_default();
    let clock = |long| {
        let (budget, _, wall) = limits.budget(long);
        (budget.wall, wall)
    };
    let wall = Clocks { call: clock(false), long: clock(true) };
    let said = Said { invoke: invoke.is_some(), elicit: elicit.is_some() };
    let (invoke, elicit) = (invoke.unwrap_or_default(), elicit.unwrap_or_default());
    let rules = Rules { wall, invoke, elicit, chain, ..rules };
    Policy { grants, limits, rules, said, terms, expose }
}

/// What is told of a section that does not exist: in which its key belongs, which was meant, or which there are.
fn unknown_section(name: &str) -> String {
    let sections = [&grants::GRANTS, &actions::ACTIONS, &expose::EXPOSE];
    let home = sections.iter().find(|section| section.names().any(|key| key == name));
    let home = home.map(|section| section.name);
    let home = home.or_else(|| limits::LIMITS.iter().any(|key| key.name == name).then_some(limits::SECTION));
    if let Some(home) = home {
        return format!("`{name}` belongs in the section [{home}]");
    }
    let near = did_you_mean(name, SECTIONS);
    if near.is_empty() {
        let there = SECTIONS.map(|section| format!("[{section}]")).join(", ");
        return format!("unknown section `{name}`; there are {there}");
    }
    format!("unknown section `{name}`{near}")
}
