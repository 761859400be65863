//! `[auth]`.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Span;

/// Who may call over HTTP. Without this table everybody may who can connect. With it, but with neither tokens nor `oauth`,
/// the server does not start, unless `http.allow-anonymous` is true.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Auth {
    /// The URL by which clients know this server, such as `https://tools.example.com/mcp`. Needed with `oauth`.
    pub resource: Option<String>,
    /// Tokens that were made by `loggia token new`.
    pub tokens: Vec<Token>,
    /// Tokens that an authorization server issues.
    pub oauth: Option<OAuth>,
}

impl Auth {
    /// Whether everybody may call who can connect.
    pub fn is_none(&self) -> bool {
        self.tokens.is_empty() && self.oauth.is_none()
    }
}

/// A token that was made by `loggia token new`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Token {
    /// Whose it is; stands in the log.
    pub name: String,
    /// `sha256:` and the hexadecimal digest of the token. The token itself is written nowhere.
    pub hash: String,
    /// What it allows: `facade:action`, `facade:*`, or `*`.
    pub scopes: Vec<String>,
    /// The day from which on it is no longer taken (UTC), such as `2027-06-30`.
    #[serde(default)]
    pub expires: Option<String>,
}

/// An authorization server whose tokens (JWT) are taken.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OAuth {
    /// Who issues them; must be the `iss` of each.
    pub issuer: String,
    /// For whom they are issued; must be (among) the `aud` of each. `auth.resource` without it.
    #[serde(default)]
    pub audience: Option<String>,
    /// The keys that sign them: a JWKS file, or an `https://` URL (`http://` for a loopback address).
    pub jwks: String,
    /// How they may be signed.
    #[serde(default = "algorithms")]
    pub algorithms: BTreeSet<Algorithm>,
    /// How far clocks may differ.
    #[serde(default = "leeway")]
    pub leeway: Span,
    /// What clients are told to ask the authorization server for, such as `notes:read`; without it they are told nothing.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Whether a token's scope `*` allows everything. Without it that scope is ignored, since an authorization server that
    /// others use too may mean something else by it.
    #[serde(default)]
    pub allow_star: bool,
}

/// How a token may be signed. No symmetric ones: who can check could also sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "RFC 7518 and RFC 8037 say what they are")]
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

fn algorithms() -> BTreeSet<Algorithm> {
    BTreeSet::from([Algorithm::RS256, Algorithm::ES256])
}

fn leeway() -> Span {
    Span::seconds(60)
}
