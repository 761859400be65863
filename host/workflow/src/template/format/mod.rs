//! Go's text output.
//!
//! | file | concept |
//! |---|---|
//! | `escape.rs` | escaping for HTML, JavaScript, URLs and quotes |
//! | `print.rs` | `print`, `%v` and JSON |
//! | `style.rs`, `verb.rs`, `printf.rs` | flags of a verb; the verbs; format strings |

pub(super) mod escape;
pub(super) mod print;
pub(super) mod printf;
mod style;
mod verb;
