//! The call that a request is about.

use loggia_gate::run::RunId;
use rmcp::model::CallToolRequestParams;

/// Call that a request refers to.
pub(super) struct CallReference {
    /// Handle of its run.
    pub run: RunId,
    /// Host that has issued the reference, if that is known.
    pub host: Option<String>,
}

impl CallReference {
    /// Returns the run that the arguments of a call name, if it is about one.
    pub(super) fn of_arguments(request: &CallToolRequestParams) -> Option<Self> {
        let arguments = request.arguments.as_ref()?;
        let action = arguments.get("action")?.as_str()?;
        if !matches!(action, "run_status" | "run_cancel") {
            return None;
        }
        let run = arguments.get("run_id").or_else(|| arguments.get("params")?.get("run_id"))?.as_str()?;
        Some(Self { run: RunId::from_client(run), host: None })
    }
}
