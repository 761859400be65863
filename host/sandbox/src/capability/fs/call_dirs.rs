//! The directories of one call.

use std::sync::Arc;

use loggia_facade::{Effect, code};
use wasmtime_wasi::filesystem::Dir;

use super::{client_roots::OpenedRoots, root::GrantedRoot};

/// The directories of one call. The default has none.
pub(super) struct CallDirs {
    granted: Arc<[GrantedRoot]>,
    client: OpenedRoots,
    effect: Effect,
    /// Set when the guest asked for its directories.
    listed: bool,
}

impl Default for CallDirs {
    fn default() -> Self {
        Self::new(Arc::default(), Effect::Read)
    }
}

impl CallDirs {
    pub(super) fn new(granted: Arc<[GrantedRoot]>, effect: Effect) -> Self {
        Self { granted, client: OpenedRoots::default(), effect, listed: false }
    }

    /// Adds the directories that the call's client named.
    pub(super) fn set_client(&mut self, roots: OpenedRoots) {
        self.client = roots;
    }

    /// Lists them as the call's action may use them, with their guest paths.
    pub(super) fn list(&mut self) -> impl Iterator<Item = (&str, &Dir)> {
        self.listed = true;
        let roots = self.granted.iter().chain(&self.client.roots);
        roots.map(|root| (root.at.as_str(), root.with_effect(self.effect)))
    }

    fn is_empty(&self) -> bool {
        self.granted.is_empty() && self.client.roots.is_empty()
    }

    /// Adds to the hint of a failure why roots of the client are missing. A guest without any directory cannot know the
    /// reason, so its own hint gives way.
    pub(super) fn explain_failure(&self, failure_code: &str, hint: Option<String>) -> Option<String> {
        let is_about_paths = [code::DENIED, code::NOT_FOUND].contains(&failure_code);
        match &self.client.notice {
            Some(notice) if is_about_paths && self.listed => {
                let hint = hint.filter(|_| !self.is_empty());
                Some(hint.map_or_else(|| notice.clone(), |hint| format!("{hint} {notice}")))
            }
            _ => hint,
        }
    }

    /// Adds to the message of a reply why there is no directory at all, if the guest asked for them.
    pub(super) fn explain_reply(&self, message: Option<String>) -> Option<String> {
        match &self.client.notice {
            Some(notice) if self.listed && self.is_empty() => Some(match message {
                Some(message) => format!("{notice} {message}"),
                None => notice.clone(),
            }),
            _ => message,
        }
    }
}
