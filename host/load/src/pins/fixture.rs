//! Versions for tests.

use loggia_facade::Surface;
use serde_json::json;

use super::{PinnedVersion, canonical::surface_digest};

/// A surface with one action.
pub fn surface() -> Surface {
    let surface = json!({
        "name": "notes", "title": "Notes", "version": "1.0.0", "summary": "Keeps notes.", "instructions": null,
        "default_action": null, "views": [], "wants": [{"grant": "store", "reason": "Keeps them.", "needed": true}],
        "actions": [{
            "name": "add", "summary": "Adds a note.", "effect": "Write", "idempotent": false, "open_world": false,
            "long_running": false, "details": false, "aliases": [], "needs": [], "group": null, "resource": null,
            "view": null, "data": null, "examples": [],
            "params": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        }],
    });
    serde_json::from_value(surface).unwrap()
}

/// A version of `/plugins/notes.wasm`, with the artifact `sha256:1`.
pub fn version() -> PinnedVersion {
    PinnedVersion {
        name: "notes".into(),
        file: "/plugins/notes.wasm".into(),
        artifact: "sha256:1".into(),
        surface: surface_digest(&surface()),
        policy: None,
        skill: None,
        wants: vec!["store".into()],
        grants: Vec::new(),
    }
}
