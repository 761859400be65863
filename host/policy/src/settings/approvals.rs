//! `[approvals]`.

use super::{
    login_server::EndpointUrl,
    quantity::{Span, within},
    service::secret,
    table::table,
    upstream::HiddenText,
    value::text,
};

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
    }
}
