//! Which folders tools write: nothing in them is an author's file.

use std::path::Path;

/// Whether a folder of this name is hidden, or written by tools.
pub(super) fn is_output(name: &str) -> bool {
    name.starts_with('.') || matches!(name, "target" | "node_modules" | "__pycache__" | "venv")
}

/// Whether cargo or Python marks a folder as its own.
pub(super) fn is_marked_output(folder: &Path) -> bool {
    folder.join("CACHEDIR.TAG").exists() || folder.join("pyvenv.cfg").exists()
}

/// Whether a file at this path below a folder can be an input: it is in no folder that is hidden, or that tools write.
pub fn is_input_path(below: &Path) -> bool {
    !below.iter().any(|name| is_output(&name.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_tools_are_no_inputs() {
        for (file, expected) in
            [("src/a.md", true), ("target/a", false), ("a/.x/b", false), ("a/venv/b", false)]
        {
            assert_eq!(is_input_path(Path::new(file)), expected, "{file}");
        }
    }
}
