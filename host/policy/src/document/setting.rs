//! Context of a document: folder, home folder and environment.

use std::path::{Path, PathBuf};

use super::{field::Field, problem::Problems};

/// Inputs of a document besides its text.
pub struct PolicySetting<'a> {
    /// Folder of the file, at which relative paths start.
    pub folder: &'a Path,
    /// Home folder, to which `~` expands.
    pub home: Option<PathBuf>,
    /// Looks up an environment variable, for `${VAR}` and for secrets.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl PolicySetting<'_> {
    /// Resolves a path on the host.
    pub fn path(&self, field: &Field<'_>, problems: &mut Problems) -> Option<PathBuf> {
        let text = field.text_as("a path, in quotes", problems)?;
        if text.value.is_empty() || text.value.contains('\0') {
            field.report(format!("is not a valid path (got {})", text.quoted()), problems);
            return None;
        }
        let path = Path::new(&text.value);
        match (path.strip_prefix("~"), &self.home) {
            (Err(_), _) => Some(self.folder.join(path)),
            (Ok(rest), Some(home)) => Some(home.join(rest)),
            (Ok(_), None) => {
                field.report("begins with `~`, but there is no home directory", problems);
                None
            }
        }
    }
}
