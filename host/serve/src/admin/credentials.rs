//! `/credentials`: an API by which operators store credentials of callers. Every request needs the administrators' token.

use std::sync::Arc;

use axum::{
    Router,
    body::to_bytes,
    extract::{Path, RawQuery, Request, State as Axum},
    http::{
        StatusCode,
        header::{CONTENT_TYPE, WWW_AUTHENTICATE},
    },
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, put},
};
use loggia_credentials::{CallerName, ListedCredential};
use loggia_gate::call::TARGET as AUDIT;
use loggia_login::caller_vault::{CallerVault, CredentialError};
use loggia_policy::settings::credential::TokenHash;
use serde::Serialize;
use url::form_urlencoded;

use super::operator::has_token;

/// Bytes of a request's body.
const BODY: usize = 8 << 10;

/// What the API works on.
pub struct CredentialAdmin {
    /// Credentials of all callers.
    pub vault: CallerVault,
    /// Hash of the administrators' token.
    pub token: TokenHash,
}

type AdminExtract = Axum<Option<Arc<CredentialAdmin>>>;

/// Builds the routes. Without an administrator, they refuse all requests.
pub(super) fn routes(admin: Option<CredentialAdmin>) -> Router {
    let admin = admin.map(Arc::new);
    Router::new()
        .route("/credentials", get(list))
        .route("/credentials/{facade}", put(store).delete(remove))
        .route_layer(middleware::from_fn_with_state(admin.clone(), check_token))
        .with_state(admin)
}

/// Refuses requests without the token, before anything of them is read.
async fn check_token(Axum(admin): AdminExtract, request: Request, next: Next) -> Response {
    let Some(admin) = admin else {
        let message = "credentials can be managed here once `admin.token` is set in the settings file\n";
        return (StatusCode::FORBIDDEN, message).into_response();
    };
    if !has_token(request.headers(), &admin.token) {
        let message = "this needs the token of `admin.token`: Authorization: Bearer TOKEN\n";
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], message).into_response();
    }
    next.run(request).await
}

/// Reads the owner of a credential from a query: `caller=NAME`, or nothing for the local user.
fn parse_owner(query: Option<&str>) -> Result<CallerName, CredentialError> {
    let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    match (pairs.next(), pairs.next()) {
        (None, _) => Ok(CallerName::Local),
        (Some((name, caller)), None) if name == "caller" => Ok(CallerName::Named(caller.into_owned())),
        _ => Err(CredentialError::Invalid(
            "the query must be `caller=NAME`, or empty for the local user".into(),
        )),
    }
}

/// A credential without its value.
#[derive(Serialize)]
struct CredentialEntry {
    facade: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<CallerName>,
    /// Seconds since 1970 (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

impl From<ListedCredential> for CredentialEntry {
    fn from(ListedCredential { facade, credential, .. }: ListedCredential) -> Self {
        match credential {
            Ok(found) => Self { facade, caller: Some(found.caller), stored: Some(found.stored), error: None },
            // The path of the file is for the log.
            Err(_) => Self { facade, caller: None, stored: None, error: Some("it cannot be decrypted") },
        }
    }
}

async fn list(Axum(admin): AdminExtract) -> Response {
    run(admin, |vault| {
        let entries: Vec<CredentialEntry> = vault.list()?.into_iter().map(CredentialEntry::from).collect();
        // Its fields always serialize.
        let json = serde_json::to_string(&entries).unwrap_or_default();
        Ok(([(CONTENT_TYPE, "application/json")], json + "\n").into_response())
    })
    .await
}

async fn store(
    Axum(admin): AdminExtract,
    Path(facade): Path<String>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Response {
    let value = to_bytes(request.into_body(), BODY).await.ok();
    let value = value.and_then(|bytes| String::from_utf8(bytes.into()).ok());
    run(admin, move |vault| {
        let caller = parse_owner(query.as_deref())?;
        let value = value.ok_or_else(|| {
            CredentialError::Invalid("the body must be the credential: a text of at most 4096 characters".into())
        })?;
        vault.set(&facade, caller.clone(), &value)?;
        tracing::debug!(target: AUDIT, event = "credential_stored", facade, owner = %caller, how = "admin", "a credential was stored");
        Ok(StatusCode::NO_CONTENT.into_response())
    })
    .await
}

async fn remove(
    Axum(admin): AdminExtract,
    Path(facade): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    run(admin, move |vault| {
        let caller = parse_owner(query.as_deref())?;
        if !vault.remove(&facade, &caller)? {
            return Ok((StatusCode::NOT_FOUND, "there is no such credential\n").into_response());
        }
        tracing::debug!(target: AUDIT, event = "credential_removed", facade, owner = %caller, "a credential was removed");
        Ok(StatusCode::NO_CONTENT.into_response())
    })
    .await
}

/// Runs work on files on a thread that may block.
async fn run(
    admin: Option<Arc<CredentialAdmin>>,
    work: impl FnOnce(&CallerVault) -> Result<Response, CredentialError> + Send + 'static,
) -> Response {
    let done = tokio::task::spawn_blocking(move || match admin {
        Some(admin) => work(&admin.vault),
        None => Ok(StatusCode::FORBIDDEN.into_response()),
    });
    match done.await {
        Ok(Ok(response)) => response,
        Ok(Err(CredentialError::Invalid(reason))) => {
            (StatusCode::BAD_REQUEST, format!("{reason}\n")).into_response()
        }
        Ok(Err(CredentialError::Vault(error))) => {
            tracing::error!("the credentials cannot be used: {error}");
            (StatusCode::INTERNAL_SERVER_ERROR, "the server's log has the reason\n").into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
