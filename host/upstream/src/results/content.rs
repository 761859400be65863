//! Content blocks of a result.

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use loggia_facade::{Block, Content, Object};
use serde_json::Value;

/// Base64 with or without padding: servers send both.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Reads one content block; `None` if its type is unknown or it lacks what its type needs.
pub(super) fn read_block(block: &Value) -> Option<Content> {
    let text = |key: &str| optional_text(block, key);
    let bytes = |of: &Value, key: &str| BASE64.decode(of.get(key)?.as_str()?).ok();
    let read = match block.get("type")?.as_str()? {
        "text" => Block::Text(text("text")?),
        "image" => Block::Image { data: bytes(block, "data")?, mime_type: text("mimeType")? },
        "audio" => Block::Audio { data: bytes(block, "data")?, mime_type: text("mimeType")? },
        "resource" => {
            let resource = block.get("resource")?;
            let (text, blob) = (optional_text(resource, "text"), bytes(resource, "blob"));
            if text.is_none() && blob.is_none() {
                return None;
            }
            Block::Embedded {
                uri: optional_text(resource, "uri")?,
                mime_type: optional_text(resource, "mimeType"),
                text,
                blob,
            }
        }
        "resource_link" => Block::Link {
            uri: text("uri")?,
            name: text("name")?,
            description: text("description"),
            mime_type: text("mimeType"),
        },
        _ => return None,
    };
    let extras: Object = ["annotations", "_meta"]
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), block.get(key).filter(|value| value.is_object())?.clone())))
        .collect();
    Some(Content { block: read, extras })
}

fn optional_text(of: &Value, key: &str) -> Option<String> {
    of.get(key).and_then(Value::as_str).map(str::to_owned)
}
