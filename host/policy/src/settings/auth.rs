//! `[auth]`.

use std::{
    collections::{BTreeSet, HashSet},
    time::Duration,
};

use super::{
    credential,
    credential::{JwksLocation, ResourceUrl, TokenExpiry, TokenHash},
    quantity::Span,
    table::table,
    value::{SettingValue, SettingsReader, list, text, words},
};
use crate::{
    document::{field::Field, tree::Text},
    model::AccessScope,
};

/// Maximum `leeway`. It extends the lifetime of every token.
const MAX_LEEWAY: Duration = Duration::from_secs(10 * 60);

table! {
    /// Authentication over HTTP. Without this table, everyone who can connect may call. With it, but with neither
    /// tokens nor `oauth`, the server refuses to start unless `http.allow-anonymous` is true.
    pub struct Auth {
        /// The URL by which clients know this server, such as `https://tools.example.com/mcp`. Required with `oauth`.
        resource: Option<ResourceUrl> = None;
        /// Tokens created by `loggia token new`.
        tokens: Vec<Token> = Vec::new(), tokens;
        /// Tokens that an authorization server issues.
        oauth: Option<OAuth> = None;
    }
}

impl Auth {
    /// Returns true if there is no credential.
    pub fn is_none(&self) -> bool {
        self.tokens.is_empty() && self.oauth.is_none()
    }
}

table! {
    /// A token created by `loggia token new`.
    pub struct Token {
        /// Name of the caller, for the log.
        name: String, text(name);
        /// `sha256:` and the hexadecimal digest of the token. The token itself is not stored.
        hash: TokenHash;
        /// What the token allows: `facade:action`, `facade:*`, or `*`.
        scopes: Vec<AccessScope>, scopes;
        /// The day from which the token is rejected (UTC), such as `2027-06-30`.
        expires: Option<TokenExpiry> = None;
        /// The only profile (`[profile.NAME]`) that it may use. At `/mcp`, too, the token is served that profile.
        profile: Option<String> = None, text(profile);
    }
}

fn profile(text: &Text) -> Result<String, &'static str> {
    if super::upstream::is_name(&text.value) {
        Ok(text.value.clone())
    } else {
        Err("is not the name of a profile")
    }
}

table! {
    /// An authorization server whose tokens (JWT) are accepted.
    pub struct OAuth {
        /// The issuer; must equal `iss` of each token.
        issuer: String, text(credential::issuer);
        /// The audience; must be (in) `aud` of each token. Default: `auth.resource`.
        audience: Option<String> = None, text(audience);
        /// The signing keys: a JWKS file, or an `https://` URL (`http://` for a loopback address).
        jwks: JwksLocation;
        /// Accepted signature algorithms.
        algorithms: BTreeSet<Algorithm> = BTreeSet::from([Algorithm::RS256, Algorithm::ES256]), algorithms;
        /// Tolerated clock skew.
        leeway: Span = Span::seconds(60), leeway;
        /// Scopes that clients should request, such as `notes:read`. Default: none.
        scopes: Vec<String> = Vec::new(), list(text(scope_token));
        /// Whether a token's scope `*` allows everything. By default it is ignored, since it may mean something else in
        /// an authorization server that is shared with other services.
        allow_star: bool = false;
    }
}

/// Signature algorithm of a token. Asymmetric ones only: with a symmetric one, every verifier could sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
#[value(rename_all = "verbatim")]
#[allow(missing_docs, reason = "defined by RFC 7518 and RFC 8037")]
pub enum Algorithm {
    RS256,
    RS384,
    RS512,
    PS256,
    PS384,
    PS512,
    ES256,
    ES384,
    EdDSA,
}

words! { Algorithm, "Signature algorithm of a token. Asymmetric ones only: with a symmetric one, every verifier could sign."; }

/// Reads `[auth]`.
pub(crate) fn auth(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Auth> {
    let auth = Auth::read(field, reader)?;
    if auth.resource.is_none() && field.table()?.get("oauth").is_some() {
        let missing = "is missing: oauth needs the URL by which clients know this server, such as \
                       \"https://tools.example.com/mcp\"";
        reader.report_key(field, "resource", missing);
    }
    Some(auth)
}

/// Reads the tokens. Their names and hashes must be unique.
fn tokens(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Vec<Token>> {
    let (mut names, mut hashes) = (HashSet::new(), HashSet::new());
    let mut tokens = Vec::new();
    for item in field.items(&mut reader.problems) {
        // Values other than strings are reported when the token is read.
        let text = |key| item.table()?.get(key).and_then(|field| Some((field.as_text()?, field)));
        let named = text("name").and_then(|(text, field)| Some((name(text).ok()?, field)));
        let hashed = text("hash").and_then(|(text, field)| Some((credential::hash(text).ok()?, field)));
        // Only a valid name is safe to print.
        reader.token = named.as_ref().map_or(String::new(), |(name, _)| name.clone());
        if let Some((_, field)) = named.filter(|(name, _)| !names.insert(name.clone())) {
            reader.report::<()>(&field, "is also used by another token; callers are distinguished by it");
        }
        if let Some((_, field)) = hashed.filter(|(hash, _)| !hashes.insert(*hash)) {
            reader.report::<()>(
                &field,
                "is also used by another token; create one for each caller with `loggia token new`",
            );
        }
        tokens.extend(Token::read(&item, reader));
        reader.token.clear();
    }
    Some(tokens)
}

fn name(text: &Text) -> Result<String, &'static str> {
    credential::check_name(&text.value).map(|()| text.value.clone())
}

pub(super) fn scopes(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Vec<AccessScope>> {
    if field.is_empty_list() {
        return reader.report(field, "is empty, so nothing is allowed; write [\"*\"] for everything");
    }
    Vec::read(field, reader)
}

fn audience(text: &Text) -> Result<String, &'static str> {
    if text.value.is_empty() { Err("is empty") } else { Ok(text.value.clone()) }
}

fn algorithms(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<BTreeSet<Algorithm>> {
    if field.is_empty_list() {
        return reader.report(field, "is empty, so no token is accepted; omit it for RS256 and ES256");
    }
    BTreeSet::read(field, reader)
}

fn leeway(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<Span> {
    let span = Span::read(field, reader)?;
    if span.0 <= MAX_LEEWAY {
        return Some(span);
    }
    reader.report(field, "must not be longer than 10m: synchronize the clocks instead")
}

/// Parses a `scope-token` of RFC 6749. Scopes of an authorization server need not be those of Loggia.
fn scope_token(text: &Text) -> Result<String, String> {
    let is_scope_char = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    if !text.value.is_empty() && text.value.bytes().all(is_scope_char) {
        return Ok(text.value.clone());
    }
    let reason = "has an invalid scope: one word each, without quotes and backslashes";
    Err(format!("{reason} (got {})", text.quoted()))
}
