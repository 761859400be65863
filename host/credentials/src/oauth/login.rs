//! One login: a link that a person opens, and the code that the server sends back with the browser.

use oauth2::{AuthorizationCode, CsrfToken, PkceCodeChallenge, PkceCodeVerifier, RequestTokenError, Scope};
use subtle::ConstantTimeEq;
use url::{Url, form_urlencoded};

use super::{
    client::OAuthClient,
    grant::{OAuthGrant, read_response},
    transport::send,
};

/// Characters of a server's text in a message.
const TEXT: usize = 200;

/// Error of a login. Texts contain no secrets.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The answer belongs to another login, or is none.
    #[error("the address is not the answer to this login")]
    Foreign,
    /// The person or the server refused.
    #[error("the authorization server refused: {0}")]
    Refused(String),
    /// The token endpoint did not answer as it should.
    #[error("the token endpoint {0}")]
    Endpoint(String),
}

/// What a server issued at the end of a login. Its `Debug` output hides it.
pub struct IssuedToken {
    /// The access token.
    pub value: String,
    /// What came beside it.
    pub grant: OAuthGrant,
}

impl std::fmt::Debug for IssuedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IssuedToken")
    }
}

/// A login that has begun.
pub struct LoginAttempt {
    client: OAuthClient,
    redirect: Url,
    state: CsrfToken,
    verifier: PkceCodeVerifier,
    /// Link that a person has to open.
    pub link: Url,
}

/// Query with which the server sends the browser back. Its `Debug` output hides it.
#[derive(PartialEq, Eq)]
pub struct RedirectAnswer {
    state: String,
    result: Result<String, String>,
}

impl std::fmt::Debug for RedirectAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RedirectAnswer")
    }
}

impl RedirectAnswer {
    /// Parses the query of a redirect. `None` if it is no answer to a login.
    pub fn parse(query: &str) -> Option<Self> {
        let (mut state, mut code, mut error, mut description) = (None, None, None, None);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let place = match &*name {
                "state" => &mut state,
                "code" => &mut code,
                "error" => &mut error,
                "error_description" => &mut description,
                _ => continue,
            };
            // A repeated parameter is ambiguous.
            if place.replace(value.into_owned()).is_some() {
                return None;
            }
        }
        let refused = error.map(|error| description.unwrap_or(error));
        let result = match (refused, code) {
            (Some(error), _) => Err(loggia_text::sanitise_line(&error, TEXT)),
            (None, Some(code)) => Ok(code),
            (None, None) => return None,
        };
        Some(Self { state: state?, result })
    }
}

impl LoginAttempt {
    /// Begins a login, whose answer comes to `redirect`.
    pub fn begin(client: &OAuthClient, redirect: Url) -> Self {
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let protocol = client.to_protocol(Some(&redirect));
        let mut request = protocol
            .authorize_url(CsrfToken::new_random)
            .add_scopes(client.scopes.iter().cloned().map(Scope::new))
            .set_pkce_challenge(challenge);
        if let Some((name, value)) = client.extra() {
            request = request.add_extra_param(name, value.to_owned());
        }
        let (link, state) = request.url();
        Self { client: client.clone(), redirect, state, verifier, link }
    }

    /// Whether an answer belongs to this login.
    pub fn is_answered_by(&self, answer: &RedirectAnswer) -> bool {
        self.state.secret().as_bytes().ct_eq(answer.state.as_bytes()).into()
    }

    /// Exchanges the code of an answer for a token.
    ///
    /// # Errors
    ///
    /// [`LoginError`].
    pub async fn finish(self, answer: RedirectAnswer) -> Result<IssuedToken, LoginError> {
        if !self.is_answered_by(&answer) {
            return Err(LoginError::Foreign);
        }
        let code = AuthorizationCode::new(answer.result.map_err(LoginError::Refused)?);
        let protocol = self.client.to_protocol(Some(&self.redirect));
        let mut request = protocol.exchange_code(code).set_pkce_verifier(self.verifier);
        if let Some((name, value)) = self.client.extra() {
            request = request.add_extra_param(name, value.to_owned());
        }
        let response = request.request_async(&send).await.map_err(|error| match error {
            RequestTokenError::ServerResponse(refused) => {
                let text =
                    refused.error_description().cloned().unwrap_or_else(|| refused.error().to_string());
                LoginError::Refused(loggia_text::sanitise_line(&text, TEXT))
            }
            RequestTokenError::Request(error) => LoginError::Endpoint(format!("cannot be used: {error}")),
            // Their texts may quote the response, which may hold a token.
            RequestTokenError::Parse(..) | RequestTokenError::Other(_) => {
                LoginError::Endpoint("sent a response that is not a token".to_owned())
            }
        })?;
        let (value, grant) = read_response(&response, None)
            .map_err(|reason| LoginError::Endpoint(format!("failed: {reason}")))?;
        Ok(IssuedToken { value, grant })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client() -> OAuthClient {
        OAuthClient {
            authorize: "https://auth.example/authorize?tenant=1".parse().unwrap(),
            token: "https://auth.example/token".parse().unwrap(),
            client_id: "loggia".into(),
            client_secret: None,
            scopes: vec!["read".into(), "write".into()],
            resource: Some("https://api.example".into()),
        }
    }

    #[test]
    fn a_link_names_all_that_the_server_needs() {
        let redirect: Url = "http://127.0.0.1:7/callback".parse().unwrap();
        let attempt = LoginAttempt::begin(&client(), redirect.clone());
        let pairs: std::collections::BTreeMap<String, String> =
            attempt.link.query_pairs().into_owned().collect();
        let has = |name: &str| pairs.get(name).map(String::as_str);
        assert_eq!(has("tenant"), Some("1"));
        assert_eq!((has("response_type"), has("client_id")), (Some("code"), Some("loggia")));
        assert_eq!((has("scope"), has("resource")), (Some("read write"), Some("https://api.example")));
        assert_eq!(
            (has("redirect_uri"), has("code_challenge_method")),
            (Some(redirect.as_str()), Some("S256"))
        );
        assert_eq!(has("code_challenge").map(str::len), Some(43));
        assert!(has("state").is_some_and(|state| state.len() >= 22));
        assert_ne!(LoginAttempt::begin(&client(), redirect).link, attempt.link);
    }

    #[test]
    fn only_its_own_answer_counts() {
        let redirect: Url = "http://127.0.0.1:7/callback".parse().unwrap();
        let attempt = LoginAttempt::begin(&client(), redirect.clone());
        let other = LoginAttempt::begin(&client(), redirect);
        let answer = |state: &str| RedirectAnswer::parse(&format!("code=x&state={state}")).unwrap();
        assert!(attempt.is_answered_by(&answer(attempt.state.secret())));
        assert!(!attempt.is_answered_by(&answer(other.state.secret())));
        assert!(!attempt.is_answered_by(&answer("")));
        for (query, expected) in [
            ("", None),
            ("code=x", None),
            ("state=s", None),
            ("code=x&state=s&code=y", None),
            ("state=s&error=access_denied", Some(Err("access_denied"))),
            ("state=s&error=e&error_description=No%20way%1b", Some(Err("No way"))),
            ("code=a%2Bb&state=s&iss=x", Some(Ok("a+b"))),
        ] {
            let result = RedirectAnswer::parse(query).map(|answer| answer.result);
            let result = result.as_ref().map(|result| result.as_deref().map_err(String::as_str));
            assert_eq!(result, expected, "{query}");
        }
    }
}
