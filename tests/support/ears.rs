//! The client's side of a connection: what it declares, and what it hears.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, FormElicitationCapability, Implementation, ProgressNotificationParam,
        ResourceUpdatedNotificationParam, UrlElicitationCapability,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::Value;
use tokio::sync::{Notify, mpsc};

/// Capabilities of a client.
#[derive(Debug, Clone, Default)]
pub struct Kind {
    /// Answers of the person behind it, in order; without it the client cannot ask.
    pub person: Option<Vec<ElicitResult>>,
    /// Opens links, if there is a person.
    pub links: bool,
    /// Supports tasks.
    pub tasks: bool,
    /// Shows pages of MCP Apps.
    pub pages: bool,
}

impl Kind {
    /// Adds a person who gives these answers.
    pub fn person(answers: impl IntoIterator<Item = ElicitResult>) -> Self {
        Self { person: Some(answers.into_iter().collect()), ..Self::default() }
    }

    /// Adds support for links.
    pub fn links(self) -> Self {
        Self { links: true, ..self }
    }

    /// Adds support for tasks.
    pub fn tasks(self) -> Self {
        Self { tasks: true, ..self }
    }

    /// Adds support for pages.
    pub fn pages(self) -> Self {
        Self { pages: true, ..self }
    }
}

/// An answer that fills the form in.
pub fn accepted(content: Value) -> ElicitResult {
    ElicitResult::new(ElicitationAction::Accept).with_content(content)
}

/// An answer that opens a link.
pub fn opened() -> ElicitResult {
    ElicitResult::new(ElicitationAction::Accept)
}

/// Notifications and requests that a client receives.
#[derive(Clone)]
pub struct Ears {
    pub(crate) changed: mpsc::UnboundedSender<()>,
    pub(crate) updated: mpsc::UnboundedSender<String>,
    pub(crate) progress: mpsc::UnboundedSender<ProgressNotificationParam>,
    pub(crate) questions: mpsc::UnboundedSender<Value>,
    pub(crate) withdrawn: mpsc::UnboundedSender<()>,
    pub(crate) answers: Option<Arc<Mutex<VecDeque<ElicitResult>>>>,
    pub(crate) answered: Arc<Notify>,
    pub(crate) links: bool,
    pub(crate) tasks: bool,
    pub(crate) pages: bool,
}

impl Ears {
    /// Gives the person one more answer, for the question that is open or the next one.
    pub fn answer(&self, answer: ElicitResult) {
        if let Some(answers) = &self.answers {
            answers.lock().expect("no panic").push_back(answer);
        }
        self.answered.notify_one();
    }
}

impl ClientHandler for Ears {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.answers.is_some() {
            let forms = ElicitationCapability::new().with_form(FormElicitationCapability::new());
            capabilities.elicitation = Some(match self.links {
                true => forms.with_url(UrlElicitationCapability::new()),
                false => forms,
            });
        }
        if self.tasks {
            capabilities.extensions = ClientCapabilities::builder().enable_tasks().build().extensions;
        }
        if self.pages {
            let settings = serde_json::json!({"mimeTypes": ["text/html;profile=mcp-app"]});
            let settings = settings.as_object().cloned().unwrap_or_default();
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.insert("io.modelcontextprotocol/ui".to_owned(), settings);
        }
        ClientConfig::new(capabilities, Implementation::new("loggia-tests", "0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let _ = self.questions.send(serde_json::to_value(request).unwrap_or_default());
        loop {
            let answered = self.answered.notified();
            let answer = self.answers.as_ref().and_then(|answers| answers.lock().ok()?.pop_front());
            if let Some(answer) = answer {
                return Ok(answer);
            }
            // No answer left: the person thinks until there is one, or the question is withdrawn.
            tokio::select! {
                () = answered => {}
                () = context.ct.cancelled() => {
                    let _ = self.withdrawn.send(());
                    return Ok(ElicitResult::new(ElicitationAction::Cancel));
                }
            }
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.changed.send(());
    }

    async fn on_resource_updated(
        &self,
        updated: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.updated.send(updated.uri);
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let _ = self.progress.send(progress);
    }
}
