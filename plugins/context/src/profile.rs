//! Persona and preferences.

use std::collections::BTreeMap;

use loggia_sdk::{
    prelude::*,
    state::{Cell, Space},
};

/// Of all callers, and of one. The policy decides which: `caller = true`.
static SHARED: Cell<Profile> = Cell::new("profile");
static OWN: Cell<Profile> = Cell::new("profile").in_caller_space();

/// Maximum number of preferences, and of characters in a text of a list.
const PREFERENCES: usize = 50;
const TEXT: usize = 200;

/// What is stored. New fields need a default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    #[serde(default)]
    pub persona: Option<String>,
    #[serde(default)]
    pub preferences: BTreeMap<String, Preference>,
}

/// A preference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Preference {
    Flag(bool),
    Number(f64),
    Text(String),
    List(Vec<String>),
}

impl Preference {
    /// The word for its type in messages.
    fn kind(&self) -> &'static str {
        match self {
            Self::Flag(_) => "a flag",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list of texts",
        }
    }
}

/// The cell of this caller, or the one that all share.
fn cell(call: &Call) -> Cell<Profile> {
    if call.caller().is_some() { OWN } else { SHARED }
}

/// Reads the profile.
///
/// # Errors
///
/// The state's.
pub fn read(call: &Call) -> Result<Profile> {
    Ok(cell(call).get()?.unwrap_or_default())
}

/// Replaces the persona; an empty one is removed.
///
/// # Errors
///
/// The state's.
pub fn set_persona(call: &Call, text: &str) -> Result<Option<String>> {
    let text = Some(text.trim()).filter(|text| !text.is_empty());
    Ok(cell(call).update(|profile| profile.persona = text.map(str::to_owned))?.persona)
}

/// Sets a preference to its only value, or removes it without one. Returns all preferences.
///
/// # Errors
///
/// `invalid_params` for several values and for texts of a list that are too long, `conflict` for another type than before,
/// `unavailable` for too many preferences.
pub fn set_preference(
    call: &Call,
    name: &str,
    mut values: Vec<Preference>,
) -> Result<BTreeMap<String, Preference>> {
    if values.len() > 1 {
        let kinds: Vec<&str> = values.iter().map(Preference::kind).collect();
        return Err(Failure::invalid_params(format!(
            "`{name}` gets more than one value: {}",
            kinds.join(", ")
        ))
        .hint("Pass one of `text`, `number`, `flag` and `list`."));
    }
    let value = values.pop();
    if let Some(Preference::List(texts)) = &value
        && texts.iter().any(|text| !(1..=TEXT).contains(&text.chars().count()))
    {
        return Err(Failure::invalid_params(format!("each text of `list` has 1 to {TEXT} characters"))
            .hint("Longer texts belong into the persona or a memory."));
    }
    let space = if call.caller().is_some() { Space::Caller } else { Space::Shared };
    space.transaction(|tx| {
        let slot = cell(call).of(tx);
        let mut profile = slot.get()?.unwrap_or_default();
        match &value {
            Some(value) => set(&mut profile, name, value)?,
            None => drop(profile.preferences.remove(name)),
        }
        slot.set(&profile)?;
        Ok(profile.preferences)
    })
}

fn set(profile: &mut Profile, name: &str, value: &Preference) -> Result<()> {
    let before = profile.preferences.get(name);
    if before.is_none() && profile.preferences.len() >= PREFERENCES {
        return Err(Failure::unavailable(format!("at most {PREFERENCES} preferences can be set"))
            .hint("Call `set_preference` with only the `name` of one to remove it."));
    }
    if let Some(before) = before.filter(|before| before.kind() != value.kind()) {
        return Err(Failure::conflict(format!("`{name}` is {}, not {}", before.kind(), value.kind()))
            .hint("To change the type, remove it first: call `set_preference` with only its `name`."));
    }
    profile.preferences.insert(name.to_owned(), value.clone());
    Ok(())
}
