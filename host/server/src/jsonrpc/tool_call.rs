//! `tools/call`, read from the tree of its message. rmcp's own parser copies a message into a buffer and tries each kind of
//! request on it, which for a small call costs as much as the sandbox.

use rmcp::{
    RoleServer,
    model::{
        CallToolRequestParams, ClientRequest, Extensions, JsonObject, JsonRpcMessage, MetaObject, Request,
        RequestId, RequestMetaObject,
    },
    service::RxJsonRpcMessage,
};
use serde_json::Value;

/// A `tools/call` with nothing but a name, arguments and metadata.
#[derive(Debug, Clone)]
pub struct PlainToolCall {
    /// Id of the request.
    pub id: RequestId,
    /// Metadata, if the request has any.
    pub meta: Option<RequestMetaObject>,
    /// Parameters, without the metadata.
    pub params: CallToolRequestParams,
}

impl PlainToolCall {
    /// Takes the call out of the tree of a message. Returns other messages, and calls that have anything else, as they are.
    ///
    /// # Errors
    ///
    /// The message, for rmcp's parser.
    pub fn from_tree(tree: Value) -> Result<Self, Value> {
        match is_plain_call(&tree) {
            true => Self::take(tree).ok_or(Value::Null),
            false => Err(tree),
        }
    }

    /// Takes a call that was checked.
    fn take(tree: Value) -> Option<Self> {
        let Value::Object(mut message) = tree else { return None };
        let id = match message.get_mut("id")?.take() {
            Value::String(id) => RequestId::String(id.into()),
            id => RequestId::Number(id.as_i64()?),
        };
        let Value::Object(mut given) = message.get_mut("params")?.take() else { return None };
        let mut object = |name: &str| match given.get_mut(name).map(Value::take) {
            Some(Value::Object(object)) => Some::<JsonObject>(object),
            _ => None,
        };
        let (arguments, meta) = (object("arguments"), object("_meta"));
        let Some(Value::String(name)) = given.get_mut("name").map(Value::take) else { return None };
        let mut params = CallToolRequestParams::new(name);
        params.arguments = arguments;
        Some(Self { id, meta: meta.map(|meta| RequestMetaObject(MetaObject(meta))), params })
    }

    /// Converts the call to rmcp's message.
    pub fn into_message(self) -> RxJsonRpcMessage<RoleServer> {
        self.into_message_with(Extensions::new())
    }

    /// Converts the call to rmcp's message, with extensions for its handler.
    pub fn into_message_with(self, extensions: Extensions) -> RxJsonRpcMessage<RoleServer> {
        let mut request = Request::new(self.params);
        request.extensions = extensions;
        if let Some(meta) = self.meta {
            request.extensions.insert(meta);
        }
        JsonRpcMessage::request(ClientRequest::CallToolRequest(request), self.id)
    }
}

fn is_plain_call(tree: &Value) -> bool {
    let Value::Object(message) = tree else { return false };
    let is_id = |id: &Value| id.is_string() || id.is_i64();
    let Some(Value::Object(params)) = message.get("params") else { return false };
    message.len() == 4
        && message.get("jsonrpc").is_some_and(|version| version == "2.0")
        && message.get("method").is_some_and(|method| method == "tools/call")
        && message.get("id").is_some_and(is_id)
        && params.get("name").is_some_and(Value::is_string)
        && params.iter().all(|(name, value)| match &**name {
            "name" => true,
            "arguments" | "_meta" => value.is_object(),
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_calls_are_read_as_rmcp_reads_them() {
        for (params, id, plain) in [
            (json!({"name": "a"}), json!(1), true),
            (json!({"name": "a", "arguments": {"b": [1, {"c": null}]}}), json!("x"), true),
            (json!({"name": "a", "arguments": {}, "_meta": {"progressToken": 5}}), json!(-1), true),
            (json!({"name": "a", "arguments": null}), json!(1), false),
            (json!({"name": "a", "arguments": []}), json!(1), false),
            (json!({"name": "a", "_meta": 5}), json!(1), false),
            (json!({"name": "a", "requestState": "s"}), json!(1), false),
            (json!({"name": "a", "inputResponses": {}}), json!(1), false),
            (json!({"name": 5}), json!(1), false),
            (json!({}), json!(1), false),
            (json!([]), json!(1), false),
            (json!({"name": "a"}), json!(1.5), false),
            (json!({"name": "a"}), json!(u64::MAX), false),
            (json!({"name": "a"}), json!(null), false),
        ] {
            let tree = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
            match PlainToolCall::from_tree(tree.clone()) {
                Ok(call) => {
                    let expected: RxJsonRpcMessage<RoleServer> =
                        serde_json::from_value(tree.clone()).unwrap();
                    let message = call.into_message();
                    assert_eq!(format!("{message:?}"), format!("{expected:?}"), "{tree}");
                    assert!(plain, "{tree}");
                }
                Err(left) => assert_eq!((left, plain), (tree, false)),
            }
        }
        for other in [
            json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "a"}}),
            json!({"jsonrpc": "1.0", "id": 1, "method": "tools/call", "params": {"name": "a"}}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"name": "a"}}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a"}, "result": 1}),
            json!(5),
        ] {
            assert_eq!(PlainToolCall::from_tree(other.clone()).err(), Some(other));
        }
    }
}
