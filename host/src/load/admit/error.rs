//! Why a plugin does not serve.

use std::{borrow::Cow, io, path::PathBuf};

use loggia_sandbox::LoadError;
use loggia_state::StateError;
use loggia_text::units::format_bytes;

use crate::{
    config::PolicyError,
    load::fence::{FENCED, FenceBreach},
};

/// Why a plugin does not serve. Reads after its file's name.
#[derive(Debug, thiserror::Error)]
pub enum AdmitError {
    /// Somebody is still writing; not an error yet.
    #[error("the file changed while it was read")]
    Changing,
    /// The file cannot be read.
    #[error("failed to read the file: {0}")]
    Read(#[from] io::Error),
    /// A directory, a pipe, a device.
    #[error("not a regular file")]
    NotRegular,
    /// More than a plugin may be.
    #[error("the file is larger than {}{}", format_bytes(*.0), .1.map(|key| format!(" (`{key}`)")).unwrap_or_default())]
    TooLarge(u64, Option<&'static str>),
    /// Not a component that fulfils the contract.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// What it keeps between calls cannot be opened.
    #[error("failed to open its state: {0}")]
    State(#[from] StateError),
    /// The surface cannot be published.
    #[error("the surface cannot be published: {0}")]
    Surface(#[from] loggia_schema::SurfaceProblems),
    /// The policy cannot be used.
    #[error("the policy {0} cannot be used: {1}")]
    Policy(String, #[source] PolicyError),
    /// The policy is a link that leads to no file.
    #[error("the policy {} cannot be used: it is a link that leads {}", .0.display(), .1)]
    PolicyLink(PathBuf, String),
    /// The policy grants what would let a plugin read or change what the host trusts.
    #[error(transparent)]
    Fenced(#[from] FenceBreach),
    /// The workflows cannot be used.
    #[error("the workflows cannot be used: {0}")]
    Workflows(#[from] loggia_workflow::FileProblems),
    /// The policy grants what workflows have no use for.
    #[error(
        "the policy grants {0}, which means nothing to workflows: their steps do what the facades that they call are \
         granted"
    )]
    Needless(&'static str),
    /// A path of a granted directory led elsewhere when it was opened than when it was checked.
    #[error("a directory that its policy grants was exchanged while it was opened")]
    Exchanged,
    /// A defect of the host's own.
    #[error("the host panicked while it loaded the plugin")]
    Panicked,
}

impl AdmitError {
    /// What callers are told: no path of the host's, and no text of the plugin's.
    pub fn told(&self) -> Cow<'static, str> {
        let told = match self {
            Self::Changing | Self::Read(_) => "its file cannot be read",
            Self::NotRegular => "its file is not a regular file",
            Self::TooLarge(..) => "its file is too large",
            Self::State(_) => "its state cannot be opened",
            Self::Surface(_) => "what it publishes cannot be used",
            Self::Policy(..) | Self::PolicyLink(..) => "its policy cannot be used",
            Self::Fenced(_) => FENCED,
            Self::Exchanged => "a directory that its policy grants cannot be opened",
            Self::Panicked => "the host failed while it loaded it",
            Self::Workflows(_) => "its workflows cannot be used",
            Self::Needless(_) => "its policy cannot be used",
            Self::Load(error) => match error {
                LoadError::NotWasm | LoadError::CoreModule | LoadError::Precompiled => {
                    return error.to_string().into();
                }
                LoadError::NoFacade(_) | LoadError::WrongExport { .. } => "it does not fulfil the contract",
                LoadError::ContractVersion { .. } => "it was built for another version of the contract",
                LoadError::UnknownImport(_) => "it needs what this host does not offer",
                LoadError::Compile(_) => "it does not compile",
                LoadError::CompileLimit(_) => "compiling it takes too much",
                LoadError::TooMuch(_) => "it is made of more than a call may have",
                LoadError::Describe { .. } | LoadError::DescribeTime { .. } => "it failed to describe itself",
                LoadError::Unstable(_) => "it describes itself in another way each time",
                LoadError::Schema { .. } => "it describes an action by a schema that cannot be used",
                LoadError::Directory { .. } => "a directory that its policy grants cannot be opened",
                LoadError::Io(..) | LoadError::Code(_) => "the host failed to load it",
            },
        };
        told.into()
    }

    /// Whether the very same files may load at another time: it was the machine that failed, not the plugin.
    pub fn may_pass(&self) -> bool {
        let Self::Load(error) = self else {
            return matches!(self, Self::Read(_) | Self::State(_) | Self::Exchanged);
        };
        matches!(
            error,
            LoadError::Io(..)
                | LoadError::Directory { .. }
                | LoadError::CompileLimit(_)
                | LoadError::DescribeTime { .. }
                | LoadError::Code(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{Policy, places};

    #[test]
    fn callers_are_told_neither_paths_nor_a_plugins_text() {
        let (path, text) = (PathBuf::from("/srv/secret"), "\u{1b}[31mtext\n".repeat(1000));
        let denied = || io::Error::new(io::ErrorKind::PermissionDenied, "/srv/secret");
        let check = |error: AdmitError, told: &str, may_pass: bool| {
            assert_eq!((error.told().as_ref(), error.may_pass()), (told, may_pass), "{error:?}");
        };
        let policy = Policy::parse(&text, &places::setting(Path::new("/srv/secret"))).expect_err("nonsense");
        check(AdmitError::Policy("notes.toml".into(), policy), "its policy cannot be used", false);
        check(denied().into(), "its file cannot be read", true);
        check(AdmitError::PolicyLink(path, "to /srv".into()), "its policy cannot be used", false);
        let state = StateError::Storage("/srv/secret".to_owned());
        check(state.into(), "its state cannot be opened", true);
        let load = |error: LoadError, told: &str, may_pass| check(error.into(), told, may_pass);
        load(LoadError::Compile(text.clone()), "it does not compile", false);
        load(LoadError::CompileLimit(text.clone()), "compiling it takes too much", true);
        load(LoadError::NoFacade(vec![text.clone()]), "it does not fulfil the contract", false);
        load(LoadError::UnknownImport(text.clone()), "it needs what this host does not offer", false);
        load(LoadError::Io("write to the cache", denied()), "the host failed to load it", true);
        let describe = LoadError::Describe { function: "describe".into(), reason: text };
        load(describe, "it failed to describe itself", false);
        let directory = LoadError::Directory { path: "/srv/secret".into(), error: denied() };
        load(directory, "a directory that its policy grants cannot be opened", true);
    }
}
