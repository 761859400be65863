//! What a workflow file says, as data.
//!
//! The words are ToolHive's: a *composite tool* is a [`Workflow`] here, and a file of them is a facade whose actions they
//! are.
//!
//! | file | concept |
//! |---|---|
//! | `read.rs` | text becomes a definition, or all that is wrong with it; references between files |
//! | `forms.rs` | the forms in which a file may be written |
//! | `workflow.rs`, `steps.rs`, `question.rs`, `for_each.rs`, `arguments.rs`, `output.rs` | the parts of a workflow |
//! | `uses.rs` | its templates, and where they stand |
//! | `place.rs` | what stands at a place of the file; problems with their lines |
//! | `duration.rs` | times, as Go writes them |

mod arguments;
#[cfg(test)]
mod bad_input;
mod duration;
mod for_each;
mod forms;
#[cfg(test)]
mod messages;
mod output;
pub(crate) mod place;
mod question;
mod read;
mod steps;
#[cfg(test)]
mod tests;
pub(crate) mod uses;
mod workflow;

use std::time::Duration;

use loggia_facade::Object;
use serde_json::Value;

pub use self::read::{Examined, examine, link, read, with_notes};
use crate::{Problem, template::Template};

/// Steps of a workflow.
pub const STEPS: usize = 100;
/// Steps of a run that are under way at once.
pub const PARALLEL: usize = 10;
/// How often a step is tried again at most, whatever its definition says.
pub const RETRIES: u32 = 10;
/// How long a run takes at most, where its definition does not say.
pub const TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// How long a step takes at most, with all its retries, where its definition does not say.
pub const STEP_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// How long a question stays open at most, whatever its definition says.
pub const QUESTION_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// How long a step waits before it is tried again, where its definition does not say.
pub const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Items of a `forEach`, where its definition does not say, and at most.
pub const ITERATIONS: (usize, usize) = (100, 1000);
/// Items of a `forEach` that are under way at once, where its definition does not say, and at most.
pub const ITERATIONS_PARALLEL: (usize, usize) = (10, 50);

/// One file.
#[derive(Debug, Clone)]
pub struct Definition {
    /// `facade:`; the file's name where there is none.
    pub facade: Option<String>,
    /// `title:`.
    pub title: Option<String>,
    /// `description:` of the file as a whole, where it holds several workflows.
    pub description: Option<String>,
    /// In which of ToolHive's forms it is written.
    pub form: Form,
    /// `metadata.name` of a Kubernetes resource: what `compositeToolRefs` name.
    pub resource: Option<String>,
    /// In the file's order.
    pub workflows: Vec<Workflow>,
    /// `compositeToolRefs`, with their lines: workflows that other files define.
    pub refs: Vec<(usize, String)>,
    /// What does no harm but should be known: fields that mean nothing here.
    pub warnings: Vec<Problem>,
}

/// The forms in which a file may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One composite tool at the root.
    Bare,
    /// A list under `compositeTools:`.
    List,
    /// `kind: VirtualMCPCompositeToolDefinition`.
    Resource,
    /// `kind: VirtualMCPServer`, or its `spec.config` alone.
    Server,
}

/// One composite tool.
#[derive(Debug, Clone)]
pub struct Workflow {
    /// Becomes the action's name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON Schema of the parameters; `{"type": "object"}` where there is none.
    pub parameters: Object,
    /// How long a run takes at most. Time in which it waits for a person does not count.
    pub timeout: Duration,
    /// `failureMode: continue`: a step's failure is as if its `onError` said so.
    pub continues: bool,
    /// Whether a template that refers to what is not there is an error, rather than the text `<no value>`.
    pub strict: bool,
    /// In the file's order.
    pub steps: Vec<Step>,
    /// What the result is; the output of the last step where there is none.
    pub output: Option<Output>,
    /// What the author says of its effects.
    pub annotations: Annotations,
    /// Where it begins.
    pub line: usize,
    /// Its place in the document, for messages: `compositeTools[0]`.
    pub path: String,
}

/// One step.
#[derive(Debug, Clone)]
pub struct Step {
    /// Unique in the workflow.
    pub id: String,
    /// What it does.
    pub kind: Kind,
    /// Must come out as true or false; the step is skipped where it is false.
    pub condition: Option<Template>,
    /// Places of the steps that must have ended before.
    pub depends_on: Vec<usize>,
    /// How long it takes at most, with all its retries; for a question, how long it stays open.
    pub timeout: Duration,
    /// What follows a failure.
    pub on_error: OnError,
    /// Its output where it is skipped or fails.
    pub default_results: Option<Value>,
    /// Where it begins.
    pub line: usize,
}

/// The kinds of steps.
#[derive(Debug, Clone)]
pub enum Kind {
    /// `type: tool`.
    Tool(ToolCall),
    /// `type: elicitation`.
    Ask(Ask),
    /// `type: forEach`.
    ForEach(ForEach),
}

/// A call of another facade's action.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// As it is written: `facade.action`; a facade, whose action is an argument; or `facade_action`.
    pub tool: String,
    /// The arguments, in their order.
    pub arguments: Vec<(String, Argument)>,
    /// Where it is written.
    pub line: usize,
}

/// An argument, or a part of one.
#[derive(Debug, Clone)]
pub enum Argument {
    /// As it is.
    Literal(Value),
    /// A text with actions in it.
    Template(Template),
    /// A list with a template somewhere in it.
    List(Vec<Argument>),
    /// An object with a template somewhere in it. Names are not expanded.
    Record(Vec<(String, Argument)>),
}

/// A question to the person.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What is asked.
    pub message: Template,
    /// JSON Schema of the answer.
    pub schema: Object,
    /// What follows a no.
    pub on_decline: Otherwise,
    /// What follows a closed form, or none in time.
    pub on_cancel: Otherwise,
}

/// What follows a question that was not answered by yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Otherwise {
    /// The workflow fails.
    #[default]
    Abort,
    /// It goes on.
    Continue,
    /// It ends well, and the steps that have not begun are skipped.
    SkipRemaining,
}

/// A call for each item of a list.
#[derive(Debug, Clone)]
pub struct ForEach {
    /// Must come out as a list.
    pub collection: Template,
    /// The item's name in templates: `.forEach.<item>`.
    pub item: String,
    /// Calls under way at once.
    pub parallel: usize,
    /// Items at most.
    pub iterations: usize,
    /// The call.
    pub call: ToolCall,
    /// What follows a failure of one item.
    pub on_error: OnError,
}

/// What follows a step's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// The workflow fails.
    #[default]
    Abort,
    /// It goes on, with the step's `defaultResults`.
    Continue,
    /// It is tried again, and then the workflow fails.
    Retry {
        /// How often, at most; already capped.
        count: u32,
        /// How long it waits before the first time.
        delay: Duration,
    },
}

/// What a workflow's result is made of.
#[derive(Debug, Clone)]
pub struct Output {
    /// In their order.
    pub properties: Vec<(String, Property)>,
    /// Those without which the result is not one.
    pub required: Vec<String>,
}

/// One part of a result.
#[derive(Debug, Clone)]
pub struct Property {
    /// JSON Schema's word for what it is.
    pub kind: PropertyKind,
    /// What it is for.
    pub description: String,
    /// Where it comes from.
    pub from: From,
    /// Where its value cannot be made.
    pub default: Option<Value>,
    /// Where it is written.
    pub line: usize,
}

/// Where a part of a result comes from.
#[derive(Debug, Clone)]
pub enum From {
    /// A template.
    Value(Template),
    /// Parts of its own.
    Properties(Vec<(String, Property)>),
}

/// JSON Schema's types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "JSON Schema's own words")]
pub enum PropertyKind {
    String,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
}

impl PropertyKind {
    /// JSON Schema's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
        }
    }
}

/// What the author says of a workflow's effects; what is not said follows from its steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "MCP's own words")]
pub struct Annotations {
    pub title: Option<String>,
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}
