//! Admission errors.

use std::{borrow::Cow, io, path::PathBuf};

use loggia_policy::file::PolicyError;
use loggia_sandbox::LoadError;
use loggia_state::StateError;
use loggia_text::units::format_bytes;

use crate::{
    facade_kind::UnusableGrant,
    fence::{FENCED, FenceBreach},
    skill::SkillError,
};

/// Reason for which a plugin is not admitted. Reads after its file name.
#[derive(Debug, thiserror::Error)]
pub enum AdmitError {
    /// The file is still being written; not an error yet.
    #[error("the file changed while it was read")]
    Changing,
    /// The file cannot be read.
    #[error("failed to read the file: {0}")]
    Read(#[from] io::Error),
    /// A directory, a pipe or a device.
    #[error("not a regular file")]
    NotRegular,
    /// The file exceeds a limit.
    #[error("the file is larger than {}{}", format_bytes(*.0), .1.map(|key| format!(" (`{key}`)")).unwrap_or_default())]
    TooLarge(u64, Option<&'static str>),
    /// A file of text has other bytes, from this one on.
    #[error("it is not UTF-8 text: see byte {0}")]
    NotText(usize),
    /// The component does not fulfil the contract.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The plugin's state cannot be opened.
    #[error("failed to open its state: {0}")]
    State(#[from] StateError),
    /// The surface cannot be published.
    #[error("the surface cannot be published: {0}")]
    Surface(#[from] loggia_schema::SurfaceProblems),
    /// The policy cannot be used.
    #[error("the policy {0} cannot be used: {1}")]
    Policy(String, #[source] PolicyError),
    /// The file of the policy cannot be read.
    #[error("the policy {0} cannot be used: {1}")]
    PolicyFile(String, #[source] Box<AdmitError>),
    /// The policy is a dangling link.
    #[error("the policy {} cannot be used: it is a symbolic link {}", .0.display(), .1)]
    PolicyLink(PathBuf, String),
    /// The skill beside the plugin cannot be used.
    #[error("the skill {0} cannot be used: {1}")]
    Skill(String, SkillError),
    /// The policy grants a directory that the fence protects.
    #[error(transparent)]
    Fenced(#[from] FenceBreach),
    /// The workflows cannot be used.
    #[error("the workflows cannot be used: {0}")]
    Workflows(#[from] loggia_workflow::FileProblems),
    /// The policy has a grant that facades of this kind cannot use.
    #[error(transparent)]
    UnusableGrant(#[from] UnusableGrant),
    /// The description of an API is invalid.
    #[error("the description of the API cannot be used: {0}")]
    Api(#[from] loggia_api::DescriptionError),
    /// A server of an API needs a grant.
    #[error("the API cannot be served: {0}")]
    ApiServer(String),
    /// The upstream is slow to start.
    #[error("the upstream has not answered yet")]
    UpstreamStarting,
    /// The upstream cannot be reached, or its tools cannot be listed.
    #[error("the upstream is unavailable: {0}")]
    Upstream(String),
    /// A granted directory was replaced between check and opening.
    #[error("a directory that its policy grants was replaced while it was opened")]
    Exchanged,
    /// A defect of the host.
    #[error("the host panicked while it loaded the plugin")]
    Panicked,
}

impl AdmitError {
    /// Message for callers, without host paths and plugin text.
    pub fn caller_message(&self) -> Cow<'static, str> {
        let message = match self {
            Self::Changing | Self::Read(_) => "its file cannot be read",
            Self::NotRegular => "its file is not a regular file",
            Self::TooLarge(..) => "its file is too large",
            Self::NotText(_) => "its file is not text",
            Self::State(_) => "its state cannot be opened",
            Self::Surface(_) => "its surface is invalid",
            Self::Policy(..) | Self::PolicyFile(..) | Self::PolicyLink(..) => "its policy cannot be used",
            Self::Skill(..) => "its skill cannot be used",
            Self::Fenced(_) => FENCED,
            Self::Exchanged => "a directory that its policy grants cannot be opened",
            Self::Panicked => "the host failed to load it",
            Self::Workflows(_) => "its workflows cannot be used",
            Self::UnusableGrant(_) | Self::ApiServer(_) => "its policy cannot be used",
            Self::Api(_) => "its description cannot be used",
            Self::UpstreamStarting => "the upstream server is starting",
            Self::Upstream(_) => "the upstream server cannot be reached",
            Self::Load(error) => match error {
                LoadError::NotWasm | LoadError::CoreModule | LoadError::Precompiled => {
                    return error.to_string().into();
                }
                LoadError::NoFacade(_) | LoadError::WrongExport { .. } => "it does not fulfil the contract",
                LoadError::ContractVersion { .. } => "it was built for another version of the contract",
                LoadError::UnknownImport(_) => "it imports an interface this host lacks",
                LoadError::Compile(_) => "it does not compile",
                LoadError::CompileLimit(_) => "compiling it exceeds a limit",
                LoadError::TooMuch(_) => "it is larger than a call may be",
                LoadError::Describe { .. } | LoadError::DescribeTime { .. } => "it failed to describe itself",
                LoadError::Unstable(_) => "its description changes each time",
                LoadError::Schema { .. } => "it describes an action with an invalid schema",
                LoadError::Directory { .. } => "a directory that its policy grants cannot be opened",
                LoadError::IsGuard => "its file is a guard, not a plugin",
                LoadError::NoGuard(_) => "it is no guard",
                LoadError::Io(..) | LoadError::Code(_) => "the host failed to load it",
            },
        };
        message.into()
    }

    /// Whether the same files may load later, since the machine failed and not the plugin.
    pub fn is_transient(&self) -> bool {
        let error = match self {
            Self::Load(error) => error,
            Self::PolicyFile(_, error) => return error.is_transient(),
            _ => return matches!(self, Self::Read(_) | Self::State(_) | Self::Exchanged),
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

    use loggia_policy::model::Policy;

    use super::*;
    use crate::places;

    #[test]
    fn caller_messages_contain_no_paths_or_plugin_text() {
        let (path, text) = (PathBuf::from("/srv/secret"), "\u{1b}[31mtext\n".repeat(1000));
        let denied = || io::Error::new(io::ErrorKind::PermissionDenied, "/srv/secret");
        let check = |error: AdmitError, message: &str, is_transient: bool| {
            assert_eq!(
                (error.caller_message().as_ref(), error.is_transient()),
                (message, is_transient),
                "{error:?}"
            );
        };
        let policy = Policy::parse(&text, &places::setting(Path::new("/srv/secret"))).expect_err("nonsense");
        check(AdmitError::Policy("notes.toml".into(), policy), "its policy cannot be used", false);
        check(denied().into(), "its file cannot be read", true);
        let unreadable = |error| AdmitError::PolicyFile("notes.toml".into(), Box::new(error));
        check(unreadable(denied().into()), "its policy cannot be used", true);
        check(unreadable(AdmitError::NotText(7)), "its policy cannot be used", false);
        check(AdmitError::PolicyLink(path, "to /srv".into()), "its policy cannot be used", false);
        let state = StateError::Storage("/srv/secret".to_owned());
        check(state.into(), "its state cannot be opened", true);
        let load = |error: LoadError, message: &str, is_transient| check(error.into(), message, is_transient);
        load(LoadError::Compile(text.clone()), "it does not compile", false);
        load(LoadError::CompileLimit(text.clone()), "compiling it exceeds a limit", true);
        load(LoadError::NoFacade(vec![text.clone()]), "it does not fulfil the contract", false);
        load(LoadError::UnknownImport(text.clone()), "it imports an interface this host lacks", false);
        load(LoadError::Io("write to the cache", denied()), "the host failed to load it", true);
        let describe = LoadError::Describe { function: "describe".into(), reason: text };
        load(describe, "it failed to describe itself", false);
        let directory = LoadError::Directory { path: "/srv/secret".into(), error: denied() };
        load(directory, "a directory that its policy grants cannot be opened", true);
    }
}
