//! Plugin, workflow and command line of the measured server.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    payload::{SMALL, payload},
    stage::FACADE,
};

/// Name of the facade of workflows.
pub const WORKFLOW: &str = "chain";
/// A chain of this many steps is measured beside one of one step: the rest of both is the same.
pub const CHAIN: usize = 11;

/// Under valgrind, compiling needs valgrind's own memory and time too.
const POLICY: &str = "[limits]\ncompile-memory = \"8GiB\"\ncompile-cpu = \"10m\"\n";

/// Tool of valgrind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Only emulates, also children: compiles the plugin for the emulated processor.
    None,
    /// Counts.
    Callgrind,
}

/// A folder with everything that the server reads and callgrind writes. Removed on drop.
pub struct Site {
    dir: TempDir,
    loggia: PathBuf,
}

impl Site {
    /// Sets the folder up.
    pub fn new(loggia: &Path, guest: &Path) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("loggia-bench-").tempdir()?;
        let plugins = dir.path().join("plugins");
        fs::create_dir(&plugins)?;
        let plugin = plugins.join(FACADE).with_extension("wasm");
        fs::copy(guest, &plugin).with_context(|| format!("copying {}", guest.display()))?;
        fs::write(plugin.with_extension("toml"), POLICY)?;
        fs::write(plugins.join(format!("{WORKFLOW}.workflow.yaml")), workflows())?;
        Ok(Self { dir, loggia: loggia.to_owned() })
    }

    /// A path within.
    pub fn at(&self, name: &str) -> String {
        self.dir.path().join(name).to_string_lossy().into_owned()
    }

    /// Option that keeps valgrind's pipes for `vgdb` in the folder.
    pub fn pipes(&self) -> String {
        format!("--vgdb-prefix={}", self.at("vgdb"))
    }

    /// Command that starts the server under a tool.
    pub fn command(&self, tool: Tool) -> Vec<String> {
        let mut command = vec!["valgrind".to_owned(), self.pipes()];
        match tool {
            Tool::None => command.extend(["--tool=none".into(), "--trace-children=yes".into()]),
            Tool::Callgrind => command.extend([
                "--tool=callgrind".into(),
                "--separate-threads=yes".into(),
                format!("--callgrind-out-file={}", self.at("out")),
            ]),
        }
        command.extend([self.loggia.to_string_lossy().into_owned(), "serve".into(), self.at("plugins")]);
        command.extend(["--cache".into(), self.at("cache"), "--state".into(), self.at("state")]);
        // Valgrind leaves a program 32 GiB of address space in one piece: the pool of two instances.
        command.extend(["--instances", "2", "--threads", "same"].map(str::to_owned));
        command
    }
}

/// Arguments of the workflow with this many steps.
pub fn arguments(steps: usize) -> Value {
    json!({ "action": action(steps), "input": payload(SMALL) })
}

fn action(steps: usize) -> String {
    format!("steps_{steps}")
}

/// Workflows whose steps pass a text on.
fn workflows() -> String {
    let mut text = String::from("description: Chains of calls.\ncompositeTools:\n");
    for count in [1, CHAIN] {
        let name = action(count);
        let _ = write!(
            text,
            "  - name: {name}\n    description: A chain of calls\n    parameters:\n      type: object\n      properties:\n        \
             input: {{ type: string, description: Text to pass on }}\n      required: [input]\n    steps:\n"
        );
        for number in 1..=count {
            let input = match number {
                1 => ".params.input".to_owned(),
                _ => format!(".steps.s{}.output.text", number - 1),
            };
            let _ = write!(
                text,
                "      - id: s{number}\n        tool: {FACADE}.echo\n        arguments: {{ input: \"{{{{{input}}}}}\" }}\n"
            );
            if number > 1 {
                let _ = writeln!(text, "        dependsOn: [s{}]", number - 1);
            }
        }
    }
    text
}
