//! A new access token for an expiring one.

use oauth2::{RefreshToken, RequestTokenError, basic::BasicErrorResponseType};

use super::{
    client::OAuthClient,
    grant::{OAuthGrant, read_response},
    transport::send,
};

/// Error of a refresh.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RefreshError {
    /// The server no longer accepts the refresh token: the caller has to log in again.
    #[error("the authorization server no longer accepts the login")]
    Revoked,
    /// Anything else, which may pass.
    #[error("the token endpoint {0}")]
    Failed(String),
}

/// Requests a new access token.
pub(crate) async fn refresh(
    client: &OAuthClient,
    grant: &OAuthGrant,
) -> Result<(String, OAuthGrant), RefreshError> {
    let Some(secret) = &grant.refresh else { return Err(RefreshError::Revoked) };
    let protocol = client.to_protocol(None);
    let token = RefreshToken::new(secret.0.clone());
    let mut request = protocol.exchange_refresh_token(&token);
    if let Some((name, value)) = client.extra() {
        request = request.add_extra_param(name, value.to_owned());
    }
    let response = request.request_async(&send).await.map_err(|error| match error {
        RequestTokenError::ServerResponse(refused)
            if *refused.error() == BasicErrorResponseType::InvalidGrant =>
        {
            RefreshError::Revoked
        }
        RequestTokenError::ServerResponse(refused) => {
            RefreshError::Failed(format!("answered with the error {}", refused.error()))
        }
        RequestTokenError::Request(error) => RefreshError::Failed(format!("cannot be used: {error}")),
        RequestTokenError::Parse(..) | RequestTokenError::Other(_) => {
            RefreshError::Failed("sent a response that is not a token".to_owned())
        }
    })?;
    read_response(&response, Some(secret.clone()))
        .map_err(|reason| RefreshError::Failed(format!("failed: {reason}")))
}
