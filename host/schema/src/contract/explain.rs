//! Errors that teach: what is wrong with a call's parameters, in words that help to mend it.

use jsonschema::ValidationError;
use loggia_facade::{Action, Failure, code};
use serde_json::Value;

use crate::{
    contract::{
        rules::Rules,
        violation::{self, Fault, Order},
    },
    model::{keywords, limits, secrets::Sight},
    text::{near, show},
};

/// Says what is wrong with parameters that the validator refuses.
pub(crate) fn faults(about: &About<'_>) -> Failure {
    let About { rules, action, instance, .. } = about;
    let mut faults = Vec::new();
    let mut cut = false;
    if let Ok(validator) = rules.compiled().map(|compiled| &compiled.validator) {
        if is_large(instance) {
            // A megabyte of wrong items would be as many errors; the first will do.
            cut = true;
            if let Err(error) = validator.validate(instance) {
                violation::add(about, &error, &mut faults);
            }
        } else {
            for error in validator.iter_errors(instance) {
                violation::add(about, &error, &mut faults);
            }
        }
    }
    // What one alternative does not know goes without saying where another fault is told.
    if faults.iter().any(|fault| fault.order != Order::Spare) {
        faults.retain(|fault| fault.order != Order::Spare);
    }
    cut |= faults.len() > MANY;
    faults.truncate(MANY);
    let mut faults = without_echoes(faults);
    // What is missing first: often what is unknown was meant to be it.
    faults.sort_by_key(|fault| fault.order);
    let mut messages: Vec<String> = Vec::new();
    let mut hints: Vec<String> = Vec::new();
    for fault in &faults {
        if !messages.contains(&fault.message) {
            messages.push(fault.message.clone());
            hints.extend(fault.hint.iter().filter(|hint| !hints.contains(hint)).cloned().collect::<Vec<_>>());
        }
    }
    let more = messages.len().saturating_sub(limits::FAULTS);
    messages.truncate(limits::FAULTS);
    let mut message = show::cut(&messages.join("; "), MESSAGE);
    match (more, cut) {
        (0, false) => {}
        (_, true) => message.push_str("; and perhaps more"),
        (more, false) => message.push_str(&format!("; and {more} more")),
    }
    if message.is_empty() {
        message = format!("the parameters are not what `{action}` takes");
    }
    let mut failure = Failure::new(code::INVALID_PARAMS, message);
    hints.truncate(3);
    failure.hint = (!hints.is_empty()).then(|| show::cut(&hints.join(" "), HINT));
    failure
}

/// Characters of a message, which a model reads in full.
const MESSAGE: usize = 1200;
/// Characters of a place in the parameters.
const PATH: usize = 200;
/// Characters of a hint.
const HINT: usize = 480;
/// Faults that are looked at.
const MANY: usize = 64;

/// Whether a value holds more values than errors should be collected for.
fn is_large(value: &Value) -> bool {
    fn count(value: &Value, left: &mut usize) {
        *left = left.saturating_sub(1);
        match value {
            _ if *left == 0 => {}
            Value::Array(items) => items.iter().take(*left).for_each(|item| count(item, left)),
            Value::Object(members) => members.values().take(*left).for_each(|item| count(item, left)),
            _ => {}
        }
    }
    let mut left = 4096;
    count(value, &mut left);
    left == 0
}

/// Leaves of all faults at one place those that say most: a wrong type makes its other faults meaningless, and a list
/// of allowed values says more than the type.
fn without_echoes(faults: Vec<Fault>) -> Vec<Fault> {
    let best = |place: &str| faults.iter().filter(|f| f.place == place).map(|f| f.rank).min();
    let ranks: Vec<_> = faults.iter().map(|fault| best(&fault.place)).collect();
    faults
        .into_iter()
        .zip(ranks)
        .filter(|(fault, best)| Some(fault.rank) == *best)
        .map(|(fault, _)| fault)
        .collect()
}

/// What the faults are about.
pub(crate) struct About<'a> {
    pub rules: &'a Rules,
    pub action: &'a str,
    pub instance: &'a Value,
    /// The facade's actions, among which the owner of a foreign parameter is looked for.
    pub others: &'a [(&'a Action, &'a Rules)],
    /// Nothing of what was sent is shown, since it holds parameters of other actions, which may be secrets.
    pub discreet: bool,
}

impl<'a> About<'a> {
    /// The schema in which a keyword refused, and the keyword's own value.
    pub(crate) fn schema(&self, error: &ValidationError<'_>) -> Option<&'a Value> {
        let path = error.schema_path().as_str();
        let (parent, _) = path.rsplit_once('/')?;
        self.rules.schema.pointer(parent)
    }

    /// ` (got "standard")`; nothing of a secret.
    pub(crate) fn got(&self, error: &ValidationError<'_>) -> String {
        match self.rules.secrets.at(error.instance_path()) {
            _ if self.discreet => String::new(),
            // A large value is not copied to be cut.
            Sight::Whole => format!(" (got {})", show::value(error.instance())),
            sight => sight
                .of(error.instance())
                .map_or_else(String::new, |shown| format!(" (got {})", show::value(&shown))),
        }
    }

    /// Whether nothing may be shown of the value that was refused.
    pub(crate) fn is_secret(&self, error: &ValidationError<'_>) -> bool {
        matches!(self.rules.secrets.at(error.instance_path()), Sight::Hidden)
    }

    /// The place that a refusal is about, in the words of a message.
    pub(crate) fn subject(&self, error: &ValidationError<'_>) -> String {
        let path = self.path(error);
        let place = error.instance_path();
        let part = self.rules.secrets.nameable(place) < place.segments().count();
        match path.as_str() {
            "" => "the call".to_owned(),
            path if part => format!("a part of `{path}`"),
            path => format!("`{path}`"),
        }
    }

    /// `items[3].name`; a secret's own members are not named.
    pub(crate) fn path(&self, error: &ValidationError<'_>) -> String {
        let place = error.instance_path();
        let mut path = String::new();
        for segment in place.segments().take(self.rules.secrets.nameable(place)) {
            violation::push(&mut path, &segment);
        }
        show::cut(&path, PATH)
    }

    /// What the author advises: of the schema that refused, or of what encloses it.
    pub(crate) fn hint(&self, error: &ValidationError<'_>) -> Option<String> {
        let mut path = error.schema_path().as_str();
        while let Some((parent, _)) = path.rsplit_once('/') {
            path = parent;
            // Where the keys are names, none of them is a keyword.
            let names = matches!(
                path.rsplit('/').next(),
                Some("properties" | "patternProperties" | "dependentSchemas")
            );
            let advice = self.rules.schema.pointer(path).filter(|_| !names).and_then(keywords::advice);
            if advice.is_some() {
                return advice;
            }
        }
        None
    }

    /// What a parameter that this action does not have could have been.
    pub(crate) fn foreign(&self, name: &str) -> String {
        let shown = show::name(name);
        let owners: Vec<&str> = self
            .others
            .iter()
            .filter(|(action, rules)| action.name != self.action && rules.has(name))
            .map(|(action, _)| action.name.as_str())
            .collect();
        let own = self.rules.parameters().iter().map(|member| member.name.as_str());
        // A parameter that was sent already is not what another was meant to be; one with a default may not have been.
        let left = own.filter(|name| self.instance.get(name).is_none() || self.has_default(name));
        let near = near::nearest(name, left)
            .or_else(|| near::nearest(name, ["detail", "wait", "confirm", "params"]));
        let few: Vec<&str> = owners.iter().take(4).copied().collect();
        let more = if owners.len() > few.len() { " and others" } else { "" };
        let owners = show::names(&few, if more.is_empty() { "and" } else { "," }).replace(" , ", ", ");
        let clue = match (few.is_empty(), near) {
            (true, None) => String::new(),
            (true, Some(near)) => format!(" (did you mean `{near}`?)"),
            (false, None) => format!(" (it belongs to {owners}{more})"),
            (false, Some(near)) => format!(" (it belongs to {owners}{more}; did you mean `{near}`?)"),
        };
        format!("`{shown}` is not a parameter of `{}`{clue}", self.action)
    }

    fn has_default(&self, name: &str) -> bool {
        let schema = self.rules.schema.as_object().and_then(|root| keywords::property(root, name));
        schema.is_some_and(|schema| schema.get("default").is_some())
    }

    /// Whether some part of the parameters' schema knows this name.
    pub(crate) fn knows(&self, name: &str) -> bool {
        let root = self.rules.schema.as_object();
        self.rules.has(name) || root.is_some_and(|root| keywords::property(root, name).is_some())
    }
}
