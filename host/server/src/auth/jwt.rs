//! Validates access tokens of an authorization server (RFC 8725, RFC 9068).

use std::{fmt::Write, sync::Arc, time::Duration};

use jsonwebtoken::{
    Algorithm, DecodingKey, Header, TokenData, Validation, decode, decode_header, errors::ErrorKind,
};
use loggia_gate::access::CallerRights;
use loggia_policy::{model::AccessScope, settings::JwksLocation};
use serde::Deserialize;

use super::{
    key_cache::{KeyCache, KeyLookupError},
    keys::NoKey,
    refusal::RefusalReason,
    settings::{AuthError, OAuthConfig},
    signature, source, token,
};

/// Longest `sub` (OpenID Connect Core §2).
const MAX_SUBJECT: usize = 255;

/// Validator of the tokens of one authorization server.
pub(super) struct JwtValidator {
    issuer: String,
    algorithms: Vec<Algorithm>,
    /// Template: its algorithm is replaced by the token's, if that is one of `algorithms`.
    validation: Validation,
    leeway: Duration,
    allow_star: bool,
    keys: Arc<KeyCache>,
}

/// Claims that `jsonwebtoken` does not check.
#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: Option<String>,
    iat: Option<f64>,
    /// Raw: `decode` reports malformed values.
    exp: Option<serde_json::Value>,
    scope: Option<ScopeList>,
    scp: Option<ScopeList>,
}

/// A valid token.
pub(super) struct ValidatedToken {
    /// Name of the caller.
    pub name: String,
    pub rights: CallerRights,
    /// Earliest time at which it may have been issued, in seconds since 1970.
    pub issued: i64,
    /// Expiry in seconds since 1970.
    pub expires: i64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ScopeList {
    Text(String),
    List(Vec<String>),
}

/// Creates the key cache. A key file is read immediately.
pub(super) fn load_keys(jwks: &JwksLocation) -> Result<Arc<KeyCache>, AuthError> {
    let (source, pace) = source::from_location(jwks);
    let keys = KeyCache::new(source, pace);
    if let JwksLocation::File(path) = jwks {
        let failed = |why| AuthError(format!("`auth.oauth.jwks` names {}: {why}", path.display()));
        keys.read_file(path).map_err(failed)?;
    }
    Ok(keys)
}

impl JwtValidator {
    /// Creates the validator of these settings. A key file is read immediately.
    pub fn new(oauth: OAuthConfig) -> Result<Self, AuthError> {
        let keys = load_keys(&oauth.jwks)?;
        Ok(Self::with(oauth, keys))
    }

    /// Creates a validator with these keys.
    pub fn with(oauth: OAuthConfig, keys: Arc<KeyCache>) -> Self {
        signature::install();
        let mut validation = Validation::default();
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.set_issuer(&[&oauth.issuer]);
        validation.set_audience(&[&oauth.audience]);
        validation.validate_nbf = true;
        validation.leeway = oauth.leeway.as_secs();
        let OAuthConfig { issuer, algorithms, leeway, allow_star, .. } = oauth;
        Self { issuer, algorithms, validation, leeway, allow_star, keys }
    }

    /// Returns the key cache.
    pub fn keys(&self) -> &Arc<KeyCache> {
        &self.keys
    }

    /// Validates a token.
    pub async fn validate(&self, token: &str) -> Result<ValidatedToken, RefusalReason> {
        let header = decode_header(token)
            .map_err(|_| RefusalReason::Invalid("the token is malformed or not supported"))?;
        self.check_header(&header)?;
        let check = |key: &DecodingKey| self.validate_with(token, header.alg, key);
        match self.keys.with_key(header.kid.as_deref(), header.alg, check).await {
            Ok(checked) => checked,
            Err(KeyLookupError::NotYet) => Err(RefusalReason::NotReady),
            Err(KeyLookupError::Key(why)) => Err(RefusalReason::Invalid(match why {
                NoKey::Unknown => "the token is signed with an unknown key",
                NoKey::Unfit => "the token is signed with a key for another purpose or algorithm",
                NoKey::Unnamed => "the token does not name its key (kid)",
            })),
        }
    }

    /// Checks the header, before any key lookup. Keys in the header, or URLs of keys, are never used.
    fn check_header(&self, header: &Header) -> Result<(), RefusalReason> {
        if !self.algorithms.contains(&header.alg) {
            return Err(RefusalReason::Invalid("the token is signed with an algorithm that is not allowed"));
        }
        if header.crit.is_some() {
            return Err(RefusalReason::Invalid("the token has unsupported critical headers"));
        }
        let typ = header.typ.as_deref().unwrap_or("JWT").to_ascii_lowercase();
        // An ID token identifies a user, and grants nothing.
        if !matches!(typ.trim_start_matches("application/"), "jwt" | "at+jwt") {
            return Err(RefusalReason::Invalid("the token is not an access token"));
        }
        Ok(())
    }

    fn validate_with(
        &self,
        token: &str,
        algorithm: Algorithm,
        key: &DecodingKey,
    ) -> Result<ValidatedToken, RefusalReason> {
        let validation = Validation { algorithms: vec![algorithm], ..self.validation.clone() };
        let TokenData { claims, .. } =
            decode::<Claims>(token, key, &validation).map_err(|error| to_reason(error.kind()))?;
        if claims.iss != self.issuer {
            return Err(RefusalReason::Invalid("the token is from another issuer"));
        }
        // f64 holds whole seconds exactly up to 2^53.
        #[allow(clippy::cast_precision_loss, reason = "seconds since 1970 are far below 2^52")]
        let latest = token::now() as f64 + self.leeway.as_secs_f64();
        if claims.iat.is_some_and(|issued| issued > latest) {
            return Err(RefusalReason::Invalid("the token is not valid yet"));
        }
        let subject = claims.sub.filter(|sub| !sub.is_empty() && sub.len() <= MAX_SUBJECT);
        let subject = subject.ok_or(RefusalReason::Invalid("the token lacks a valid subject (sub)"))?;
        let scopes: Vec<AccessScope> = match claims.scope.or(claims.scp) {
            None => Vec::new(),
            Some(words) => {
                let ours = words.iter().filter(|word| self.allow_star || *word != "*");
                ours.filter_map(|word| word.parse().ok()).collect()
            }
        };
        if scopes.is_empty() {
            return Err(RefusalReason::Scope);
        }
        // `decode` requires it.
        #[allow(clippy::cast_possible_truncation, reason = "what is further away than i64 holds never comes")]
        let expires =
            (claims.exp.and_then(|exp| exp.as_f64()).unwrap_or_default() + self.leeway.as_secs_f64()) as i64;
        // An issuer's clock may be ahead. A token without a time may be of any.
        #[allow(clippy::cast_possible_truncation, reason = "it was compared with the time above")]
        let issued =
            claims.iat.map_or(i64::MIN, |issued| (issued - self.leeway.as_secs_f64()).floor() as i64);
        Ok(ValidatedToken {
            name: caller_name(&self.issuer, &subject),
            rights: CallerRights::from_scopes(scopes),
            issued,
            expires,
        })
    }
}

impl ScopeList {
    fn iter(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Self::Text(text) => Box::new(text.split_whitespace()),
            Self::List(list) => Box::new(list.iter().flat_map(|text| text.split_whitespace())),
        }
    }
}

/// Converts an error to its text for the client, which contains nothing of the token.
fn to_reason(error: &ErrorKind) -> RefusalReason {
    RefusalReason::Invalid(match error {
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token is not valid yet",
        ErrorKind::InvalidAudience => "the token is for another server (aud)",
        ErrorKind::InvalidIssuer => "the token is from another issuer",
        ErrorKind::InvalidSignature => "the token's signature is wrong",
        ErrorKind::MissingRequiredClaim(_) => "the token lacks a claim: exp, iss and aud are needed",
        _ => "the token is malformed or not supported",
    })
}

/// Builds the name of a caller. Neither issuers nor names of own tokens contain a `#`, so names cannot collide. The subject is
/// percent-encoded, so that different subjects have different names and none can forge log lines.
pub fn caller_name(issuer: &str, subject: &str) -> String {
    subject.bytes().fold(format!("{issuer}#"), |mut name, byte| {
        if byte.is_ascii_graphic() && byte != b'%' {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "%{byte:02X}");
        }
        name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caller_names_are_distinct_and_printable() {
        let check = |subject: &str, expected: &str| assert_eq!(caller_name("https://id", subject), expected);
        check("ada", "https://id#ada");
        check("a#b|c", "https://id#a#b|c");
        check("a b", "https://id#a%20b");
        check("a%20b", "https://id#a%2520b");
        check("é\n\u{1b}", "https://id#%C3%A9%0A%1B");
    }
}
