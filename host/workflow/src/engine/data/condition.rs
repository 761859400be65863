//! Evaluation of conditions.

use crate::{
    definition::WorkflowStep,
    engine::failure::StepError,
    template::{EvalError, TemplateScope},
};

/// Evaluates a step's condition; a step without one runs. `show`: redacts a text for an error.
pub(crate) fn evaluate(
    step: &WorkflowStep,
    scope: &TemplateScope<'_>,
    strict: bool,
    show: impl Fn(&str) -> String,
) -> Result<bool, StepError> {
    let Some(condition) = &step.condition else { return Ok(true) };
    let verdict = condition.expand(scope, strict).and_then(|expanded| parse_verdict(&expanded.text, show));
    verdict.map_err(|error| {
        StepError::from_template(&format!("failed to evaluate condition for step {}", step.id), error)
    })
}

/// Parses the text of a condition. Unlike ToolHive, ignores surrounding white space.
fn parse_verdict(text: &str, show: impl Fn(&str) -> String) -> Result<bool, EvalError> {
    match text.trim() {
        "true" | "True" | "TRUE" => Ok(true),
        "false" | "False" | "FALSE" => Ok(false),
        _ => {
            let got = show(text);
            Err(EvalError {
                message: format!("condition must evaluate to 'true' or 'false', got: {got:?}"),
                hint: Some("Compare: `{{eq .params.mode \"fast\"}}`.".to_owned()),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_words_of_truth_are_taken() {
        for (text, expected) in [
            ("true", Some(true)),
            ("True", Some(true)),
            ("TRUE", Some(true)),
            (" true\n", Some(true)),
            ("false", Some(false)),
            ("False", Some(false)),
            ("FALSE", Some(false)),
            ("1", None),
            ("tRUE", None),
            ("not_boolean", None),
            ("", None),
            ("<no value>", None),
        ] {
            assert_eq!(parse_verdict(text, str::to_owned).ok(), expected, "{text:?}");
        }
        let error = parse_verdict("<no value>", str::to_owned).unwrap_err();
        assert_eq!(error.message, "condition must evaluate to 'true' or 'false', got: \"<no value>\"");
    }
}
