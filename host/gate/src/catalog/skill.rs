//! Skills: instructions for models that come with a plugin, as a folder with a `SKILL.md` (SEP-2640). Plain data.

use std::sync::Arc;

use loggia_facade::Object;

/// The file in which a skill begins.
pub const SKILL_FILE: &str = "SKILL.md";

/// The skill of a plugin.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginSkill {
    /// Name in its frontmatter: `^[a-z0-9]+(-[a-z0-9]+)*$`, at most 64 characters.
    pub name: String,
    /// When a model should read it.
    pub description: String,
    /// The other fields of its frontmatter.
    pub fields: Object,
    /// By path. One of them is [`SKILL_FILE`].
    pub files: Vec<SkillFile>,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillFile {
    /// Path from the skill's folder, with `/`.
    pub path: String,
    /// `sha256:` and the digest of its content in hexadecimal.
    pub digest: String,
    /// Its content.
    pub bytes: Arc<[u8]>,
}
