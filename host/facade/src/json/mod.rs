//! JSON text of others, parsed only where it holds a bounded number of values; and the text of ours.
//!
//! | file | concept |
//! |---|---|
//! | `parse.rs` | texts as values, within a bound |
//! | `clean.rs` | texts that can be passed on as they are |
//! | `write.rs` | values as text |
//! | `escape.rs` | what both know of strings |
//!
//! `1,` is two bytes of text and some 32 of memory, a member of an object more than twice as many: four MiB of text would
//! take half a GiB before anybody could look at what they say.

mod clean;
mod escape;
mod parse;
mod write;

pub use self::{
    clean::is_clean,
    parse::{JsonError, VALUES, has_many_values, has_more_values, is_longer_than, parse},
    write::{object_text, write_object, write_string, write_value},
};
