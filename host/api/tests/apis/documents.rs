//! Imports of public documents: every operation is an action whose example calls are valid.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, OnceLock},
};

use loggia_api::{AdaptedApi, ApiDescription, ImportOptions, adapt_api, import_openapi};
use loggia_facade::{Action, Surface};
use loggia_schema::Contract;

use crate::samples;

/// The folder of documents, installed once.
fn documents() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a target folder");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients/install.py");
        let output = Command::new("python3").arg(script).arg(target).arg("apis").output().expect("python3");
        let shown = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "no python3 with venv, or a package registry is out of reach\n{shown}"
        );
        target.join("clients/apis")
    })
}

/// Imports one of the documents, once.
pub fn imported(name: &str, server: Option<String>) -> (ApiDescription, Vec<String>) {
    let file = documents().join(format!("{name}.json"));
    let bytes = std::fs::read(&file).expect("a document");
    let options =
        ImportOptions { name: name.into(), location: format!("{name}.json"), server, ..Default::default() };
    let imported = import_openapi(&bytes, &options).expect("an import");
    (imported.description, imported.problems)
}

/// Contracts of all actions of a surface, as few as today's limits allow.
pub fn contracts(surface: &Surface) -> Vec<Contract> {
    let contract = |actions: &[Action]| {
        let part = Surface { actions: actions.to_vec(), ..surface.clone() };
        Contract::new(Arc::new(part)).unwrap_or_else(|problems| panic!("{problems}"))
    };
    let bytes = |action: &Action| {
        let data = action.data.as_ref().map_or(0, |data| data.to_string().len());
        serde_json::to_string(&*action.params).expect("JSON").len() + action.summary.len() + data + 200
    };
    let (mut chunk, mut size, mut all): (Vec<Action>, usize, Vec<Contract>) = (Vec::new(), 0, Vec::new());
    for action in &surface.actions {
        if chunk.len() == 64 || size + bytes(action) > 250_000 {
            all.push(contract(&chunk));
            chunk.clear();
            size = 0;
        }
        size += bytes(action);
        chunk.push(action.clone());
    }
    all.push(contract(&chunk));
    all
}

/// Example calls of an API.
#[derive(Default)]
struct ExampleCalls {
    all: usize,
    refused: Vec<String>,
}

impl ExampleCalls {
    /// Two calls of each action: with the required parameters, and with all.
    fn check(api: &AdaptedApi) -> Self {
        let mut calls = Self::default();
        for contract in contracts(&api.surface) {
            for action in &contract.surface().actions {
                for is_full in [false, true] {
                    calls.all += 1;
                    if let Err(failure) = contract.prepare(action, samples::params(action, is_full)) {
                        calls.refused.push(format!("{}: {}", action.name, failure.message));
                    }
                }
            }
        }
        calls
    }
}

#[test]
#[ignore = "downloads 800 MB: tests/release/run apis"]
fn every_operation_becomes_an_action() {
    // Vercel's patterns are escaped twice, so that no text matches them.
    for (name, operations, percent) in [
        ("github", 1223, 98),
        ("stripe", 452, 98),
        ("jira", 499, 98),
        ("kubernetes", 839, 98),
        ("vercel", 113, 97),
        ("zoom", 373, 98),
    ] {
        let (description, problems) = imported(name, None);
        assert_eq!(problems, [""; 0], "{name}");
        let actions = description.operations.len();
        assert_eq!(actions, operations, "{name}");
        let text = description.render();
        // The same document gives the same bytes, which give the same description.
        if actions < 500 {
            assert_eq!(imported(name, None).0.render(), text, "{name}");
        }
        let parsed = ApiDescription::parse(&text).expect("a description");
        assert!(parsed == description, "{name}");

        let api = adapt_api(Arc::new(parsed));
        let calls = ExampleCalls::check(&api);
        let (all, refused) = (calls.all, calls.refused.len());
        assert_eq!(all, 2 * actions, "{name}");
        let valid = all - refused;
        assert!(valid * 100 >= all * percent, "{name}: {refused} of {all} calls: {:#?}", calls.refused);
    }
}
