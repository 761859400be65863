//! What one grant is: everything that depends on which grant it is stands in the one file of its type.

use loggia_facade::{Effect, Want};
use loggia_text::printable;
use toml::Value;

use crate::{
    document::{PolicySetting, field::Field, key::Key, problem::Problems},
    model::{InvokeRule, PluginGrants, Policy},
};

/// One grant of the section `[grants]`.
pub trait Grant: Sync {
    /// Its key, for parsing, messages and the reference page.
    fn key(&self) -> &'static Key;

    /// Reads the key's value. Called at most once for a policy, in the order of the table, and only where
    /// the key is given. Adds a problem for everything that is wrong, so that one pass reports it all.
    fn read(&self, field: &Field<'_>, reading: &mut GrantReading<'_>);

    /// Whether a policy grants anything by it.
    fn is_given(&self, policy: &Policy) -> bool;

    /// Whether a policy grants what a plugin wants. A detail that is not understood counts as granted if anything of its
    /// kind is.
    fn covers(&self, policy: &Policy, want: &WantedGrant<'_>) -> bool;

    /// What a policy grants by it, in words that follow "may", as far as actions of this effect and below can use it.
    fn explain(&self, policy: &Policy, worst: Effect) -> Vec<String>;

    /// The value that a first policy suggests, in TOML: as little as the wants need. None where nothing asks for it.
    fn draft(&self, wants: &WantedGrants<'_>) -> Option<String>;

    /// Whether the grant means something to workflows, whose steps otherwise do what the facades that they call are
    /// granted.
    fn applies_to_workflows(&self) -> bool {
        false
    }
}

/// What the section grants: to the sandbox, and to the gate.
#[derive(Debug, Default)]
pub struct GrantedSet {
    /// What the sandbox gives.
    pub grants: PluginGrants,
    /// Which actions it may call; none where the policy is silent.
    pub invoke: Option<Vec<InvokeRule>>,
    /// Whether it may ask the user; none where the policy is silent.
    pub elicit: Option<bool>,
}

/// A section `[grants]` while it is read.
pub struct GrantReading<'a> {
    /// What was read so far.
    pub granted: GrantedSet,
    /// What the text depends on beside itself.
    pub setting: &'a PolicySetting<'a>,
    /// All that is wrong so far.
    pub problems: &'a mut Problems,
    /// A rule of `http` could not be read, so nobody knows which hosts it would allow.
    pub has_unread_rules: bool,
}

/// A want as it is understood: `dirs`, `http: https://api.example.com`, `secrets: GITHUB_TOKEN`.
#[derive(Clone, Copy)]
pub struct WantedGrant<'a> {
    /// Which grant.
    pub grant: &'static dyn Grant,
    /// Which part of it, if the plugin names one: a destination, a variable, an action.
    pub detail: Option<&'a str>,
}

impl<'a> WantedGrant<'a> {
    /// The first word of the detail: what follows only describes it.
    pub fn word(&self) -> Option<&'a str> {
        let mut words = self.detail.unwrap_or_default().split_whitespace();
        words.next().map(|word| word.trim_end_matches([',', ';'])).filter(|word| !word.is_empty())
    }

    /// Whether a policy grants it.
    pub fn is_granted(&self, policy: &Policy) -> bool {
        self.grant.covers(policy, self)
    }
}

/// All wants of a plugin.
pub struct WantedGrants<'a>(Vec<(&'a Want, Option<WantedGrant<'a>>)>);

impl<'a> WantedGrants<'a> {
    /// Wants, each as it is understood; none where it names no grant.
    pub fn new(wants: Vec<(&'a Want, Option<WantedGrant<'a>>)>) -> Self {
        Self(wants)
    }

    /// Whether the plugin wants nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The wants of the grant with this key; without one, those that name no grant of this host.
    pub fn wants(&self, key: Option<&str>) -> impl Iterator<Item = &'a Want> {
        let is_meant = move |wanted: &Option<WantedGrant<'_>>| {
            wanted.as_ref().map(|wanted| wanted.grant.key().name) == key
        };
        self.0.iter().filter(move |(_, wanted)| is_meant(wanted)).map(|(want, _)| *want)
    }

    /// The same as they are understood.
    pub fn wanted(&self, key: &str) -> impl Iterator<Item = WantedGrant<'a>> {
        self.0.iter().filter_map(move |(_, wanted)| wanted.filter(|wanted| wanted.grant.key().name == key))
    }

    /// Whether anything of this key is wanted.
    pub fn has(&self, key: &str) -> bool {
        self.wanted(key).next().is_some()
    }
}

/// A TOML list of these items, each once.
pub(super) fn toml_list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", unique(items).join(", "))
}

/// A TOML table of these names, each once, with empty strings as values; names that need quotes are left out.
pub(super) fn toml_table_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let is_bare = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let entries = unique(names.filter(|word| is_bare(word)).map(|name| format!("{name} = \"\"")));
    if entries.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", entries.join(", ")) }
}

fn unique(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for item in items {
        if !out.contains(&item) {
            out.push(item);
        }
    }
    out
}

/// A TOML string on one line that holds no variables.
pub(super) fn toml_text(text: &str) -> String {
    Value::String(printable(text).replace("${", "$${")).to_string()
}

/// Items as a sentence lists them.
pub(super) fn listed<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.as_ref().to_owned()).collect();
    items.join(", ")
}
