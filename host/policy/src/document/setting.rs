//! Context of a document: its folder, the home folder and the environment.

use std::path::{Path, PathBuf};

use super::{field::Field, problem::Problems};

/// What the text of a policy depends on beside itself.
pub struct PolicySetting<'a> {
    /// Where relative paths start: the folder in which the file stands.
    pub folder: &'a Path,
    /// What `~` means.
    pub home: Option<PathBuf>,
    /// The environment, for `${VAR}` and for secrets.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl PolicySetting<'_> {
    /// A path of the host's, as a policy writes it.
    pub fn path(&self, field: &Field<'_>, problems: &mut Problems) -> Option<PathBuf> {
        let text = field.text_of("a path, in quotes", problems)?;
        if text.value.is_empty() || text.value.contains('\0') {
            field.wrong(format!("is no path (it is {})", text.shown()), problems);
            return None;
        }
        let path = Path::new(&text.value);
        match (path.strip_prefix("~"), &self.home) {
            (Err(_), _) => Some(self.folder.join(path)),
            (Ok(rest), Some(home)) => Some(home.join(rest)),
            (Ok(_), None) => {
                field.wrong(
                    "begins with `~`, which has no meaning here: there is no home directory",
                    problems,
                );
                None
            }
        }
    }
}
