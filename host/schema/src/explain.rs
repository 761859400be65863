//! Errors that teach: what is wrong with a call's parameters, in words that help to mend it.

use jsonschema::ValidationError;
use loggia_facade::{Action, Failure, code};
use serde_json::Value;

use crate::{
    fault::{self, Fault},
    keywords, limits,
    rules::Rules,
    show,
};

/// Says what is wrong with parameters that the validator refuses. `others` are the facade's actions, among which the
/// owner of a foreign parameter is looked for.
pub(crate) fn faults(rules: &Rules, action: &str, instance: &Value, others: &[(&Action, &Rules)]) -> Failure {
    let about = About { rules, action, instance, others };
    let mut faults = Vec::new();
    let mut cut = false;
    if let Ok(validator) = rules.validator() {
        if is_large(instance) {
            // A megabyte of wrong items would be as many errors; the first will do.
            cut = true;
            if let Err(error) = validator.validate(instance) {
                fault::add(&about, &error, &mut faults);
            }
        } else {
            for error in validator.iter_errors(instance) {
                fault::add(&about, &error, &mut faults);
            }
        }
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
    let mut message = messages.join("; ");
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
    failure.hint = (!hints.is_empty()).then(|| hints.join(" "));
    failure
}

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
    pub others: &'a [(&'a Action, &'a Rules)],
}

impl<'a> About<'a> {
    /// The schema in which a keyword refused, and the keyword's own value.
    pub(crate) fn schema(&self, error: &ValidationError<'_>) -> Option<&'a Value> {
        let path = error.schema_path().as_str();
        let (parent, _) = path.rsplit_once('/')?;
        self.rules.schema.pointer(parent)
    }

    /// ` (got "standard")`; nothing for a secret.
    pub(crate) fn got(&self, error: &ValidationError<'_>) -> String {
        if self.is_secret(error) {
            String::new()
        } else {
            format!(" (got {})", show::value(error.instance()))
        }
    }

    /// Whether what was refused is a secret or holds one.
    pub(crate) fn is_secret(&self, error: &ValidationError<'_>) -> bool {
        let path = error.instance_path().as_str();
        match path.split('/').nth(1) {
            Some(name) => self.rules.is_secret(&name.replace("~1", "/").replace("~0", "~")),
            None => keywords::holds_secret(&self.rules.schema),
        }
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
        let clue = match (owners.as_slice(), show::nearest(name, left)) {
            (_, Some(near)) => format!(" (did you mean `{near}`?)"),
            ([], None) => String::new(),
            (owners, None) => {
                let few: Vec<&str> = owners.iter().take(4).copied().collect();
                format!(" (it belongs to {})", show::names(&few, "and"))
            }
        };
        format!("`{shown}` is not a parameter of `{}`{clue}", self.action)
    }

    fn has_default(&self, name: &str) -> bool {
        let schema = self.rules.schema.as_object().and_then(|root| keywords::property(root, name));
        schema.is_some_and(|schema| schema.get("default").is_some())
    }

    /// Whether some alternative of the parameters' schema knows this name.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.rules.has(name)
    }
}

#[cfg(test)]
mod tests;
