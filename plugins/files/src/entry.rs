//! Description of a file or directory.

use std::fs::{FileType, Metadata};

use loggia_sdk::prelude::*;

/// Kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    File,
    Directory,
    /// A symbolic link, which may lead outside of the granted directories.
    Link,
    Other,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            kind if kind.is_symlink() => Self::Link,
            kind if kind.is_dir() => Self::Directory,
            kind if kind.is_file() => Self::File,
            _ => Self::Other,
        }
    }
}

/// A file or directory. Members above the detail level are absent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Entry {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// When it was last changed, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime: Option<&'static str>,
    /// Changes with the content; `put` and `move` ask for it before they replace a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Why nothing more is known of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Entry {
    /// A path, of which nothing is known yet.
    pub fn new(path: String) -> Self {
        Self { path, kind: None, size: None, modified: None, mime: None, version: None, error: None }
    }

    /// An entry that could not be looked at.
    pub fn failed(path: String, error: &str) -> Self {
        Self { error: Some(error.to_owned()), ..Self::new(path) }
    }

    /// Adds the metadata of the file system.
    pub fn with(mut self, metadata: &Metadata, detail: Detail) -> Self {
        let kind = Kind::from(metadata.file_type());
        self.kind = Some(kind);
        self.size = (kind == Kind::File).then_some(metadata.len());
        if detail == Detail::Full {
            self.modified = modified(metadata);
        }
        self
    }
}

/// When it was last changed, as RFC 3339 in whole seconds.
pub fn modified(metadata: &Metadata) -> Option<String> {
    metadata.modified().ok().map(|time| humantime::format_rfc3339_seconds(time).to_string())
}
