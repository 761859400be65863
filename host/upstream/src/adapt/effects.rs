//! What an action does to the world, from the hints of its tool.

use loggia_facade::Effect;

use super::listed_tool::ToolHints;

/// The properties of an action that follow from hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ToolEffect {
    pub(super) effect: Effect,
    pub(super) idempotent: bool,
    pub(super) open_world: bool,
}

/// Derives the effect of a tool.
///
/// A tool without hints writes and is open-world. MCP's own default is `destructive`, but most servers have no hints, and a
/// question before every call teaches people to agree without reading; the operator's policy can set any effect. The
/// default of MCP applies where a server says that a tool is not read-only and nothing more. Contradictions count as the
/// worse of both.
pub(super) fn effect_of(hints: ToolHints) -> ToolEffect {
    let effect = match (hints.read_only, hints.destructive) {
        (_, Some(true)) | (Some(false), None) => Effect::Destructive,
        (Some(true), _) => Effect::Read,
        (_, Some(false)) | (None, None) => Effect::Write,
    };
    ToolEffect {
        effect,
        idempotent: effect == Effect::Read || hints.idempotent == Some(true),
        open_world: hints.open_world.unwrap_or(true),
    }
}
