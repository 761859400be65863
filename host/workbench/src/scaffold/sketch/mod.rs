//! Pure: sketches a plugin from the description of an HTTP API: one action for each operation, with a request that works. The actions
//! and their parameters are the same in every language.
//!
//! | file | concept |
//! |---|---|
//! | `plan.rs` | what the actions are, without a language |
//! | `literals.rs` | what Python and JavaScript write alike |
//! | `names.rs` | names of actions and parameters |
//! | `rust.rs`, `python.rs`, `script.rs` | the program |

mod literals;
mod names;
mod plan;
mod python;
mod rust;
mod script;

use std::fmt::Write;

use loggia_api::ApiDescription;
use url::Url;

use self::{plan::SketchPlan, script::ScriptTypes};

/// A sketched plugin.
pub struct ApiSketch {
    /// The file with the actions.
    pub program: String,
    /// The policy.
    pub policy: String,
    /// Operations that were left out, with the reason.
    pub left_out: Vec<String>,
}

/// Language of a sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SketchLanguage {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// JavaScript.
    JavaScript,
    /// TypeScript.
    TypeScript,
}

/// Sketches a plugin.
pub fn sketch_api(api: &ApiDescription, language: SketchLanguage) -> ApiSketch {
    let plan = SketchPlan::new(api);
    let (program, limits) = match language {
        SketchLanguage::Rust => (rust::render(&plan), ""),
        SketchLanguage::Python => (
            python::render(&plan),
            "\n[limits]\n# The interpreter takes more to compile than the default.\ncompile-memory = \"1GiB\"\n",
        ),
        SketchLanguage::JavaScript => (script::render(&plan, ScriptTypes::None), ""),
        SketchLanguage::TypeScript => (script::render(&plan, ScriptTypes::Annotated), ""),
    };
    ApiSketch { program, policy: render_policy(api, &plan.origins) + limits, left_out: plan.left_out }
}

/// Grants the servers of an API, and shows how to add its credential.
fn render_policy(api: &ApiDescription, origins: &[String]) -> String {
    let list = origins.iter().map(|origin| format!("{origin:?}")).collect::<Vec<_>>().join(", ");
    let mut policy =
        format!("# Policy of `{}`: what the plugin may use.\n\n[grants]\nhttp = [{list}]\n", api.name);
    if let Some(scheme) = api.security.iter().find(|scheme| scheme.header.is_some()) {
        let host = origins.first().and_then(|origin| Url::parse(origin).ok()?.host_str().map(str::to_owned));
        let (header, format) = (scheme.header.as_deref(), scheme.format.as_deref().unwrap_or("{}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            policy,
            "# The API wants a credential, which the host adds to requests:\n\
             # secrets = [{{ from-env = \"TOKEN\", host = {:?}, header = {:?}, format = {format:?} }}]",
            host.unwrap_or_default(),
            header.unwrap_or_default()
        );
    }
    policy
}

#[cfg(test)]
mod tests {
    use loggia_api::{ImportOptions, import_openapi};

    use super::*;

    #[test]
    fn operations_become_actions_with_requests() {
        let options = ImportOptions {
            name: "pets".to_owned(),
            location: "pets.yaml".to_owned(),
            server: None,
            tags: Vec::new(),
        };
        let document = include_str!("../../../../../tests/fixtures/pets.openapi.yaml");
        let api = import_openapi(document.as_bytes(), &options).unwrap().description;
        for (name, language) in [
            ("rust", SketchLanguage::Rust),
            ("python", SketchLanguage::Python),
            ("js", SketchLanguage::JavaScript),
            ("ts", SketchLanguage::TypeScript),
        ] {
            let ApiSketch { program, policy, left_out } = sketch_api(&api, language);
            insta::assert_snapshot!(format!("sketch_{name}"), format!("{program}\n---\n{policy}"));
            assert_eq!(left_out, ["POST /pictures: a body of the kind Multipart"]);
        }
    }
}
