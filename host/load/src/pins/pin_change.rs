//! How a version differs from the approved one.

use serde::{Deserialize, Serialize};

/// How a version differs from the approved one, or another reason to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinChange {
    /// Nothing of this file was approved before.
    New,
    /// An operator rejected it.
    Rejected,
    /// The plugin gave itself another name.
    Name,
    /// Texts, schemas, effects or other metadata that clients see.
    Surface,
    /// The capabilities that the plugin asks for.
    Wants,
    /// The files of its skill, which models read.
    Skill,
    /// The file.
    #[serde(rename = "file")]
    Artifact,
    /// The policy file.
    Policy,
    /// The lock cannot be used.
    Lock,
}

impl PinChange {
    /// The word in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Rejected => "rejected",
            Self::Name => "name",
            Self::Surface => "surface",
            Self::Wants => "wants",
            Self::Skill => "skill",
            Self::Artifact => "file",
            Self::Policy => "policy",
            Self::Lock => "lock",
        }
    }
}
