//! What is masked.

use serde::Deserialize;

/// A kind of secret or of personal data, by its name in the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataKind {
    ApiKey,
    BearerToken,
    PrivateKey,
    Jwt,
    UrlPassword,
    Email,
    Phone,
    Iban,
    Card,
}

impl DataKind {
    /// Text in place of what was found.
    pub fn mask(self) -> &'static str {
        match self {
            Self::ApiKey => "[masked API key]",
            Self::BearerToken => "[masked token]",
            Self::PrivateKey => "[masked private key]",
            Self::Jwt => "[masked JWT]",
            // Brackets would break the URL.
            Self::UrlPassword => "***",
            Self::Email => "[masked e-mail]",
            Self::Phone => "[masked phone]",
            Self::Iban => "[masked IBAN]",
            Self::Card => "[masked card]",
        }
    }
}
