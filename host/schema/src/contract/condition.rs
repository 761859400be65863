//! Why a rule holds for this call and not for every one: `if`, `dependentSchemas` and `dependentRequired`, in words.

use jsonschema::ValidationError;
use serde_json::Value;

use crate::{
    contract::explain::About,
    model::{keywords, shape::values},
    text::show::{self, allowed},
};

/// ` where `kind` is circle`; empty where the rule always holds.
pub(crate) fn of(about: &About<'_>, error: &ValidationError<'_>) -> String {
    let path = error.schema_path().as_str();
    let mut steps: Vec<&str> = path.split('/').collect();
    // The innermost condition tells most.
    while let Some(step) = steps.pop() {
        let parent = steps.join("/");
        let told = match step {
            "then" | "else" => {
                about.rules.schema.pointer(&parent).and_then(|of| tell(of.get("if")?, step == "then"))
            }
            _ if steps.last() == Some(&"dependentSchemas") => Some(format!("`{}` is given", unescaped(step))),
            _ => None,
        };
        if let Some(told) = told {
            return format!(" where {told}");
        }
    }
    String::new()
}

/// As [`of`], for a member that is missing.
pub(crate) fn required(about: &About<'_>, error: &ValidationError<'_>, name: &str) -> String {
    let because = || {
        let schema = about.schema(error)?.as_object()?;
        let given = schema.get("dependentRequired")?.as_object()?.iter();
        given
            .filter(|_| !keywords::lists(schema, "required", name))
            .find(|(given, wants)| {
                error.instance().get(given).is_some()
                    && wants.as_array().is_some_and(|wants| wants.iter().any(|want| want == name))
            })
            .map(|(given, _)| format!(" where `{}` is given", show::name(given)))
    };
    because().unwrap_or_else(|| of(about, error))
}

/// What an `if` asks for, where it asks for one thing.
fn tell(condition: &Value, holds: bool) -> Option<String> {
    let not = if holds { "" } else { "not " };
    let properties = condition.get("properties").and_then(Value::as_object);
    match properties.map(|properties| properties.iter().collect::<Vec<_>>()).as_deref() {
        Some([(name, schema)]) => {
            let said = match values(schema.as_object()?)? {
                [only] => allowed(only),
                several => {
                    let several: Vec<String> = several.iter().take(8).map(allowed).collect();
                    format!("one of {}", several.join(", "))
                }
            };
            Some(format!("`{}` is {not}{said}", show::name(name)))
        }
        Some([_, ..]) => None,
        _ => match condition.get("required")?.as_array()?.as_slice() {
            [Value::String(name)] => Some(format!("`{}` is {not}given", show::name(name))),
            _ => None,
        },
    }
}

fn unescaped(step: &str) -> String {
    show::name(&step.replace("~1", "/").replace("~0", "~"))
}
