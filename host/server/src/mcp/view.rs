//! How a client is served: the list that it sees, and the form of its results.

use std::sync::Arc;

use http::request::Parts;
use loggia_gate::{access::ListId, catalog::ClientLists};
use loggia_policy::clients::{ClientTraits, client_table};
use rmcp::{
    RoleServer,
    model::{Extensions, InitializeRequestParams},
    service::RequestContext,
};

/// What an endpoint serves.
#[derive(Debug, Default)]
pub struct ServedEndpoint {
    /// The lists of its clients.
    pub lists: ClientLists,
    /// The operator's text for models, in front of the server's own.
    pub instructions: Option<String>,
}

/// How one client is served.
#[derive(Debug, Clone, Copy)]
pub struct ClientView {
    /// The list that it sees.
    pub list: ListId,
    /// What is known of it.
    pub client: &'static ClientTraits,
    /// The pages of tools that it shows.
    pub pages: ShownPages,
}

/// The pages of tools that a client shows to its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ShownPages {
    /// It shows none.
    #[default]
    None,
    /// Those with views of plugins.
    Views,
    /// Those of approvals, too: it cannot ask its user, and the server keeps approvals.
    Approvals,
}

impl Default for ClientView {
    /// A client of which nothing is known.
    fn default() -> Self {
        Self { list: ListId::default(), client: &client_table().unknown, pages: ShownPages::None }
    }
}

impl ServedEndpoint {
    /// Finds the endpoint that a request came to. `None`: the server's own.
    pub(super) fn of_request(extensions: &Extensions) -> Option<Arc<Self>> {
        extensions.get::<Parts>()?.extensions.get::<Arc<Self>>().cloned()
    }

    /// Returns how a client is served that introduces itself by this name.
    pub fn view(&self, name: &str) -> ClientView {
        let client = client_table().identify(name);
        ClientView { list: self.lists.list_of(client), client, pages: ShownPages::None }
    }

    /// Returns how the client of a request is served.
    pub(super) fn view_of(&self, context: &RequestContext<RoleServer>) -> ClientView {
        // Clients without sessions introduce themselves in each request.
        match (context.meta.client_info(), context.peer.peer_info()) {
            (Some(client), _) => self.view(&client.name),
            (None, Some(client)) => self.view_in_session(&client),
            (None, None) => self.view(""),
        }
    }

    /// Returns how the client of a session is served.
    pub fn view_in_session(&self, client: &InitializeRequestParams) -> ClientView {
        self.view(&client.client_info.name)
    }
}
