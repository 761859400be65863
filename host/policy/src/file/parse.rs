//! From the text of a policy file to a policy.

use super::{actions, expose};
use crate::{
    document::{PolicySetting, field::Fields, key::did_you_mean, problem::Problems, tree},
    grants,
    grants::GrantedSet,
    limits,
    limits::LimitSet,
    model::{FacadeRules, Policy, PolicyPaths, StatedRules, WallClocks},
};

/// Why a policy file cannot be used: all that is wrong with it, each with its line. Reads after the file's name.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PolicyError(Problems);

impl Policy {
    /// Reads the text of a policy file.
    ///
    /// # Errors
    ///
    /// Names all that is wrong, each with its line, and for an unknown key the nearest known one.
    pub fn parse(text: &str, setting: &PolicySetting<'_>) -> Result<Self, PolicyError> {
        let mut problems = Problems::default();
        let table = tree::parse_tree(text, setting.variable, &mut problems).table;
        let policy = read(&Fields::root(&table), setting, &mut problems);
        if problems.is_empty() { Ok(policy) } else { Err(PolicyError(problems.sorted())) }
    }
}

impl PolicyPaths {
    /// The paths that the text of a policy names, as far as it can be read.
    pub fn parse(text: &str, setting: &PolicySetting<'_>) -> Self {
        let mut problems = Problems::default();
        let table = tree::parse_tree(text, setting.variable, &mut problems).table;
        let file = Fields::root(&table);
        let grants = file.get(grants::SECTION);
        grants.map(|field| grants::paths(&field, setting)).unwrap_or_default()
    }
}

/// The sections' names, in the order of the reference.
const SECTIONS: [&str; 4] = [grants::SECTION, limits::SECTION, actions::ACTIONS.name, expose::EXPOSE.name];

fn read(file: &Fields<'_>, setting: &PolicySetting<'_>, problems: &mut Problems) -> Policy {
    for (key, line) in file.keys().filter(|(key, _)| !SECTIONS.contains(key)) {
        problems.add(line, unknown_section(key));
    }
    let section = |name: &str| file.get(name);
    let GrantedSet { grants, invoke, elicit } =
        section(grants::SECTION).map(|field| grants::read(&field, setting, problems)).unwrap_or_default();
    let LimitSet { limits, rules } =
        section(limits::SECTION).map(|field| limits::read(&field, problems)).unwrap_or_default();
    let (terms, chain) =
        section(actions::ACTIONS.name).map(|field| actions::read(&field, problems)).unwrap_or_default();
    let expose = section(expose::EXPOSE.name).map(|field| expose::read(&field, problems)).unwrap_or_default();
    let clock = |long| {
        let (budget, _, wall) = limits.budget(long);
        (budget.wall, wall)
    };
    let wall = WallClocks { call: clock(false), long: clock(true) };
    let stated = StatedRules { invoke: invoke.is_some(), elicit: elicit.is_some() };
    let (invoke, elicit) = (invoke.unwrap_or_default(), elicit.unwrap_or_default());
    let rules = FacadeRules { wall_clocks: wall, invoke, elicit, chain, ..rules };
    Policy { grants, limits, rules, stated, terms, expose }
}

/// The message for an unknown section: where its key belongs, which was meant, or which there are.
fn unknown_section(name: &str) -> String {
    let sections = [&actions::ACTIONS, &expose::EXPOSE];
    let home = sections.iter().find(|section| section.names().any(|key| key == name));
    let home = home.map(|section| section.name);
    let home = home.or_else(|| grants::names().any(|key| key == name).then_some(grants::SECTION));
    let home =
        home.or_else(|| limits::LIMITS.iter().any(|key| key.name() == name).then_some(limits::SECTION));
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
