//! Cases files: calls of a plugin with what they are expected to answer. Data and decisions; `loggia-workbench` runs them. And
//! recordings: calls with what they received from outside, which `loggia replay` runs again.
//!
//! | file | concept |
//! |---|---|
//! | `problem.rs` | problems of a file, with line and column |
//! | `fields.rs` | typed access to YAML nodes |
//! | `case_file.rs` | a file as data |
//! | `keys.rs` | the keys of a file, as a table |
//! | `parse.rs` | YAML to the data |
//! | `schema.rs` | JSON Schema of a file |
//! | `compare.rs` | pure: a value against what is expected |
//! | `line_diff.rs` | pure: changes of a text, by lines |
//! | `policy.rs` | pure: a policy with the overrides of a file |
//! | `taped.rs` | recorded requests and responses, without credentials |
//! | `cassette.rs` | a file of them |
//! | `tape.rs` | answers requests from cassettes, or records them |
//! | `recording/` | recordings, and the facades that make or play them |
//! | `report.rs` | results of files and cases |

mod case_file;
mod cassette;
mod compare;
mod fields;
mod keys;
mod line_diff;
mod parse;
mod policy;
mod problem;
pub mod recording;
mod report;
mod schema;
mod tape;
mod taped;

pub(crate) use self::tape::CaseTape;
pub use self::{
    case_file::{
        CaseFile, CaseLimits, ExpectedEnvelope, ExpectedStore, HttpSource, PersonReply, TestCase, to_slug,
    },
    cassette::CassetteFile,
    compare::compare,
    line_diff::unified_diff,
    parse::parse_case_file,
    policy::{PolicyMergeError, merge_policy},
    problem::CaseProblem,
    report::{CaseReport, FileReport, RunTotals},
    schema::case_schema,
    tape::{CaseTapes, TapeMode, TapeReport},
    taped::RecordedBody,
};
