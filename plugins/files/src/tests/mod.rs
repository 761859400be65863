//! The facade as its callers meet it, over real directories.

mod editing;
mod errors;
mod listing;
mod modes;
mod reading;
mod roundtrip;
mod searching;
mod workflow;
mod writing;

use std::{fs, path::PathBuf, time::Duration};

use loggia_sdk::{
    prelude::*,
    testing::{self, Host, Store},
};
use tempfile::TempDir;

use crate::Files;

/// Two granted directories, `/notes` and `/docs`, with ungranted siblings.
pub struct World {
    directory: TempDir,
    pub files: Files,
    pub store: Store,
}

impl World {
    /// Creates these files: paths below the directory, and contents.
    pub fn new(contents: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = |name| directory.path().join(name);
        for name in ["notes", "docs", "outside"] {
            fs::create_dir(at(name)).unwrap();
        }
        let mut files = Files::over([("/notes", at("notes")), ("/docs", at("docs"))]);
        // There are no concurrent calls.
        files.patience = Duration::ZERO;
        let world = Self { directory, files, store: Store::new() };
        for (path, content) in contents {
            world.write(path, content.as_bytes());
        }
        world
    }

    pub fn real(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    pub fn write(&self, path: &str, content: &[u8]) {
        let path = self.real(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.real(path)).unwrap()
    }

    pub fn reply(&self, action: &str, params: Value) -> Result<Reply<Value>> {
        self.host().call(&self.files, action, params)
    }

    /// A host that grants state.
    pub fn host(&self) -> Host {
        Host::new().store(&self.store)
    }

    /// All names below the directory, hidden ones too, but for the directories.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut open = vec![self.directory.path().to_owned()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    open.push(entry.path());
                } else {
                    let path = entry.path();
                    let below = path.strip_prefix(self.directory.path()).unwrap();
                    names.push(below.to_str().unwrap().to_owned());
                }
            }
        }
        names.sort();
        names
    }

    pub fn detailed(&self, detail: Detail, action: &str, params: Value) -> Value {
        self.host().detail(detail).call(&self.files, action, params).unwrap().data
    }

    /// The data of a call that works.
    pub fn data(&self, action: &str, params: Value) -> Value {
        self.reply(action, params).unwrap().data
    }

    /// Code and message of a call that does not.
    pub fn failure(&self, action: &str, params: Value) -> String {
        self.reply(action, params).unwrap_err().to_string()
    }
}

#[test]
fn the_host_accepts_the_facade() {
    insta::assert_snapshot!(testing::outline(&Files::over([])));
}
