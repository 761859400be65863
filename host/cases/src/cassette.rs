//! A file of recorded exchanges: those of one case.

use std::{fs, io, io::Read, path::Path};

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

use super::taped::TapedExchange;

/// Version of the format.
const VERSION: u32 = 1;
/// Bytes of a file, at most.
const BYTES: u64 = 64 << 20;

/// The exchanges of one case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CassetteFile {
    version: u32,
    exchanges: Vec<TapedExchange>,
}

impl CassetteFile {
    pub(super) fn new(exchanges: Vec<TapedExchange>) -> Self {
        Self { version: VERSION, exchanges }
    }

    pub(super) fn into_exchanges(self) -> Vec<TapedExchange> {
        self.exchanges
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// Reads a file; one that is missing has no exchanges.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is no cassette.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let mut text = String::new();
        let file = match fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::new(Vec::new())),
            Err(error) => return Err(error).with_context(|| format!("failed to read {}", path.display())),
        };
        let read = file.take(BYTES + 1).read_to_string(&mut text);
        read.with_context(|| format!("failed to read {}", path.display()))?;
        ensure!(text.len() as u64 <= BYTES, "{} is larger than {BYTES} bytes", path.display());
        let cassette: Self = serde_json::from_str(&text)
            .with_context(|| format!("{} is no cassette; --record writes it again", path.display()))?;
        if cassette.version != VERSION {
            bail!("{} has another version; --record writes it again", path.display());
        }
        cassette.check().with_context(|| path.display().to_string())?;
        Ok(cassette)
    }

    /// Checks that all exchanges can be played.
    ///
    /// # Errors
    ///
    /// Which one cannot, and why.
    pub fn check(&self) -> anyhow::Result<()> {
        for (at, exchange) in self.exchanges.iter().enumerate() {
            if let Err(why) = exchange.outcome() {
                bail!("exchange {}: {why}", at + 1);
            }
        }
        Ok(())
    }

    /// Lists the requests, each by method and URL.
    pub fn describe(&self) -> Vec<String> {
        self.exchanges.iter().map(|exchange| exchange.request.describe()).collect()
    }

    /// Renders the text of the file.
    pub fn render(&self) -> String {
        // Neither texts nor maps with text keys fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_cassettes_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        assert!(CassetteFile::read(&path).unwrap().is_empty());
        for (text, reason) in [
            ("{", "is no cassette"),
            (r#"{"version": 2, "exchanges": []}"#, "has another version"),
            (
                r#"{"version": 1, "exchanges": [{"request": {"method": "GET", "url": "x"}}]}"#,
                "an exchange must have either `response` or `error`",
            ),
        ] {
            fs::write(&path, text).unwrap();
            let error = format!("{:#}", CassetteFile::read(&path).unwrap_err());
            assert!(error.contains(reason), "{text}: {error}");
        }
        fs::write(&path, CassetteFile::new(Vec::new()).render()).unwrap();
        assert_eq!(CassetteFile::read(&path).unwrap(), CassetteFile::new(Vec::new()));
    }
}
