//! The settings of approvals.

use std::time::Duration;

use loggia_policy::settings::{Approvals, HiddenText};
use url::Url;

/// How people approve calls whose clients cannot ask them.
#[derive(Debug, Clone)]
pub struct ApprovalOptions {
    /// Time within which an approval must be decided.
    pub expires: Duration,
    /// Where opened approvals are announced.
    pub webhook: Option<WebhookTarget>,
    /// URL of the operator's page, to which callers are referred.
    pub page: Option<Url>,
    /// Secret that signs messages and decisions.
    pub secret: Option<HiddenText>,
}

/// Where opened approvals are announced.
#[derive(Debug, Clone)]
pub struct WebhookTarget {
    /// URL that takes `POST` requests.
    pub url: Url,
    /// Secret that signs them.
    pub secret: HiddenText,
}

impl ApprovalOptions {
    /// Reads the settings.
    pub fn new(settings: &Approvals) -> Self {
        let secret = settings.webhook_secret.clone();
        let target = settings.webhook.clone().zip(secret.clone());
        Self {
            expires: settings.expires.0,
            webhook: target.map(|(url, secret)| WebhookTarget { url: url.0, secret }),
            page: settings.page.clone().map(|url| url.0),
            secret,
        }
    }
}
