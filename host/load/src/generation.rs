//! What a host serves, as one value: the same at all hosts that serve the same files.

use std::{collections::BTreeMap, fmt::Write as _};

use loggia_sandbox::ArtifactDigest;

use super::{facade_kind::is_file_key, offer::FacadeOffer};

/// The versions of a folder. Policies are not part of it: they take effect where they are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogGeneration(BTreeMap<String, ArtifactDigest>);

impl CatalogGeneration {
    /// Collects the loaded versions of files. What the settings define has none: each host has its own connections.
    pub fn of_offers<'a>(offers: impl Iterator<Item = (&'a str, &'a FacadeOffer)>) -> Self {
        let files = offers.filter(|(key, _)| is_file_key(key));
        let versions =
            files.filter_map(|(key, offer)| Some((key.to_owned(), offer.version.as_ref()?.facts.digest)));
        Self(versions.collect())
    }

    /// Returns true if it only lacks versions of another one.
    pub fn is_part_of(&self, other: &Self) -> bool {
        self.0.iter().all(|(key, digest)| other.0.get(key) == Some(digest))
    }

    /// Digest, as text.
    pub fn digest(&self) -> String {
        let mut text = String::new();
        for (key, digest) in &self.0 {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{digest} {key}");
        }
        ArtifactDigest::of(text.as_bytes()).to_string()
    }
}
