//! Signs of instructions.

use loggia_sdk::Deserialize;

/// A sign, by its name in the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case", crate = "loggia_sdk::serde")]
pub enum TextSign {
    /// Characters that people do not see.
    Hidden,
    /// Tags and roles of chat formats.
    Tag,
    /// A phrase.
    Phrase,
}

impl TextSign {
    /// Its name in the settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::Tag => "tag",
            Self::Phrase => "phrase",
        }
    }
}
