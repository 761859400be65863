//! Names of new plugins and APIs.

use std::path::Path;

/// Names that something else has: the manifest `plugin.toml`, and crates that every crate sees.
const RESERVED: [&str; 7] = ["plugin", "alloc", "core", "loggia-sdk", "proc_macro", "std", "test"];

/// The name of the plugin in a folder.
///
/// # Errors
///
/// If the folder has a name that no plugin may have: why.
pub fn plugin_name(folder: &Path) -> Result<&str, String> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if RESERVED.contains(&name) {
        return Err(format!("`{name}` has a meaning of its own; choose another name"));
    }
    if name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_plain) && name.len() <= 32 {
        return Ok(name);
    }
    Err(format!(
        "`{name}` is no name of a plugin: begin with a letter, then use at most 31 of a-z, 0-9, `_` and `-`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_facades_may_have() {
        for name in ["notes", "a", "issue-tracker", "x_1", "plugins/notes", "./notes"] {
            assert!(plugin_name(Path::new(name)).is_ok(), "{name}");
        }
        for name in ["", "..", "Notes", "1a", "a b", "plugin", "test", "é", &"a".repeat(33)] {
            assert!(plugin_name(Path::new(name)).is_err(), "{name}");
        }
    }
}
