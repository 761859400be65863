//! The call that a guest suggests should come next.

use loggia_facade::{Next, Object, json::parse};
use serde_json::Value;

use super::extras::{RawExtras, text_size};

/// MCP repeats the next call so often in a result.
const REPEATS: usize = 4;

/// A suggested call whose parameters are a JSON text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RawNext {
    pub facade: String,
    pub action: String,
    pub params: Option<String>,
    pub reason: Option<String>,
}

impl RawNext {
    /// Bytes that it takes up in a result.
    pub(super) fn size(&self) -> usize {
        let texts = text_size(self.params.as_ref()) + text_size(self.reason.as_ref());
        (self.facade.len() + self.action.len() + texts) * REPEATS
    }

    fn parse(self) -> Result<Next, &'static str> {
        let params = match self.params.as_deref().map(parse) {
            None | Some(Ok(Value::Null)) => Object::new(),
            Some(Ok(Value::Object(params))) => params,
            Some(_) => return Err("its params are not a JSON object"),
        };
        Ok(Next { facade: self.facade, action: self.action, params, reason: self.reason })
    }
}

/// Parses the suggested call. Where the contract's own field is empty, reads the metadata that MCP servers write. A malformed
/// one is dropped: the result is good without it.
pub(super) fn parse_next(next: Option<RawNext>, extras: &RawExtras) -> Option<Next> {
    let parsed = match next {
        Some(next) => next.parse(),
        None => {
            let (_, meta) = extras.iter().find(|(name, _)| name == "_meta")?;
            let meta = parse(meta).ok()?;
            let next = meta.get("loggia/nextTool").or_else(|| meta.get("nextTool"))?;
            Next::from_json(next)
        }
    };
    parsed.inspect_err(|reason| tracing::warn!("a next call was dropped: {reason}")).ok()
}
