//! Creates directories that policies grant: a plugin is not served until they exist.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use loggia_load::places;
use loggia_policy::model::Policy;

/// Missing directories of one policy.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct GrantedFolders {
    /// Created, beside the plugin folder.
    pub created: Vec<PathBuf>,
    /// Not created: outside, or not creatable.
    pub missing: Vec<PathBuf>,
}

/// Creates the missing directories that a policy grants beside the plugin folder (an absolute path), such as `../data`.
///
/// Creates none in the plugin folder, which no plugin may be granted, and none elsewhere on the machine.
pub fn create_missing(policy: &str, plugins: &Path) -> GrantedFolders {
    let mut out = GrantedFolders::default();
    // Loading the plugin reports problems of its policy.
    let Ok(policy) = Policy::parse(policy, &places::setting(plugins)) else { return out };
    let beside = plugins.parent().unwrap_or(plugins);
    for dir in policy.grants.dirs {
        let path = normalize(&dir.path);
        if path.exists() || path.starts_with(plugins) {
            continue;
        }
        let is_made = path.starts_with(beside) && fs::create_dir_all(&path).is_ok();
        if is_made { &mut out.created } else { &mut out.missing }.push(path);
    }
    out
}

/// Removes `..` lexically.
fn normalize(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_created_only_beside_the_plugins() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let plugins = root.join("out/plugins");
        fs::create_dir_all(&plugins).unwrap();
        let grant = |path: &str| {
            let policy = format!("[grants]\ndirs = [{{ path = {path:?}, at = \"/d\", access = \"read\" }}]");
            create_missing(&policy, &plugins)
        };
        let deep = root.join("out/data/deep");
        assert_eq!(grant("../data/deep"), GrantedFolders { created: vec![deep.clone()], missing: vec![] });
        assert!(deep.is_dir());
        assert_eq!(grant("../data/deep"), GrantedFolders::default(), "it is there");
        for inside in ["data", "../plugins/data"] {
            assert_eq!(grant(inside), GrantedFolders::default(), "no plugin may have it");
        }
        assert!(!plugins.join("data").exists());
        let elsewhere = GrantedFolders { created: vec![], missing: vec![root.join("data")] };
        assert_eq!(grant("../../data"), elsewhere);
        assert!(!root.join("data").exists());
        assert_eq!(create_missing("nonsense = [", &plugins), GrantedFolders::default());
    }
}
