//! One tool of an upstream's `tools/list`.

use loggia_facade::Object;
use loggia_text::mention;
use serde_json::Value;

/// A tool as its upstream lists it. Untrusted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ListedTool {
    /// Its name, as `tools/call` needs it.
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) input: Object,
    pub(super) output: Option<Object>,
    pub(super) hints: ToolHints,
    /// The server offers to run it as a task, so it takes long.
    pub(super) takes_long: bool,
    /// It can be called only as a task of 2025-11-25.
    pub(super) needs_task: bool,
}

/// The tool's annotations. They are claims of the upstream; a policy can correct the effect that follows from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ToolHints {
    pub(super) read_only: Option<bool>,
    pub(super) destructive: Option<bool>,
    pub(super) idempotent: Option<bool>,
    pub(super) open_world: Option<bool>,
}

/// Bytes of a tool's name. MCP recommends at most 128.
const NAME: usize = 256;
/// Characters of a tool's name in a message.
const MENTION: usize = 64;

impl ListedTool {
    /// Reads one entry of `tools`. Members of the wrong type are treated as absent, except for the name and the input
    /// schema, without which the tool cannot be called.
    ///
    /// # Errors
    ///
    /// The reason, with the tool's name if it has one.
    pub(super) fn from_json(tool: &Value) -> Result<Self, String> {
        let text = |of: Option<&Value>, key: &str| {
            of.and_then(|of| of.get(key)).and_then(Value::as_str).map(str::to_owned)
        };
        let name = text(Some(tool), "name").filter(|name| !name.is_empty()).ok_or("a tool has no name")?;
        if name.len() > NAME {
            return Err(format!(
                "the name of the tool `{}` is longer than {NAME} bytes",
                mention(&name, MENTION)
            ));
        }
        let input = match tool.get("inputSchema") {
            Some(Value::Object(schema)) => schema.clone(),
            // Some servers leave it out for tools without parameters.
            None | Some(Value::Null) => Object::new(),
            Some(_) => {
                return Err(format!(
                    "the input schema of the tool `{}` is not an object",
                    mention(&name, MENTION)
                ));
            }
        };
        let task_support = tool.get("execution").and_then(|execution| execution.get("taskSupport"));
        let task_support = task_support.and_then(Value::as_str);
        let annotations = tool.get("annotations");
        let hint = |key: &str| annotations.and_then(|hints| hints.get(key)).and_then(Value::as_bool);
        Ok(Self {
            title: text(Some(tool), "title").or_else(|| text(annotations, "title")),
            description: text(Some(tool), "description"),
            input,
            output: tool.get("outputSchema").and_then(Value::as_object).cloned(),
            hints: ToolHints {
                read_only: hint("readOnlyHint"),
                destructive: hint("destructiveHint"),
                idempotent: hint("idempotentHint"),
                open_world: hint("openWorldHint"),
            },
            takes_long: matches!(task_support, Some("optional" | "required")),
            needs_task: task_support == Some("required"),
            name,
        })
    }

    /// The name in messages.
    pub(super) fn shown_name(&self) -> String {
        mention(&self.name, MENTION)
    }
}
