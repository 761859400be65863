//! `[approvals]`.

use super::{
    login_server::EndpointUrl,
    quantity::{Span, within},
    service::secret,
    table::table,
    upstream::HiddenText,
    value::text,
    web_url::{is_loopback, web_url},
};
use crate::document::tree::Text;

const SECOND: Span = Span::seconds(1);
const DAY: Span = Span::seconds(24 * 60 * 60);

table! {
    /// Approvals: decisions of people about calls whose clients cannot ask anyone. They are made by `loggia approvals`, on the admin
    /// listener, and through a webhook.
    pub struct Approvals {
        /// Time within which an approval must be decided, 1s to 24h. Questions of workflows have times of their own.
        expires: Span = Span::seconds(30 * 60), within(SECOND, DAY);
        /// URL that receives each approval when it is opened, as a signed message (Standard Webhooks). Needs `webhook-secret`.
        webhook: Option<EndpointUrl> = None;
        /// Secret that signs the messages, and the decisions that are sent to the admin listener, at least 24 characters.
        webhook_secret: Option<HiddenText> = None, text(secret);
        /// URL of the operator's page as people reach it, such as `https://ops.example.com/operator/`. Pages of clients that show a
        /// waiting call refer to it. Default: they name only the command.
        page: Option<EndpointUrl> = None, text(operator_page);
    }
}

fn operator_page(text: &Text) -> Result<EndpointUrl, &'static str> {
    const FORM: &str =
        "must be an https:// URL without a query (http:// only for this machine), ending at `/operator/`";
    let url = web_url(&text.value).ok_or(FORM)?;
    let is_safe = url.scheme() == "https" || is_loopback(&url);
    let is_page = url.path().ends_with("/operator/") && url.query().is_none() && url.fragment().is_none();
    if is_safe && is_page { Ok(EndpointUrl(url)) } else { Err(FORM) }
}
