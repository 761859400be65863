//! What of a result, besides its text, a client passes to its model.

use serde::{Deserialize, Serialize};

/// What a client does with each kind of content. `None`: not known, and it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContentTraits {
    /// Pictures.
    pub image: Option<bool>,
    /// Sounds.
    pub audio: Option<bool>,
    /// Embedded resources that are text.
    pub text_resource: Option<bool>,
    /// Embedded resources that are not.
    pub binary_resource: Option<bool>,
    /// Links to resources.
    pub resource_link: Option<bool>,
    /// Bytes of a picture, before base64, beyond which it fails.
    pub image_bytes: Option<usize>,
}

impl ContentTraits {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self {
        image: None,
        audio: None,
        text_resource: None,
        binary_resource: None,
        resource_link: None,
        image_bytes: None,
    };

    /// The names of the kinds that its model does not get.
    pub fn hidden(&self) -> Vec<&'static str> {
        let kinds = [
            ("image", self.image),
            ("audio", self.audio),
            ("text_resource", self.text_resource),
            ("binary_resource", self.binary_resource),
            ("resource_link", self.resource_link),
        ];
        kinds.into_iter().filter(|(_, shown)| *shown == Some(false)).map(|(name, _)| name).collect()
    }
}
