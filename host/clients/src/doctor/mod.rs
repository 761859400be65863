//! Checks of an entry, each with findings and their remedies.
//!
//! | file | concept |
//! |---|---|
//! | `finding.rs` | what was found |
//! | `config_file.rs` | the entry, where the client looks for it |
//! | `program.rs` | the program that the client starts |
//! | `address.rs` | the address that it connects to |
//! | `tools.rs` | the tools, and what the client does with them |

mod address;
mod config_file;
mod finding;
mod program;
mod tools;

pub use self::{
    address::{check_address, explain_answer},
    config_file::{FoundEntry, check_file},
    finding::{DoctorFinding, FindingLevel},
    program::{check_command, check_version},
    tools::check_tools,
};
