//! A policy as data, and what its text depends on.

use std::path::{Path, PathBuf};

use loggia_gate::access::FacadeRules;
use loggia_sandbox::{PluginGrants, PluginLimits};
use loggia_schema::ActionPolicy;

use super::{expose::Exposed, field::Field, problem::Problems};

/// A policy, validated. The default grants nothing.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// What the plugin may use.
    pub grants: PluginGrants,
    /// How much of it.
    pub limits: PluginLimits,
    /// What the gate holds its calls to.
    pub rules: FacadeRules,
    /// What it says itself of calls to others and of questions: a workflow may do what its steps do where it says nothing.
    pub stated: StatedRules,
    /// What is said of its actions.
    pub terms: ActionPolicy,
    /// How it is published.
    pub expose: Exposed,
}

/// Which of the rules a policy states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatedRules {
    /// `grants.invoke`.
    pub invoke: bool,
    /// `grants.elicit`.
    pub elicit: bool,
}

/// The paths of the host's that a policy names. They are read from a policy with mistakes too: a secret stays a secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyPaths {
    /// Files that hold secrets (`secrets.from-file`).
    pub secrets: Vec<PathBuf>,
    /// Directories that are granted (`dirs.path`).
    pub dirs: Vec<PathBuf>,
}

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
