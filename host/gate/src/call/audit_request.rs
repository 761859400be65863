//! A request as it was sent, for the line of one that is refused.

use loggia_facade::{Input, json::object_text};
use loggia_text::printable;

use super::call_trail::{digest, is_enabled};
use crate::plan::arguments_size;

/// A request as it was sent: all that is known of one that was refused. Most are not, so it is kept at the least cost, and read only then.
pub(super) struct AuditRequest {
    tool: String,
    input: SentInput,
}

/// What a request gave.
enum SentInput {
    /// The JSON text of short arguments: one allocation, where a copy makes one for each name and value.
    Text(String),
    /// A copy.
    Copy(Input),
}

/// Bytes of text from which arguments are copied: a text looks at each byte.
const LONG_ARGUMENTS: usize = 1 << 10;

impl AuditRequest {
    /// Captures a request. `None` while no audit lines are written.
    pub(super) fn from_input(tool: &str, input: &Input) -> Option<Self> {
        is_enabled().then(|| {
            let input = match input {
                Input::Arguments(arguments) if arguments_size(input) < LONG_ARGUMENTS => {
                    SentInput::Text(object_text(arguments))
                }
                _ => SentInput::Copy(input.clone()),
            };
            Self { tool: tool.to_owned(), input }
        })
    }

    pub(super) fn into_printable(self) -> PrintableRequest {
        let (text, input) = match self.input {
            // It was an object.
            SentInput::Text(text) => {
                let arguments = serde_json::from_str(&text).unwrap_or_default();
                (text, Input::Arguments(arguments))
            }
            SentInput::Copy(input) => {
                let (Input::Arguments(arguments) | Input::Action { params: arguments, .. }) = &input;
                (object_text(arguments), input)
            }
        };
        let action = match &input {
            Input::Action { action, .. } => action,
            Input::Arguments(arguments) => {
                let named = |key: &str| arguments.get(key).and_then(|name| name.as_str());
                named("action").or_else(|| named("cmd")).unwrap_or_default()
            }
        };
        let (tool, action) = (printable_name(&self.tool), printable_name(action));
        PrintableRequest { tool, action, params: digest(&text) }
    }
}

/// A request as a line has it.
pub(super) struct PrintableRequest {
    pub(super) tool: String,
    pub(super) action: String,
    pub(super) params: String,
}

/// Shortens and escapes a name as the client sent it.
pub(super) fn printable_name(name: &str) -> String {
    printable(&name.chars().take(80).collect::<String>()).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_request_is_printed_alike_however_it_is_kept() {
        let Value::Object(arguments) = json!({"cmd": "say\n", "text": "a\"\u{1f95b}", "n": [1.5, null]})
        else {
            panic!()
        };
        let input = Input::Arguments(arguments.clone());
        let printed = [SentInput::Text(object_text(&arguments)), SentInput::Copy(input)].map(|input| {
            let PrintableRequest { tool, action, params } =
                AuditRequest { tool: "echo".into(), input }.into_printable();
            (tool, action, params)
        });
        let params = digest(&object_text(&arguments));
        assert_eq!(printed[0], ("echo".to_owned(), "say\\n".to_owned(), params));
        assert_eq!(printed[0], printed[1]);
    }

    #[test]
    fn what_was_asked_is_cut_and_printable() {
        let long = format!("x\n{}", "y".repeat(200));
        assert_eq!(printable_name(&long), format!("x\\n{}", "y".repeat(78)));
    }
}
