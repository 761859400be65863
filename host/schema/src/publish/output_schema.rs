//! The schema of results, if a policy publishes it.
//!
//! One permissive envelope for all actions: SDK clients reject results that do not match, which would hide the
//! plugin's answer. The root is an object without alternatives, because some clients drop the whole list otherwise.

use loggia_facade::Object;
use serde_json::{Value, json};

/// The schema of the envelope.
pub(crate) fn envelope_schema() -> Object {
    let text = json!({"type": "string"});
    let object = json!({"type": "object", "properties": {}, "additionalProperties": true});
    let properties: [(&str, Value); 12] = [
        ("ok", json!({"type": "boolean"})),
        ("action", text.clone()),
        ("data", json!({})),
        ("count", json!({"type": "integer"})),
        ("total", json!({"type": "integer"})),
        ("cursor", text.clone()),
        ("message", text.clone()),
        ("code", text.clone()),
        ("error", text.clone()),
        ("hint", text),
        ("resolved_inputs", object.clone()),
        ("next", object),
    ];
    let properties: Object = properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    let mut out = Object::new();
    out.insert("type".into(), "object".into());
    out.insert("properties".into(), properties.into());
    // The command is echoed as `action` or as `cmd`, so only `ok` is certain.
    out.insert("required".into(), json!(["ok"]));
    out
}
