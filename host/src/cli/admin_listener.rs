//! The admin listener of `loggia serve`.

use std::sync::Arc;

use anyhow::Context;
use loggia_policy::settings::{Admin, Settings};
use loggia_serve::{
    PluginHost,
    admin::{self, ApprovalAdmin, OperatorApis, RefusalMeter},
    page::OperatorPage,
};
use loggia_server::auth::Authenticator;
use tokio_util::sync::CancellationToken;

use super::term;

/// Serves the admin endpoints until the process ends. Not ready once `stop` is cancelled.
pub(super) async fn start_admin(
    host: &PluginHost,
    settings: &Settings,
    authenticator: Option<Authenticator>,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let Some(Admin { listen, hosts, token }) = settings.admin.clone() else { return Ok(()) };
    let credentials = match token {
        Some(token) => Some(admin::CredentialAdmin { vault: host.vault()?, token }),
        None => None,
    };
    let secret = settings.approvals.webhook_secret.clone();
    let page = token.map(|token| OperatorPage::new(host, authenticator.clone(), token));
    let approvals = host.gate.approvals().map(|desk| ApprovalAdmin {
        desk: Arc::clone(desk),
        token,
        secret,
        refused: RefusalMeter::default(),
    });
    let has_page = page.is_some();
    let apis = OperatorApis { credentials, approvals, page };
    let listener = loggia_server::listen(listen)
        .with_context(|| format!("failed to listen on {listen}: choose another address with --admin ADDR"))?;
    let address = listener.local_addr()?;
    let serving =
        admin::serve(listener, admin::AdminState::new(host, hosts, authenticator), apis, stop.clone());
    tokio::spawn(async move {
        if let Err(error) = serving.await {
            tracing::error!("the admin listener failed: {error}");
        }
    });
    term::note(&format!("admin on http://{address}"));
    if has_page {
        term::note(&format!("operator's page at http://{address}/operator/"));
    }
    Ok(())
}
