//! The trait of grants. Everything specific to one grant is in the file of its type.

use loggia_facade::{Effect, Want};
use loggia_text::printable;
use toml::Value;

use crate::{
    document::{PolicySetting, field::Field, key::Key, problem::Problems},
    model::{InvokeRule, PluginGrants, Policy},
};

/// One key of the section `[grants]`.
pub trait Grant: Sync {
    /// Returns the key, for parsing, messages and the reference page.
    fn key(&self) -> &'static Key;

    /// Reads the value of the key. Called at most once for a policy, in the order of the table, and only if the key is
    /// present. Must add all problems of the value, so that one pass reports them all.
    fn read(&self, field: &Field<'_>, reading: &mut GrantReading<'_>);

    /// Returns true if a policy grants anything with this key.
    fn is_given(&self, policy: &Policy) -> bool;

    /// Returns true if a policy grants what a plugin requests. A detail that cannot be parsed counts as granted if the
    /// policy grants anything with this key.
    fn covers(&self, policy: &Policy, want: &WantedGrant<'_>) -> bool;

    /// Renders what a policy grants with this key, as texts that follow "may". Covers what actions up to this effect can
    /// use. Must not contain values of secrets, variables or settings.
    fn explain(&self, policy: &Policy, worst: Effect) -> Vec<String>;

    /// Returns a value for `loggia policy init`, in TOML: the least that the requests need. `None`: the plugin does not
    /// request this grant.
    fn draft(&self, wants: &WantedGrants<'_>) -> Option<String>;

    /// Returns another value that would satisfy the requests, for a comment of `loggia policy init`, with a sentence before it.
    fn draft_alternative(&self, wants: &WantedGrants<'_>) -> Option<&'static str> {
        let _ = wants;
        None
    }
}

/// Values of the section `[grants]`.
#[derive(Debug, Default)]
pub struct GrantedSet {
    /// Grants that the sandbox enforces.
    pub grants: PluginGrants,
    /// Actions that the plugin may call. `None`: the key is not set.
    pub invoke: Option<Vec<InvokeRule>>,
    /// True if the plugin may ask the user. `None`: the key is not set.
    pub elicit: Option<bool>,
}

/// Section `[grants]` that is being read.
pub struct GrantReading<'a> {
    /// Values read so far.
    pub granted: GrantedSet,
    /// Inputs besides the text.
    pub setting: &'a PolicySetting<'a>,
    /// Problems found so far.
    pub problems: &'a mut Problems,
    /// True if a rule of `http` is invalid. The hosts that it would allow are unknown, so hosts of secrets are not checked.
    pub has_invalid_rules: bool,
}

/// Parsed request of a plugin: `dirs`, `http: https://api.example.com`, `secrets: GITHUB_TOKEN`.
#[derive(Clone, Copy)]
pub struct WantedGrant<'a> {
    /// Requested grant.
    pub grant: &'static dyn Grant,
    /// Requested part of the grant, if any: a destination, a variable, an action.
    pub detail: Option<&'a str>,
}

impl<'a> WantedGrant<'a> {
    /// Returns the first word of the detail. The others only describe it.
    pub fn word(&self) -> Option<&'a str> {
        self.words().next()
    }

    /// Iterates over the first word of the detail, and those that commas add to it. The others only describe them.
    pub fn words(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut continues = true;
        let words = self.detail.unwrap_or_default().split_whitespace();
        let listed =
            words.take_while(move |word| std::mem::replace(&mut continues, word.ends_with([',', ';'])));
        listed.map(|word| word.trim_end_matches([',', ';'])).filter(|word| !word.is_empty())
    }

    /// Returns true if a policy grants the request.
    pub fn is_granted(&self, policy: &Policy) -> bool {
        self.grant.covers(policy, self)
    }
}

/// All requests of a plugin.
pub struct WantedGrants<'a>(Vec<(&'a Want, Option<WantedGrant<'a>>)>);

impl<'a> WantedGrants<'a> {
    /// Creates the list from requests and their parsed form. `None`: the request names no grant of this host.
    pub fn new(wants: Vec<(&'a Want, Option<WantedGrant<'a>>)>) -> Self {
        Self(wants)
    }

    /// Returns true if the plugin requests nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the requests of the grant with this key. `None`: those that name no grant of this host.
    pub fn wants(&self, key: Option<&str>) -> impl Iterator<Item = &'a Want> {
        let has_key = move |wanted: &Option<WantedGrant<'_>>| {
            wanted.as_ref().map(|wanted| wanted.grant.key().name) == key
        };
        self.0.iter().filter(move |(_, wanted)| has_key(wanted)).map(|(want, _)| *want)
    }

    /// Iterates over the parsed requests of the grant with this key.
    pub fn wanted(&self, key: &str) -> impl Iterator<Item = WantedGrant<'a>> {
        self.0.iter().filter_map(move |(_, wanted)| wanted.filter(|wanted| wanted.grant.key().name == key))
    }

    /// Returns true if the plugin requests the grant with this key.
    pub fn has(&self, key: &str) -> bool {
        self.wanted(key).next().is_some()
    }
}

/// Renders items as a TOML list without duplicates.
pub(super) fn toml_list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", unique(items).join(", "))
}

/// Renders names as a TOML table without duplicates, with empty strings as values. Omits names that need quotes.
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

/// Renders a text as a TOML string on one line, in which no variables expand.
pub(super) fn toml_text(text: &str) -> String {
    Value::String(printable(text).replace("${", "$${")).to_string()
}

/// Joins items with commas.
pub(super) fn join<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.as_ref().to_owned()).collect();
    items.join(", ")
}
