//! Content beside an envelope's text, as far as a client passes it to its model.
//!
//! A block that the model would not get becomes one line that says what it is: models describe pictures that they were never
//! given. Embedded text becomes text. Of clients of which nothing is known, all is sent.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use loggia_facade::{Block, Content};
use loggia_policy::clients::ContentTraits;
use loggia_text::{mention, units::format_bytes};
use rmcp::model::ContentBlock;
use serde_json::json;

/// Most characters of a URI, a description or a type in a line.
const LONGEST: usize = 2000;

/// Replaces a block that the client does not pass on.
pub(super) fn replace_hidden(content: Content, client: &ContentTraits) -> Content {
    let block = match line(&content.block, client) {
        Some(text) => Block::Text(text),
        None => content.block,
    };
    Content { block, ..content }
}

/// The text for a block that the client does not pass on.
fn line(block: &Block, client: &ContentTraits) -> Option<String> {
    let is_hidden = |shown: Option<bool>| shown == Some(false);
    match block {
        Block::Image { data, mime_type } if is_hidden(client.image) => {
            Some(left_out("image", mime_type, data, ABSENT))
        }
        Block::Image { data, mime_type } => {
            let most = client.image_bytes.filter(|most| data.len() > *most)?;
            let why =
                format!("it is larger than the {} that this client takes; ask for a smaller one", size(most));
            Some(left_out("image", mime_type, data, &why))
        }
        Block::Audio { data, mime_type } if is_hidden(client.audio) => {
            Some(left_out("audio", mime_type, data, ABSENT))
        }
        Block::Embedded { uri, mime_type, text: Some(text), .. } if is_hidden(client.text_resource) => {
            Some(format!("[resource {}]\n{text}", place(uri, mime_type)))
        }
        Block::Embedded { uri, mime_type, text: None, blob: Some(data) }
            if is_hidden(client.binary_resource) =>
        {
            let mime_type = mime_type.as_deref().unwrap_or("unknown type");
            Some(left_out(&format!("resource {}", mention(uri, LONGEST)), mime_type, data, ABSENT))
        }
        Block::Link { uri, name, description, mime_type } if is_hidden(client.resource_link) => {
            let about = description.as_deref().map(|text| format!(" ({})", mention(text, LONGEST)));
            let (name, about) = (mention(name, LONGEST), about.unwrap_or_default());
            Some(format!("[link to {name}{about}: {}]", place(uri, mime_type)))
        }
        _ => None,
    }
}

/// Why a model does not get a block, and what it should do.
const ABSENT: &str =
    "this client does not pass it to its model; use the text, and do not guess what it holds";

fn left_out(kind: &str, mime_type: &str, data: &[u8], why: &str) -> String {
    format!("[{kind}, {}, {}, left out: {why}]", mention(mime_type, LONGEST), size(data.len()))
}

fn place(uri: &str, mime_type: &Option<String>) -> String {
    let mime_type = mime_type.as_deref().map(|text| format!(", {}", mention(text, LONGEST)));
    format!("{}{}", mention(uri, LONGEST), mime_type.unwrap_or_default())
}

fn size(bytes: usize) -> String {
    let unit = if bytes < 10 << 10 { 1 } else { 1 << 10 };
    format_bytes((bytes / unit * unit) as u64)
}

/// Converts a block to MCP's.
pub(super) fn to_content_block(content: Content) -> ContentBlock {
    let mut value = match content.block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Image { data, mime_type } => {
            json!({ "type": "image", "data": STANDARD.encode(data), "mimeType": mime_type })
        }
        Block::Audio { data, mime_type } => {
            json!({ "type": "audio", "data": STANDARD.encode(data), "mimeType": mime_type })
        }
        Block::Embedded { uri, mime_type, text, blob } => {
            let mut resource = json!({ "uri": uri });
            if let Some(mime_type) = mime_type {
                resource["mimeType"] = mime_type.into();
            }
            match (text, blob) {
                (None, Some(blob)) => resource["blob"] = STANDARD.encode(blob).into(),
                (text, _) => resource["text"] = text.unwrap_or_default().into(),
            }
            json!({ "type": "resource", "resource": resource })
        }
        Block::Link { uri, name, description, mime_type } => {
            let mut link = json!({ "type": "resource_link", "uri": uri, "name": name });
            for (key, value) in [("description", description), ("mimeType", mime_type)] {
                if let Some(value) = value {
                    link[key] = value.into();
                }
            }
            link
        }
    };
    let plain = value.clone();
    for key in ["annotations", "_meta"] {
        if let Some(extra) = content.extras.get(key) {
            value[key] = extra.clone();
        }
    }
    // A plugin's annotations may be anything; a block whose annotations MCP does not know goes without them.
    serde_json::from_value(value)
        .or_else(|_| serde_json::from_value(plain))
        .unwrap_or_else(|_| ContentBlock::text("(a content block that MCP has no form for)"))
}
