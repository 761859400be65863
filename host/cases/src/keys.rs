//! The keys of a cases file, as a table: the parser takes these, and the JSON Schema of the file is made from them.

/// A key, with what it means.
pub(super) struct CaseKey {
    pub name: &'static str,
    pub means: &'static str,
    pub value: CaseValue,
    pub is_required: bool,
}

/// What a key holds.
pub(super) enum CaseValue {
    Text,
    Flag,
    /// `true`.
    Yes,
    /// A whole number greater than 0.
    Count,
    Texts,
    /// Any value.
    Any,
    /// An object with any members.
    Members,
    /// An object, or `true`.
    MembersOrYes,
    /// An object with `action` or `cmd`.
    Arguments,
    /// Sections and grants of a policy.
    Policy,
    /// An object with these keys.
    Object(&'static [CaseKey]),
    /// A list of objects with these keys.
    List(&'static [CaseKey]),
    /// A list of objects with one of these keys, and optionally the first.
    Replies(&'static [CaseKey]),
}

const fn key(name: &'static str, value: CaseValue, means: &'static str) -> CaseKey {
    CaseKey { name, means, value, is_required: false }
}

const fn required(name: &'static str, value: CaseValue, means: &'static str) -> CaseKey {
    CaseKey { is_required: true, ..key(name, value, means) }
}

/// The names of keys.
pub(super) fn names(keys: &[CaseKey]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

pub(super) const FILE_KEYS: &[CaseKey] = &[
    required(
        "cases",
        CaseValue::List(CASE_KEYS),
        "Calls with what is expected of them. They run in order, on one state.",
    ),
    key("plugin", CaseValue::Text, "File name of the plugin, without its suffix."),
    key("with", CaseValue::Texts, "Plugins that are served beside it."),
    key(
        "policy",
        CaseValue::Policy,
        "What differs from the plugin's policy: sections, or grants. null removes a key.",
    ),
    key(
        "http",
        CaseValue::Text,
        "A folder of recordings, by its path from the file; or `live`: requests are sent.",
    ),
    key("surface", CaseValue::Flag, "Whether the published tools are compared with a snapshot."),
    key("limits", CaseValue::Object(LIMIT_KEYS), "Limits of all cases together."),
];

pub(super) const LIMIT_KEYS: &[CaseKey] = &[
    key("tokens", CaseValue::Count, "Tokens of the published tools."),
    key("p95-ms", CaseValue::Count, "Milliseconds within which 95 % of the calls answer."),
];

pub(super) const CASE_KEYS: &[CaseKey] = &[
    required("name", CaseValue::Text, "Name, unique in its file."),
    required("call", CaseValue::Arguments, "Arguments, as a client sends them: `action` and parameters."),
    key(
        "person",
        CaseValue::Replies(PERSON_KEYS),
        "Replies of the person, one for each question. Without them, the client cannot ask.",
    ),
    key(
        "expect",
        CaseValue::Object(EXPECT_KEYS),
        "What is expected of the result; without it, that the call succeeds.",
    ),
    key("state", CaseValue::Object(STORE_KEYS), "The state that all callers share."),
    key("own-state", CaseValue::Object(STORE_KEYS), "The caller's own state."),
];

pub(super) const PERSON_KEYS: &[CaseKey] = &[
    key("asks", CaseValue::Any, "Text of the question, or a pattern: /…/."),
    key("accepted", CaseValue::MembersOrYes, "The form, filled in; true for a link."),
    key("declined", CaseValue::Yes, "The person declines."),
    key("cancelled", CaseValue::Yes, "The person closes the question."),
];

pub(super) const STORE_KEYS: &[CaseKey] = &[
    key("before", CaseValue::Members, "All that is there before the call: JSON values by their keys."),
    key("after", CaseValue::Members, "A part of what is there after the call; null: nothing has this key."),
    key("exactly", CaseValue::Members, "All that is there after the call."),
];

/// Keys of `expect` that are no members of the result come first.
pub(super) const EXPECT_KEYS: &[CaseKey] = &[
    key("ok", CaseValue::Flag, "Whether the call succeeds."),
    key("exactly", CaseValue::Any, "The whole data."),
    key("snapshot", CaseValue::Flag, "Whether the whole result is compared with a snapshot."),
    key("data", CaseValue::Any, "A part of the data."),
    key("count", CaseValue::Any, "Number of items in the data."),
    key("total", CaseValue::Any, "Number of all items."),
    key("cursor", CaseValue::Any, "Where the next page begins."),
    key("message", CaseValue::Any, "A sentence beside the data."),
    key("resolved_inputs", CaseValue::Any, "What the call became."),
    key("next", CaseValue::Any, "The call that the plugin suggests."),
    key("code", CaseValue::Any, "Code of the failure."),
    key("error", CaseValue::Any, "Message of the failure."),
    key("hint", CaseValue::Any, "What to do about the failure."),
    key("expected", CaseValue::Any, "Signature that a refused call should have had."),
    key("example", CaseValue::Any, "Example of a valid call."),
    key("details", CaseValue::Any, "Details of the failure."),
];

/// How many keys of `expect` are no members of the result.
pub(super) const OWN_EXPECT_KEYS: usize = 3;
