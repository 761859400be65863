//! The folder of a new plugin.
//!
//! | file | concept |
//! |---|---|
//! | `plugin_name.rs` | names of new plugins and APIs |
//! | `language.rs` | the languages, with the files of their plugins |
//! | `sdk.rs` | the SDK that a new plugin uses |
//! | `sketch/` | pure: a plugin from the description of an HTTP API |
//! | `folder.rs` | writes the folder, whole or not at all |

mod folder;
mod language;
mod plugin_name;
mod sdk;
mod sketch;

pub use self::{
    folder::{check_target, write_folder},
    language::{PluginLanguage, TemplateValues},
    plugin_name::plugin_name,
    sdk::{FoundSdk, find_sdk},
    sketch::{ApiSketch, SketchLanguage, sketch_api},
};
