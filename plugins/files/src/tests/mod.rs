//! The facade as its callers meet it, over real directories.

mod errors;
mod listing;
mod reading;
mod searching;
mod workflow;
mod writing;

use std::{fs, path::PathBuf};

use loggia_sdk::{
    prelude::*,
    testing::{self, Host},
};
use tempfile::TempDir;

use crate::Files;

/// Two granted directories, `/notes` and `/docs`, in a directory that has more beside them.
struct World {
    directory: TempDir,
    files: Files,
}

impl World {
    /// With these files: paths below the directory, and contents.
    fn new(contents: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = |name| directory.path().join(name);
        for name in ["notes", "docs", "outside"] {
            fs::create_dir(at(name)).unwrap();
        }
        let files = Files::over([("/notes", at("notes")), ("/docs", at("docs"))]);
        let world = Self { directory, files };
        for (path, content) in contents {
            world.write(path, content.as_bytes());
        }
        world
    }

    fn real(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    fn write(&self, path: &str, content: &[u8]) {
        let path = self.real(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.real(path)).unwrap()
    }

    fn reply(&self, action: &str, params: Value) -> Result<Reply<Value>> {
        testing::call(&self.files, action, params)
    }

    fn detailed(&self, detail: Detail, action: &str, params: Value) -> Value {
        Host::new().detail(detail).call(&self.files, action, params).unwrap().data
    }

    /// The data of a call that works.
    fn data(&self, action: &str, params: Value) -> Value {
        self.reply(action, params).unwrap().data
    }

    /// Code and message of a call that does not.
    fn failure(&self, action: &str, params: Value) -> String {
        self.reply(action, params).unwrap_err().to_string()
    }
}

#[test]
fn the_facade_is_one_that_the_host_takes() {
    let described = testing::describe(&Files::over([]));
    let actions = described["actions"].as_array().unwrap().iter();
    let lines: Vec<_> = actions
        .map(|action| {
            let names: Vec<_> = action["params"]["properties"].as_object().unwrap().keys().cloned().collect();
            let word = |key: &str| action[key].as_str().unwrap().to_owned();
            format!("{} ({}): {}\n    {}", word("name"), word("effect"), word("summary"), names.join(", "))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}
