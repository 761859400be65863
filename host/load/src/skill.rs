//! The skill beside a plugin: the folder `<name>.skill` with a `SKILL.md`, as the Agent Skills format has it.

use std::{
    collections::hash_map::DefaultHasher,
    fs,
    hash::{Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

use loggia_facade::Object;
use loggia_gate::catalog::{PluginSkill, SKILL_FILE, SkillFile};
use loggia_sandbox::ArtifactDigest;
use loggia_text::is_clean;
use loggia_workflow::yaml;
use serde_json::Value;

use super::file_stamp::FileStamp;

/// Files of a skill.
const FILES: usize = 100;
/// Levels of folders.
const DEPTH: usize = 4;
/// Bytes of all files together.
const BYTES: u64 = 1 << 20;
/// Characters of a name, as the format allows.
const NAME: usize = 64;
/// Characters of a description, as the format allows.
const DESCRIPTION: usize = 1024;

/// Why a skill cannot be used. Reads after "the skill".
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    /// A file cannot be read.
    #[error("{0} cannot be read: {1}")]
    Read(String, io::Error),
    /// A rule of the format, or a limit, is broken.
    #[error("{0}: {1}")]
    Invalid(String, String),
    /// A file is being written; not an error yet.
    #[error("changed while it was read")]
    Changing,
}

/// The folder of a plugin's skill, which need not exist.
pub fn skill_folder(plugin: &Path, stem: &str) -> PathBuf {
    plugin.with_file_name(format!("{stem}.skill"))
}

/// Identifies the content of a skill by the metadata of its files. `None` without a skill.
pub(super) fn stamp_skill(folder: &Path) -> Option<u64> {
    fs::symlink_metadata(folder).ok()?;
    let mut hasher = DefaultHasher::new();
    match list_files(folder) {
        Ok(files) => {
            for (path, stamp) in files {
                (path, stamp.parts()).hash(&mut hasher);
            }
        }
        Err(error) => error.to_string().hash(&mut hasher),
    }
    Some(hasher.finish())
}

/// Reads the skill beside a plugin. `None` without one.
///
/// # Errors
///
/// If it cannot be read, is too large, or its frontmatter is not valid.
pub fn read_skill(folder: &Path) -> Result<Option<PluginSkill>, SkillError> {
    if fs::symlink_metadata(folder).is_err() {
        return Ok(None);
    }
    let mut files = Vec::new();
    for (path, stamp) in list_files(folder)? {
        let full = folder.join(&path);
        let bytes = fs::read(&full).map_err(|error| SkillError::Read(path.clone(), error))?;
        let now = fs::symlink_metadata(&full).map_err(|error| SkillError::Read(path.clone(), error))?;
        if bytes.len() as u64 != stamp.size() || FileStamp::from_metadata(&now) != stamp {
            return Err(SkillError::Changing);
        }
        let digest = format!("sha256:{}", ArtifactDigest::of(&bytes));
        files.push(SkillFile { path, digest, bytes: bytes.into() });
    }
    let start = files.iter().find(|file| file.path == SKILL_FILE);
    let start = start.ok_or_else(|| invalid(SKILL_FILE, "it is missing; a skill begins there"))?;
    let text = std::str::from_utf8(&start.bytes).map_err(|_| invalid(SKILL_FILE, "it is not UTF-8"))?;
    let (name, description, fields) = parse_frontmatter(text).map_err(|text| invalid(SKILL_FILE, text))?;
    Ok(Some(PluginSkill { name, description, fields, files }))
}

fn invalid(path: &str, text: impl Into<String>) -> SkillError {
    SkillError::Invalid(path.to_owned(), text.into())
}

/// Lists the files of a skill by path. Links could lead anywhere, so they are refused; hidden files are skipped.
fn list_files(folder: &Path) -> Result<Vec<(String, FileStamp)>, SkillError> {
    let (mut files, mut total) = (Vec::new(), 0);
    let mut open = vec![(String::new(), 0)];
    while let Some((inside, depth)) = open.pop() {
        let shown = if inside.is_empty() { "the folder" } else { &inside };
        let failed = |error| SkillError::Read(shown.to_owned(), error);
        for entry in fs::read_dir(folder.join(&inside)).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let Some(name) = name.to_str() else {
                return Err(invalid(shown, "it has a file whose name is not UTF-8"));
            };
            if name.starts_with('.') {
                continue;
            }
            let path = if inside.is_empty() { name.to_owned() } else { format!("{inside}/{name}") };
            if !is_clean(&path) {
                return Err(invalid(shown, "it has a file whose name holds control or invisible characters"));
            }
            let meta = fs::symlink_metadata(folder.join(&path))
                .map_err(|error| SkillError::Read(path.clone(), error))?;
            if meta.is_dir() {
                if depth + 1 >= DEPTH {
                    return Err(invalid(&path, format!("folders nest at most {DEPTH} levels")));
                }
                open.push((path, depth + 1));
            } else if meta.is_file() {
                total += meta.len();
                if total > BYTES {
                    return Err(invalid(&path, "the files together are larger than 1 MiB"));
                }
                files.push((path, FileStamp::from_metadata(&meta)));
                if files.len() > FILES {
                    return Err(invalid(shown, format!("it has more than {FILES} files")));
                }
            } else {
                return Err(invalid(&path, "it is a link or no regular file; put the file itself there"));
            }
        }
    }
    files.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(files)
}

/// Reads the frontmatter: name, description and the other fields.
fn parse_frontmatter(text: &str) -> Result<(String, String, Object), String> {
    if !is_clean(&text.replace(['\n', '\t', '\r'], " ")) {
        return Err("it holds control or invisible characters; remove them".to_owned());
    }
    let text = text.replace("\r\n", "\n");
    let Some((front, _)) = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---")) else {
        return Err("it must begin with frontmatter: `---`, `name: …`, `description: …`, `---`".to_owned());
    };
    let tree = yaml::parse(front).map_err(|problem| format!("frontmatter: {problem}"))?;
    if let Some(problem) = tree.problems.first() {
        return Err(format!("frontmatter: {problem}"));
    }
    let Ok(Value::Object(mut fields)) = tree.root.to_json() else {
        return Err("the frontmatter is not a list of fields".to_owned());
    };
    let mut take = |key: &str, most: usize| match fields.remove(key) {
        Some(Value::String(text)) if (1..=most).contains(&text.trim().chars().count()) => {
            Ok(text.trim().to_owned())
        }
        Some(_) => Err(format!("`{key}` must be a text of 1 to {most} characters")),
        None => Err(format!("the frontmatter lacks `{key}`")),
    };
    let (name, description) = (take("name", NAME)?, take("description", DESCRIPTION)?);
    let word =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    if !name.split('-').all(word) {
        return Err(format!("`name` must be words of a-z and 0-9 with `-` between them, not {name:?}"));
    }
    Ok((name, description, fields))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;

    const FRONT: &str =
        "---\nname: note-taking\ndescription: How to take notes.\nlicense: MIT\n---\n# Notes\n";

    #[test]
    fn a_skill_has_frontmatter_and_files() {
        let folder = tempfile::tempdir().unwrap();
        let skill = folder.path().join("notes.skill");
        assert!(read_skill(&skill).unwrap().is_none() && stamp_skill(&skill).is_none());
        fs::create_dir_all(skill.join("references")).unwrap();
        fs::write(skill.join("SKILL.md"), FRONT).unwrap();
        fs::write(skill.join("references/a.md"), "A").unwrap();
        fs::write(skill.join(".hidden"), "x").unwrap();
        let before = stamp_skill(&skill);
        let read = read_skill(&skill).unwrap().unwrap();
        assert_eq!((&*read.name, &*read.description), ("note-taking", "How to take notes."));
        assert_eq!(read.fields, json!({"license": "MIT"}).as_object().cloned().unwrap());
        let paths: Vec<_> = read.files.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, ["SKILL.md", "references/a.md"]);
        assert_eq!(stamp_skill(&skill), before);
        fs::write(skill.join("references/a.md"), "AB").unwrap();
        assert_ne!(stamp_skill(&skill), before);
    }

    #[test]
    fn skills_that_break_a_rule_are_refused() {
        let check = |text: &str, reason: &str| {
            let error = parse_frontmatter(text).unwrap_err();
            assert!(error.contains(reason), "{text:.40?}: {error}");
        };
        check("# Notes", "must begin with frontmatter");
        check("---\nname: a\n", "must begin with frontmatter");
        check("---\nname: a\n---\n", "lacks `description`");
        check("---\ndescription: a\n---\n", "lacks `name`");
        check("---\nname: [a]\ndescription: b\n---\n", "`name` must be a text");
        check("---\nname: A b\ndescription: b\n---\n", "words of a-z and 0-9");
        check("---\nname: a--b\ndescription: b\n---\n", "words of a-z and 0-9");
        check(&format!("---\nname: a\ndescription: {}\n---\n", "x".repeat(1025)), "1 to 1024 characters");
        check("---\n- a\n---\n", "not a list of fields");
        check("---\nname: a\nname: b\ndescription: c\n---\n", "frontmatter: ");
        check("---\nname: \u{202e}a\ndescription: c\n---\n", "invisible characters");

        let folder = tempfile::tempdir().unwrap();
        let skill = folder.path().join("notes.skill");
        let refused = |reason: &str| {
            let error = read_skill(&skill).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        };
        fs::write(&skill, "a file").unwrap();
        refused("the folder cannot be read");
        fs::remove_file(&skill).unwrap();
        fs::create_dir(&skill).unwrap();
        refused("SKILL.md: it is missing");
        fs::write(skill.join("SKILL.md"), FRONT).unwrap();
        symlink("/etc/hostname", skill.join("host")).unwrap();
        refused("host: it is a link");
        fs::remove_file(skill.join("host")).unwrap();
        fs::write(skill.join("large"), vec![0; 1 << 20]).unwrap();
        refused("larger than 1 MiB");
        fs::remove_file(skill.join("large")).unwrap();
        fs::create_dir_all(skill.join("a/b/c/d")).unwrap();
        refused("nest at most 4");
        fs::remove_dir_all(skill.join("a")).unwrap();
        assert!(read_skill(&skill).unwrap().is_some());
    }
}
