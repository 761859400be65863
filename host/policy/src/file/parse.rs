//! Parses the text of a policy file.

use super::{actions, expose};
use crate::{
    document::{PolicySetting, field::Fields, key::did_you_mean, problem::Problems, tree},
    grants,
    grants::GrantedSet,
    limits,
    model::{FacadeRules, Policy, PolicyPaths, StatedRules},
};

/// All problems of a policy file, each with its line. Displays as the text after the file's name.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PolicyError(Problems);

impl Policy {
    /// Parses the text of a policy file.
    ///
    /// # Errors
    ///
    /// All problems, each with its line, and for an unknown key the closest known one.
    pub fn parse(text: &str, setting: &PolicySetting<'_>) -> Result<Self, PolicyError> {
        let mut problems = Problems::default();
        let table = tree::parse_tree(text, setting.variable, &mut problems).table;
        let policy = read(&Fields::root(&table), setting, &mut problems);
        if problems.is_empty() { Ok(policy) } else { Err(PolicyError(problems.sorted())) }
    }
}

impl PolicyPaths {
    /// Parses only the paths of a policy. Skips everything invalid.
    pub fn parse(text: &str, setting: &PolicySetting<'_>) -> Self {
        let mut problems = Problems::default();
        let table = tree::parse_tree(text, setting.variable, &mut problems).table;
        let file = Fields::root(&table);
        let grants = file.get(grants::SECTION);
        grants.map(|field| grants::paths(&field, setting)).unwrap_or_default()
    }
}

/// Names of the sections, in the order of the reference page.
const SECTIONS: [&str; 4] = [grants::SECTION, limits::SECTION, actions::ACTIONS.name, expose::EXPOSE.name];

fn read(file: &Fields<'_>, setting: &PolicySetting<'_>, problems: &mut Problems) -> Policy {
    for (key, line) in file.keys().filter(|(key, _)| !SECTIONS.contains(key)) {
        problems.add(line, unknown_section_message(key));
    }
    let section = |name: &str| file.get(name);
    let GrantedSet { grants, invoke, elicit } =
        section(grants::SECTION).map(|field| grants::read(&field, setting, problems)).unwrap_or_default();
    let limits = section(limits::SECTION).map(|field| limits::read(&field, problems)).unwrap_or_default();
    let (terms, chain) =
        section(actions::ACTIONS.name).map(|field| actions::read(&field, problems)).unwrap_or_default();
    let expose = section(expose::EXPOSE.name).map(|field| expose::read(&field, problems)).unwrap_or_default();
    let stated = StatedRules { invoke: invoke.is_some(), elicit: elicit.is_some() };
    let (invoke, elicit) = (invoke.unwrap_or_default(), elicit.unwrap_or_default());
    let rules = FacadeRules { invoke, elicit, chain, ..FacadeRules::under(&limits) };
    Policy { grants, limits, rules, stated, terms, expose }
}

/// Renders the problem of an unknown section: the section that its key belongs in, else the closest section, else all of
/// them.
fn unknown_section_message(name: &str) -> String {
    let sections = [&actions::ACTIONS, &expose::EXPOSE];
    let home = sections.iter().find(|section| section.names().any(|key| key == name));
    let home = home.map(|section| section.name);
    let home = home.or_else(|| grants::names().any(|key| key == name).then_some(grants::SECTION));
    let home =
        home.or_else(|| limits::LIMITS.iter().any(|key| key.name() == name).then_some(limits::SECTION));
    if let Some(home) = home {
        return format!("`{name}` belongs in the section [{home}]");
    }
    let hint = did_you_mean(name, SECTIONS);
    if hint.is_empty() {
        let known = SECTIONS.map(|section| format!("[{section}]")).join(", ");
        return format!("unknown section `{name}`; known sections: {known}");
    }
    format!("unknown section `{name}`{hint}")
}
