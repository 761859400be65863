//! Finds the SDK that a new plugin uses. None is published yet, so it is a folder.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::bail;

use super::language::PluginLanguage;

/// Folder of the source from which this program was built. It may be gone, or on another machine.
const OWN_SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// Name of the package in every language.
const PACKAGE: &str = "loggia-sdk";

/// An SDK in a folder.
pub struct FoundSdk {
    /// Absolute path.
    pub path: PathBuf,
    is_given: bool,
    language: PluginLanguage,
}

/// Finds the SDK of a language in a folder, or else in the source of this program.
///
/// # Errors
///
/// If there is none.
pub fn find_sdk(language: PluginLanguage, given: Option<&Path>) -> anyhow::Result<FoundSdk> {
    let [within, manifest] = language.sdk();
    let root = given.unwrap_or(Path::new(OWN_SOURCE));
    let last = Path::new(within).file_name().map(PathBuf::from).unwrap_or_default();
    // The source of Loggia, its folder `sdk`, or the SDK itself.
    let places = [root.join(within), root.join(last), root.to_owned()];
    if let Some(path) = places.iter().find(|place| is_sdk(&place.join(manifest))) {
        return Ok(FoundSdk { path: fs::canonicalize(path)?, is_given: given.is_some(), language });
    }
    let title = language.title();
    match given {
        Some(given) => {
            bail!("there is no {title} SDK in {}: pass the folder of Loggia's source", given.display())
        }
        None => bail!(
            "the {title} SDK is not published yet, and the source from which this program was built is not here: pass the folder \
             of Loggia's source by --sdk DIR"
        ),
    }
}

/// Whether a manifest is that of an SDK.
fn is_sdk(manifest: &Path) -> bool {
    fs::read_to_string(manifest).is_ok_and(|text| {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        [format!("name=\"{PACKAGE}\""), format!("\"name\":\"{PACKAGE}\"")]
            .iter()
            .any(|name| compact.contains(name))
    })
}

impl FoundSdk {
    /// Says which SDK was taken, and why by its path.
    pub fn explain(&self) -> String {
        let why = if self.is_given { "given by --sdk" } else { "the source of this program" };
        let (title, path) = (self.language.title(), self.path.display());
        format!("the {title} SDK is not published yet: the plugin names it by its path, {path} ({why})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sdk_is_found_from_several_folders() {
        let root = tempfile::tempdir().unwrap();
        let python = root.path().join("sdk/python");
        fs::create_dir_all(&python).unwrap();
        fs::write(python.join("pyproject.toml"), "[project]\nname = \"loggia-sdk\"\n").unwrap();
        let language = PluginLanguage::from_name("python").unwrap();
        for folder in ["", "sdk", "sdk/python"] {
            let found = find_sdk(language, Some(&root.path().join(folder))).unwrap();
            assert_eq!(found.path, fs::canonicalize(&python).unwrap(), "{folder}");
            assert!(found.explain().contains("given by --sdk"));
        }
        let rust = PluginLanguage::from_name("rust").unwrap();
        let error = find_sdk(rust, Some(root.path())).err().unwrap().to_string();
        assert!(error.contains("there is no Rust SDK in"), "{error}");
        assert!(find_sdk(rust, None).unwrap().path.join("macros").is_dir(), "that of this source");
    }
}
