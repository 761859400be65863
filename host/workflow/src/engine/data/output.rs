//! Construction of a run's result.

use loggia_facade::Object;
use serde_json::{Value, json};

use crate::{
    Workflow,
    definition::{PropertySource, PropertyType, ResultProperty, ResultShape},
    engine::{
        failure::StepError,
        state::{StepEnd, StepPhase, TemplateContext},
        values::{SizeBudget, coerce, size_budget::RESULT},
    },
    template::{EvalError, ExpandedText},
};

/// Go's text for a missing value.
const NO_VALUE: &str = "<no value>";

/// Message and hint for a part that cannot be built.
type Unmade = (String, Option<String>);

/// Builds the result of a run whose steps have all ended.
pub(crate) fn build_result(
    workflow: &Workflow,
    phases: &[StepPhase],
    context: &TemplateContext,
) -> Result<Value, StepError> {
    let Some(output) = &workflow.output else {
        let last =
            last_completed_step(workflow, phases).and_then(|step| context.step(&workflow.steps[step].id));
        let output = last.and_then(|step| step.get("output")).cloned().unwrap_or_default();
        return SizeBudget::new("the result is", RESULT).take(output).map_err(|error| {
            let hint = Some("Define an `output` with only the properties that are needed.".to_owned());
            StepError {
                message: error.message.clone(),
                ..StepError::from_template("", EvalError { hint, ..error })
            }
        });
    };
    build_mapped(output, workflow.strict, context).map_err(|(message, hint)| {
        let error = EvalError { message: message.clone(), hint };
        StepError {
            message: format!("output construction failed: {message}"),
            ..StepError::from_template("", error)
        }
    })
}

/// Returns the step that provides the result: among the completed steps the one with the longest chain of
/// dependencies, and among equals the last in the file.
fn last_completed_step(workflow: &Workflow, phases: &[StepPhase]) -> Option<usize> {
    let mut levels = vec![0usize; workflow.steps.len()];
    // Steps usually follow their dependencies, so two passes suffice.
    for _ in 0..levels.len() {
        let mut changed = false;
        for (index, step) in workflow.steps.iter().enumerate() {
            let before = step.depends_on.iter().filter_map(|of| levels.get(*of)).max();
            let level = before.map_or(0, |level| level + 1);
            changed |= level != levels[index];
            levels[index] = level;
        }
        if !changed {
            break;
        }
    }
    let completed = |index: &usize| matches!(phases.get(*index), Some(StepPhase::Ended(StepEnd::Completed)));
    (0..levels.len()).filter(completed).max_by_key(|index| (levels[*index], *index))
}

fn build_mapped(output: &ResultShape, strict: bool, context: &TemplateContext) -> Result<Value, Unmade> {
    let mut room = SizeBudget::new("the result is", RESULT);
    let out = build_properties(&output.properties, (strict, context), &mut room)?;
    for name in &output.required {
        match out.get(name) {
            None => return Err((format!("required output field {name:?} is missing"), None)),
            Some(Value::Null) => return Err((format!("required output field {name:?} is nil"), None)),
            Some(_) => {}
        }
    }
    Ok(Value::Object(out))
}

fn build_properties(
    parts: &[(String, ResultProperty)],
    (strict, context): (bool, &TemplateContext),
    room: &mut SizeBudget,
) -> Result<Object, Unmade> {
    let mut out = Object::new();
    for (name, part) in parts {
        let made = match &part.from {
            PropertySource::Properties(parts) => {
                build_properties(parts, (strict, context), room).map(Value::Object)
            }
            PropertySource::Value(template) => match template.expand(&context.scope(None), strict) {
                Ok(expanded) => coerce_expanded(expanded, part, strict),
                Err(EvalError { message, hint }) => Err((message, hint)),
            },
        };
        let made = made.or_else(|unmade| {
            let default = part.default.as_ref().and_then(|default| coerce_default(default, part.kind));
            default.ok_or(unmade)
        });
        let made = made.and_then(|made| match part.from {
            PropertySource::Value(_) => {
                room.take(made).map_err(|EvalError { message, hint }| (message, hint))
            }
            PropertySource::Properties(_) => Ok(made),
        });
        let made = made.map_err(|(message, hint)| {
            (format!("failed to construct output property {name:?}: {message}"), hint)
        })?;
        out.insert(name.clone(), made);
    }
    Ok(out)
}

/// Converts an expanded template to the property's type.
fn coerce_expanded(expanded: ExpandedText, part: &ResultProperty, strict: bool) -> Result<Value, Unmade> {
    let ExpandedText { text, value } = expanded;
    if text == NO_VALUE || value.as_ref().is_some_and(Value::is_null) {
        // ToolHive returns the text `<no value>`; in strict files null stays null.
        let text_is_wanted = part.kind == PropertyType::String && part.default.is_none();
        return match (text_is_wanted, strict) {
            (true, false) => Ok(NO_VALUE.into()),
            (true, true) => Ok(Value::Null),
            (false, _) => Err(("there is no value".to_owned(), Some("Give it a `default`.".to_owned()))),
        };
    }
    if part.kind == PropertyType::String {
        return Ok(Value::String(text));
    }
    let whole = value.filter(|value| is_of_type(value, part.kind));
    whole.or_else(|| parse_text(&text, part.kind)).ok_or_else(|| {
        (
            format!("the value is not of type {}", part.kind.as_str()),
            Some("Give it a `default`, or another type.".to_owned()),
        )
    })
}

fn is_of_type(value: &Value, kind: PropertyType) -> bool {
    match kind {
        PropertyType::String => value.is_string(),
        PropertyType::Integer => value.is_i64() || value.is_u64(),
        PropertyType::Number => value.is_number(),
        PropertyType::Boolean => value.is_boolean(),
        PropertyType::Object => value.is_object(),
        PropertyType::Array => value.is_array(),
    }
}

fn parse_text(text: &str, kind: PropertyType) -> Option<Value> {
    match kind {
        PropertyType::String => Some(text.into()),
        PropertyType::Integer => coerce::parse_integer(text),
        PropertyType::Number => coerce::parse_number(text),
        PropertyType::Boolean => coerce::parse_boolean(text),
        PropertyType::Object | PropertyType::Array => {
            serde_json::from_str(text).ok().filter(|value| is_of_type(value, kind))
        }
    }
}

/// Converts a default to the property's type, by ToolHive's rules.
fn coerce_default(default: &Value, kind: PropertyType) -> Option<Value> {
    match (kind, default) {
        _ if is_of_type(default, kind) => Some(default.clone()),
        (PropertyType::Integer, Value::Number(number)) => coerce::to_number(number.as_f64()?.trunc()),
        (PropertyType::Boolean, Value::Number(number)) => Some(Value::Bool(number.as_i64() == Some(1))),
        (PropertyType::String, Value::Null) => Some(json!(NO_VALUE)),
        (PropertyType::String, other) => Some(other.to_string().into()),
        (_, Value::String(text)) => parse_text(text, kind),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(kind: PropertyType, default: Option<Value>) -> ResultProperty {
        let from = PropertySource::Properties(vec![]);
        ResultProperty { kind, description: String::new(), from, default, line: 0 }
    }

    #[test]
    fn defaults_are_converted_to_the_property_type() {
        use PropertyType::*;
        for (default, kind, expected) in [
            (json!("x"), String, Some(json!("x"))),
            (json!(7), String, Some(json!("7"))),
            (json!(2.9), Integer, Some(json!(2))),
            (json!("42"), Integer, Some(json!(42))),
            (json!("x"), Integer, None),
            (json!("TRUE"), Boolean, Some(json!(true))),
            (json!(1), Boolean, Some(json!(true))),
            (json!(0), Boolean, Some(json!(false))),
            (json!({"a": 1}), Object, Some(json!({"a": 1}))),
            (json!("[1]"), Array, Some(json!([1]))),
            (json!({}), Array, None),
            (json!(null), Number, None),
        ] {
            assert_eq!(coerce_default(&default, kind), expected, "{default} as {kind:?}");
        }
    }

    #[test]
    fn values_are_converted_to_the_property_type() {
        use PropertyType::*;
        let lone = |value: Value, text: &str| ExpandedText { text: text.to_owned(), value: Some(value) };
        let text = |text: &str| ExpandedText { text: text.to_owned(), value: None };
        for (expanded, kind, loose, strict) in [
            (text("42"), Integer, Some(json!(42)), Some(json!(42))),
            (lone(json!(1234567), "1234567"), Integer, Some(json!(1234567)), Some(json!(1234567))),
            (text("1.5"), Integer, None, None),
            (text("true"), Boolean, Some(json!(true)), Some(json!(true))),
            (text("{\"a\": 1}"), Object, Some(json!({"a": 1})), Some(json!({"a": 1}))),
            (lone(json!([1]), "[1]"), Array, Some(json!([1])), Some(json!([1]))),
            (lone(json!({"a": 1}), "map[a:1]"), Array, None, None),
            (text(""), String, Some(json!("")), Some(json!(""))),
            (text(NO_VALUE), String, Some(json!(NO_VALUE)), Some(json!(null))),
            (text(NO_VALUE), Integer, None, None),
            (lone(json!(null), NO_VALUE), Object, None, None),
        ] {
            let shown = format!("{expanded:?} as {kind:?}");
            assert_eq!(coerce_expanded(expanded.clone(), &part(kind, None), false).ok(), loose, "{shown}");
            assert_eq!(coerce_expanded(expanded, &part(kind, None), true).ok(), strict, "strict: {shown}");
        }
        assert!(
            coerce_expanded(text(NO_VALUE), &part(String, Some(json!("d"))), false).is_err(),
            "the default is used"
        );
        assert!(
            coerce_expanded(text(""), &part(String, Some(json!("d"))), false).is_ok(),
            "an empty text is a value"
        );
    }
}
