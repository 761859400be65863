//! `plugin.toml`: how the plugin of a folder is built. Only `loggia build` and `loggia dev` read it.

use std::path::PathBuf;

use super::{
    read::{SettingsError, read_document},
    table::table,
    upstream::{is_name, not_empty},
    value::{list, text},
};
use crate::document::{PolicySetting, tree::Text};

table! {
    /// How the plugin of a folder is built.
    pub struct PluginManifest {
        /// Name of the built file, without `.wasm`, and of the policy beside the manifest. The folder's name if it is missing.
        name: Option<String> = None, text(name);
        /// Command that writes the component. The shell runs it in the folder, with your rights and environment.
        build: Option<String> = None, text(not_empty);
        /// The file that the command writes. `NAME.wasm` if it is missing.
        artifact: Option<PathBuf> = None;
        /// Files that lead to a build when they are saved, as patterns of `.gitignore`. Without any: all files of the folder,
        /// except hidden and ignored ones, and what tools write.
        watch: Vec<String> = Vec::new(), list(text(not_empty));
    }
}

/// The names that files of plugins usually have. The facade's own name is checked when the plugin loads.
fn name(text: &Text) -> Result<String, String> {
    if is_name(&text.value) && text.value != "plugin" {
        return Ok(text.value.clone());
    }
    let form = "must be a name of lower-case letters, digits, `-` and `_`, at most 32, beginning with a letter, other than `plugin`";
    Err(format!("{form} (got {})", text.quoted()))
}

impl PluginManifest {
    /// Parses the text of a manifest. Expands `${VAR}` in strings, and resolves the artifact's path against its folder.
    ///
    /// # Errors
    ///
    /// All problems, each with its line, and for an unknown key the closest known one.
    pub fn parse(text: &str, setting: &PolicySetting<'_>) -> Result<Self, SettingsError> {
        let (manifest, problems) = read_document::<Self>(text, setting);
        if problems.is_empty() { Ok(manifest.unwrap_or_default()) } else { Err(problems.into()) }
    }
}
