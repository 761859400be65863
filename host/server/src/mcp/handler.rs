//! The server's parts, and what a request has of them: its caller, its client, its lists.

use std::{sync::Arc, time::Duration};

use loggia_facade::RootSource;
use loggia_gate::{
    access::{CallOrigin, Caller},
    call::Gate,
};
use loggia_policy::settings::{CardSettings, Revision};
use rmcp::{
    RoleServer,
    model::{
        CacheScope, ClientCapabilities, Implementation, ProtocolVersion, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    elicitation::StateSealer,
    instructions::render_instructions,
    list::ToolListCache,
    list_changes::SubscribedPeers,
    roots::SessionRoots,
    subscriptions::{ResourceSubscriptions, StateObserver},
    view::{ClientView, ServedEndpoint, ShownPages},
};
use crate::{
    fleet::{FleetLink, FleetMember, receive_mail},
    seal::{SealSecret, ValueSealer},
};

/// Time that a handshake waits for the first catalog, so that its instructions name the facades. Loading from the cache
/// takes less, and clients do not notice the delay.
const HANDSHAKE_WAIT: Duration = Duration::from_millis(200);

/// The same for clients whose model finds tools by these instructions alone: plugins that are compiled now are worth a wait.
const DEFERRED_WAIT: Duration = Duration::from_secs(2);

/// Time for cancelled calls to answer at shutdown: longer than the gate takes to end one.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);

/// Cache TTL (`ttlMs`) of tool lists: about one model turn. Clients subscribed to `list_changed` invalidate immediately; for
/// the others it is short, so that a new plugin does not seem to be missing. Stale lists are harmless, since calls are
/// checked against the current catalog.
const LIST_TTL_MS: u64 = 10_000;

/// MCP server over a gate. Cheap to clone: HTTP clones it for each session or request.
#[derive(Clone)]
pub struct McpHandler {
    pub(super) shared: Arc<HandlerState>,
    /// Origin of requests that carry none in their extensions.
    pub(super) origin: CallOrigin,
    pub(super) versions: &'static [ProtocolVersion],
    /// Name, title and version in `serverInfo`.
    identity: Arc<Implementation>,
    /// Roots of the client; `None` where they are not taken.
    pub(super) roots: Option<Arc<SessionRoots>>,
    /// What requests are served that came to no other endpoint.
    endpoint: Arc<ServedEndpoint>,
    /// The transport writes text and structured content of a result from the same bytes.
    pub(super) shares_text: bool,
    /// The other hosts, if there are any.
    pub(super) fleet: Option<Arc<FleetLink>>,
}

pub(super) struct HandlerState {
    pub(super) gate: Gate,
    pub(super) tool_lists: ToolListCache,
    pub(super) peers: SubscribedPeers,
    /// Who hears of changed resources.
    pub(super) subscriptions: ResourceSubscriptions,
    /// Cancelled when the server drains. Subscription streams then end with a final event.
    pub(super) draining: CancellationToken,
    /// Calls in progress.
    pub(super) calls: TaskTracker,
    /// Cancelled when the time to drain is over: calls that still run are cancelled, and answer so.
    pub(super) overdue: CancellationToken,
    /// Seals the state that passes through clients.
    pub(super) sealer: StateSealer,
    /// Its key, which also seals ids of sessions.
    values: Arc<ValueSealer>,
}

impl McpHandler {
    /// Creates a server for callers of one origin. Over HTTP, the authentication layer puts a [`CallOrigin`] into the extensions
    /// of each request, which takes precedence. Must be called on a runtime: it spawns a task that notifies clients of
    /// changes until `draining`.
    pub fn new(gate: Gate, origin: CallOrigin, draining: CancellationToken) -> Self {
        Self::with_seal_secret(gate, origin, draining, None)
    }

    /// Creates a server like [`new`](Self::new), whose open questions survive a restart: states that pass through clients are
    /// sealed with a key of this secret.
    pub fn with_seal_secret(
        gate: Gate,
        origin: CallOrigin,
        draining: CancellationToken,
        secret: Option<SealSecret>,
    ) -> Self {
        let values = Arc::new(ValueSealer::new(secret));
        let shared = Arc::new(HandlerState {
            gate,
            tool_lists: ToolListCache::default(),
            peers: SubscribedPeers::default(),
            subscriptions: ResourceSubscriptions::default(),
            draining: draining.clone(),
            calls: TaskTracker::new(),
            overdue: CancellationToken::new(),
            sealer: StateSealer::new(Arc::clone(&values)),
            values,
        });
        let notifier = Arc::clone(&shared);
        tokio::spawn(async move { notifier.peers.notify_changes(notifier.gate.catalog(), draining).await });
        Self {
            shared,
            origin,
            versions: ProtocolVersion::KNOWN_VERSIONS,
            identity: Arc::new(Implementation::new("loggia", env!("CARGO_PKG_VERSION")).with_title("Loggia")),
            roots: None,
            endpoint: Arc::default(),
            shares_text: false,
            fleet: None,
        }
    }

    /// Limits the offered revisions of MCP to this one and older: for clients that claim a revision they do not support.
    #[must_use]
    pub fn with_newest_revision(self, newest: Option<Revision>) -> Self {
        let Some(newest) = newest else { return self };
        let newest = match newest {
            Revision::June2025 => ProtocolVersion::V_2025_06_18,
            Revision::November2025 => ProtocolVersion::V_2025_11_25,
            Revision::July2026 => ProtocolVersion::V_2026_07_28,
        };
        Self { versions: ProtocolVersion::known_up_to(&newest), ..self }
    }

    /// Takes name, title and version from the server's card, which clients may have read before.
    #[must_use]
    pub fn with_card(self, card: Option<&CardSettings>) -> Self {
        let Some(card) = card else { return self };
        let version = card.version.as_deref().unwrap_or(env!("CARGO_PKG_VERSION"));
        let identity = Implementation::new(card.name.clone(), version);
        let identity = match &card.title {
            Some(title) => identity.with_title(title.clone()),
            None => identity,
        };
        Self { identity: Arc::new(identity), ..self }
    }

    /// Sets what is served.
    #[must_use]
    pub fn with_endpoint(self, endpoint: Arc<ServedEndpoint>) -> Self {
        Self { endpoint, ..self }
    }

    /// Writes results of calls so that [`message_text`](super::message_text) must write their messages.
    #[must_use]
    pub fn with_shared_text(self) -> Self {
        Self { shares_text: true, ..self }
    }

    /// Notifies subscribers of changed resources, until the server drains. Must be called on a runtime.
    #[must_use]
    pub fn with_state_observer(self, observer: Arc<dyn StateObserver>) -> Self {
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move { shared.subscriptions.follow(observer, shared.draining.clone()).await });
        self
    }

    /// Makes the server one of several, without sessions: for stdio. Must be called on a runtime.
    #[must_use]
    pub fn in_fleet(self, member: Option<FleetMember>, stop: CancellationToken) -> Self {
        let Some(FleetMember { mail, inbox, versions }) = member else { return self };
        let link = Arc::new(FleetLink::new(mail));
        let handler = self.with_fleet(Arc::clone(&link));
        tokio::spawn(receive_mail(link, inbox, handler.clone(), None, versions, stop));
        handler
    }

    /// Lets other hosts answer requests about their calls.
    #[must_use]
    pub(crate) fn with_fleet(self, fleet: Arc<FleetLink>) -> Self {
        Self { fleet: Some(fleet), ..self }
    }

    /// Takes the roots of the client. Only for a server whose one client is a program of the local user.
    #[must_use]
    pub fn with_client_roots(self) -> Self {
        Self { roots: Some(Arc::default()), ..self }
    }

    /// Returns the roots of the client, if they are taken.
    pub fn client_roots(&self) -> Option<Arc<SessionRoots>> {
        self.roots.clone()
    }

    /// Returns the source of roots for a call.
    pub(super) fn root_source(&self) -> Option<Arc<dyn RootSource>> {
        self.roots.clone().map(|roots| roots as _)
    }

    /// Returns the origin of a request. Read for each one, since a session may be used with another token than it began with.
    pub(super) fn origin(&self, context: &McpContext) -> CallOrigin {
        let parts = context.extensions.get::<http::request::Parts>();
        let origin = parts.and_then(|parts| parts.extensions.get::<CallOrigin>()).unwrap_or(&self.origin);
        {
            let view = self.view(context);
            origin.clone().with_list(view.list, view.client.answer_budget())
        }
    }

    /// Returns the endpoint that a request came to.
    pub(super) fn served_endpoint(&self, context: &McpContext) -> Arc<ServedEndpoint> {
        ServedEndpoint::of_request(&context.extensions).unwrap_or_else(|| Arc::clone(&self.endpoint))
    }

    /// Returns how the client of a request is served.
    pub(super) fn view(&self, context: &McpContext) -> ClientView {
        self.served_endpoint(context).view_of(context)
    }

    /// Returns the pages that a client with these capabilities shows.
    pub(super) fn shown_pages(&self, client: Option<&ClientCapabilities>) -> ShownPages {
        ShownPages::of_client(client, self.shared.gate.approvals().is_some())
    }

    /// Returns how the client of a session is served.
    pub(super) fn view_in_session(&self, client: &rmcp::model::InitializeRequestParams) -> ClientView {
        self.endpoint.view_in_session(client)
    }

    /// Renders the instructions for the client of a request.
    pub(super) fn instructions(&self, context: &McpContext) -> String {
        let (origin, endpoint) = (self.origin(context), self.served_endpoint(context));
        let snapshot = self.shared.gate.catalog().snapshot();
        render_instructions(&snapshot, origin.list, &origin.rights, endpoint.instructions.as_deref())
    }

    /// Builds the server's capabilities and name. rmcp calls this for every request, so the instructions are added elsewhere.
    pub(super) fn server_config(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        let capabilities = capabilities.enable_prompts().enable_prompts_list_changed();
        let capabilities =
            capabilities.enable_resources().enable_resources_list_changed().enable_resources_subscribe();
        let capabilities = capabilities.enable_completions().enable_tasks().enable_skills().build();
        let config = ServerConfig::new(capabilities).with_server_info((*self.identity).clone());
        // Fallback of a handshake whose client requests an unsupported revision.
        match self.versions.iter().rev().find(|version| version.has_initialize()) {
            Some(newest) => config.with_protocol_version(newest.clone()),
            None => config,
        }
    }

    /// Refuses new calls and waits for those in progress, and for runs; cancels what is left after `patience`. Clients get a response
    /// to each call.
    pub async fn drain(&self, patience: Duration) {
        let HandlerState { calls, gate, overdue, .. } = &*self.shared;
        calls.close();
        // Runs whose requests have ended, and calls of disconnected clients, get the same time.
        let ended = async { tokio::time::timeout(patience, calls.wait()).await.is_ok() };
        let (ended, ()) = tokio::join!(ended, gate.drain(patience));
        if !ended {
            tracing::warn!("shutdown: cancelling {} calls", calls.len());
            overdue.cancel();
            drop(tokio::time::timeout(CANCEL_TIMEOUT, calls.wait()).await);
        }
    }

    /// Subscribes to changes of the lists, at the moment when sessions are notified.
    pub fn list_changes(&self) -> watch::Receiver<()> {
        self.shared.peers.changes()
    }

    /// Returns what seals the values that pass through clients.
    pub(crate) fn sealer(&self) -> Arc<ValueSealer> {
        Arc::clone(&self.shared.values)
    }

    /// Returns the gate.
    pub fn gate(&self) -> &Gate {
        &self.shared.gate
    }

    /// Returns the cache scope of lists: private for named callers, since lists depend on their rights, and where clients get
    /// different lists.
    pub(super) fn cache_scope(&self, context: &McpContext) -> CacheScope {
        match self.origin(context).caller {
            Caller::Local | Caller::Anonymous if !self.served_endpoint(context).lists.differ() => {
                CacheScope::Public
            }
            _ => CacheScope::Private,
        }
    }

    pub(super) async fn wait_for_catalog(&self, view: ClientView) {
        let admitted = self.shared.gate.catalog().wait_until_admitted();
        let most = if view.client.deferred { DEFERRED_WAIT } else { HANDSHAKE_WAIT };
        let _ = tokio::time::timeout(most, admitted).await;
    }

    /// Returns the cache TTL of lists and instructions: zero while plugins are still loading, or there are none.
    pub(super) fn ttl_ms(&self) -> u64 {
        let catalog = self.shared.gate.catalog();
        if catalog.is_admitted() && catalog.snapshot().default_list().listed().next().is_some() {
            LIST_TTL_MS
        } else {
            0
        }
    }
}

pub(super) type McpContext = RequestContext<RoleServer>;
