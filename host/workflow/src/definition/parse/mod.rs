//! Parsers from YAML nodes to the model.
//!
//! | file | concept |
//! |---|---|
//! | `template.rs` | templates |
//! | `arguments.rs` | calls and their arguments |
//! | `on_error.rs`, `step_fields.rs` | failure policies; names of a step's fields |
//! | `question.rs`, `for_each.rs`, `steps.rs` | steps |
//! | `output.rs` | the shape of a result |
//! | `attach.rs` | resources that come with its prompt |
//! | `workflow.rs` | one workflow, parsed and checked |
//! | `forms.rs` | the file formats |

mod arguments;
mod attach;
mod call_rules;
mod for_each;
mod forms;
mod on_error;
mod output;
mod question;
mod start;
mod step_fields;
mod steps;
mod template;
mod workflow;

pub(super) use self::forms::{parse_document, report_duplicates};
