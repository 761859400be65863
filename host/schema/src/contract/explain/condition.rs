//! Conditions of rules that hold only for some calls: `if`, `dependentSchemas` and `dependentRequired`, in words.

use jsonschema::ValidationError;
use serde_json::Value;

use crate::{
    contract::explain::context::ErrorContext,
    model::keywords::{self, allowed_values},
    text::show::{self, allowed},
};

/// The condition of the violated rule: ` where `kind` is circle`; empty for rules that always hold.
pub(crate) fn clause(context: &ErrorContext<'_>, error: &ValidationError<'_>) -> String {
    let path = error.schema_path().as_str();
    let mut steps: Vec<&str> = path.split('/').collect();
    // The innermost condition is the most specific.
    while let Some(step) = steps.pop() {
        let parent = steps.join("/");
        let condition = match step {
            "then" | "else" => {
                let schema = context.rules.schema.pointer(&parent);
                schema.and_then(|schema| describe_if(schema.get("if")?, step == "then"))
            }
            _ if steps.last() == Some(&"dependentSchemas") => Some(format!("`{}` is given", unescape(step))),
            _ => None,
        };
        if let Some(condition) = condition {
            return format!(" where {condition}");
        }
    }
    String::new()
}

/// The condition under which a missing member is required, as [`clause`] words it.
pub(crate) fn required_clause(context: &ErrorContext<'_>, error: &ValidationError<'_>, name: &str) -> String {
    let dependent = || {
        let schema = context.schema(error)?.as_object()?;
        let given = schema.get("dependentRequired")?.as_object()?.iter();
        given
            .filter(|_| !keywords::lists_name(schema, "required", name))
            .find(|(given, wants)| {
                error.instance().get(given).is_some()
                    && wants.as_array().is_some_and(|wants| wants.iter().any(|want| want == name))
            })
            .map(|(given, _)| format!(" where `{}` is given", show::name(given)))
    };
    dependent().unwrap_or_else(|| clause(context, error))
}

/// An `if` in words, or its negation; none for an `if` about more than one member.
fn describe_if(condition: &Value, holds: bool) -> Option<String> {
    let not = if holds { "" } else { "not " };
    let properties = condition.get("properties").and_then(Value::as_object);
    match properties.map(|properties| properties.iter().collect::<Vec<_>>()).as_deref() {
        Some([(name, schema)]) => {
            let values = match allowed_values(schema.as_object()?)? {
                [only] => allowed(only),
                several => {
                    let several: Vec<String> = several.iter().take(8).map(allowed).collect();
                    format!("one of {}", several.join(", "))
                }
            };
            Some(format!("`{}` is {not}{values}", show::name(name)))
        }
        Some([_, ..]) => None,
        _ => match condition.get("required")?.as_array()?.as_slice() {
            [Value::String(name)] => Some(format!("`{}` is {not}given", show::name(name))),
            _ => None,
        },
    }
}

fn unescape(step: &str) -> String {
    show::name(&step.replace("~1", "/").replace("~0", "~"))
}
