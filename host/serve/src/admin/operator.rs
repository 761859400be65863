//! The token of operators.

use axum::http::{HeaderMap, header::AUTHORIZATION};
use loggia_policy::settings::credential::{TokenHash, parse_hash};
use loggia_server::auth::token;

/// Returns true if a request has the token. Compares hashes, so that the time of comparing reveals nothing of the token.
pub(super) fn has_token(headers: &HeaderMap, expected: &TokenHash) -> bool {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    let token = value.to_str().ok().and_then(|value| value.split_once(' '));
    let token =
        token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
    token.and_then(|token| parse_hash(&token::hash(token))).is_some_and(|hash| hash == *expected)
}
