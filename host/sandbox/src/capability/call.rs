//! All capabilities of a call.

use super::{
    config::ConfigValues, elicit::ElicitAccess, fs::FileAccess, http::HttpAccess, invoke::InvokeAccess,
    progress::ProgressAccess, state::StateAccess,
};

/// Prepared capabilities of one call. The default grants nothing.
#[derive(Default)]
pub(crate) struct CallCapabilities {
    pub files: FileAccess,
    pub http: HttpAccess,
    pub config: ConfigValues,
    pub state: StateAccess,
    /// Opaque name of the caller, where the policy grants it.
    pub caller: Option<String>,
    pub elicit: ElicitAccess,
    pub invoke: InvokeAccess,
    pub progress: ProgressAccess,
}

impl CallCapabilities {
    /// Explains a refusal of which the guest saw only the code that it failed with.
    pub(crate) fn explain_refusal(&self, code: &str) -> Option<String> {
        self.files.exceeded_limit().or_else(|| self.http.explain_failure(code))
    }
}
