//! Skills (SEP-2640): instructions that come with plugins. A caller sees those of the facades of which it sees an action.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use loggia_gate::catalog::{CatalogSkill, SKILL_FILE, SkillFile};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rmcp::{
    ErrorData,
    model::{
        ErrorCode, GetSkillRequestParams, GetSkillResult, ListSkillsResult, PaginatedRequestParams,
        ReadResourceResult, ResourceContents, Skill, SkillFrontmatter, SkillResource, SkillResources,
    },
};
use serde_json::json;

use super::{
    handler::{McpContext, McpHandler},
    pages,
};

/// Scheme of the files of skills.
const SCHEME: &str = "skill://";
/// What is encoded in the path of a file.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
/// Characters of a URI in a message.
const QUOTED: usize = 200;

impl McpHandler {
    /// Answers `skills/list`.
    pub(super) async fn answer_skill_list(
        &self,
        request: Option<PaginatedRequestParams>,
        context: &McpContext,
    ) -> Result<ListSkillsResult, ErrorData> {
        let _operation = self.time_operation("skills/list", context);
        let skills: Vec<Skill> = self.visible_skills(context).await.iter().map(to_skill).collect();
        let cursor = request.and_then(|request| request.cursor);
        let (page, next) = pages::page(&skills, |skill| &skill.uri, cursor.as_deref())?;
        let mut result = ListSkillsResult::with_all_items(page);
        result.next_cursor = next;
        Ok(result.with_ttl_ms(self.ttl_ms()).with_cache_scope(self.cache_scope(context)))
    }

    /// Answers `skills/get`.
    pub(super) async fn answer_skill(
        &self,
        request: GetSkillRequestParams,
        context: &McpContext,
    ) -> Result<GetSkillResult, ErrorData> {
        let _operation = self.time_operation("skills/get", context);
        let skills = self.visible_skills(context).await;
        let found = skills.iter().find(|skill| skill.uri(SKILL_FILE) == request.uri);
        let unknown = || ErrorData { code: ErrorCode::INVALID_PARAMS, ..unknown_skill(&request.uri) };
        let skill = to_skill(found.ok_or_else(unknown)?);
        Ok(GetSkillResult::new(skill).with_ttl_ms(self.ttl_ms()).with_cache_scope(self.cache_scope(context)))
    }

    /// Reads a file of a skill. `None` if the URI is none of a skill.
    pub(super) async fn read_skill_file(
        &self,
        uri: &str,
        context: &McpContext,
    ) -> Option<Result<ReadResourceResult, ErrorData>> {
        if !uri.starts_with(SCHEME) {
            return None;
        }
        let skills = self.visible_skills(context).await;
        let found = skills.iter().find_map(|skill| {
            let file = skill.skill.files.iter().find(|file| skill.uri(&encoded(&file.path)) == uri)?;
            Some(to_contents(file, uri))
        });
        Some(found.ok_or_else(|| unknown_skill(uri)).map(|contents| {
            let result = ReadResourceResult::new(vec![contents]);
            result.with_ttl_ms(self.ttl_ms()).with_cache_scope(self.cache_scope(context))
        }))
    }

    async fn visible_skills(&self, context: &McpContext) -> Vec<CatalogSkill> {
        let catalog = self.gate().catalog();
        catalog.wait_until_admitted().await;
        let origin = self.origin(context);
        catalog.snapshot().skills(origin.list, &origin.rights)
    }
}

/// The path of a file within a URI.
fn encoded(path: &str) -> String {
    utf8_percent_encode(path, PATH).to_string()
}

fn to_skill(found: &CatalogSkill) -> Skill {
    let skill = &found.skill;
    let files = skill
        .files
        .iter()
        .map(|file| {
            let uri = found.uri(&encoded(&file.path));
            SkillResource::new(uri, file.digest.clone(), file.bytes.len() as u64)
        })
        .collect();
    let front = SkillFrontmatter::new(&skill.name, &skill.description);
    let front = skill.fields.iter().fold(front, |front, (key, value)| front.with_field(key, value.clone()));
    Skill::new(found.uri(SKILL_FILE), front, SkillResources::Files(files))
}

/// The bytes of a file: as text, if they are one.
fn to_contents(file: &SkillFile, uri: &str) -> ResourceContents {
    let ending = file.path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let known = match ending.to_ascii_lowercase().as_str() {
        "md" => Some("text/markdown"),
        "json" => Some("application/json"),
        "yaml" | "yml" => Some("application/yaml"),
        "csv" => Some("text/csv"),
        "html" => Some("text/html"),
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "svg" => Some("image/svg+xml"),
        "pdf" => Some("application/pdf"),
        _ => None,
    };
    match std::str::from_utf8(&file.bytes) {
        Ok(text) => ResourceContents::text(text, uri).with_mime_type(known.unwrap_or("text/plain")),
        Err(_) => ResourceContents::blob(STANDARD.encode(&file.bytes), uri)
            .with_mime_type(known.unwrap_or("application/octet-stream")),
    }
}

/// Error for a skill that no plugin has, or none that the caller sees.
fn unknown_skill(uri: &str) -> ErrorData {
    let uri: String = uri.chars().take(QUOTED).collect();
    let message = format!("Skill not found: {uri:?}. `skills/list` names them.");
    ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
}
