//! The keys of a cases file, as a table: the parser takes these, and the JSON Schema of the file is made from them.

/// A key, with what it means.
pub(super) struct CaseKey {
    pub name: &'static str,
    pub means: &'static str,
    pub value: KeyValue,
    pub is_required: bool,
}

/// What a key holds.
pub(super) enum KeyValue {
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

const fn key(name: &'static str, value: KeyValue, means: &'static str) -> CaseKey {
    CaseKey { name, means, value, is_required: false }
}

const fn required(name: &'static str, value: KeyValue, means: &'static str) -> CaseKey {
    CaseKey { is_required: true, ..key(name, value, means) }
}

/// The names of keys.
pub(super) fn names(keys: &[CaseKey]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

pub(super) const FILE_KEYS: &[CaseKey] = &[
    required(
        "cases",
        KeyValue::List(CASE_KEYS),
        "Calls with what is expected of them. They run in order, on one state.",
    ),
    key("plugin", KeyValue::Text, "File name of the plugin, without its suffix."),
    key("with", KeyValue::Texts, "Plugins that are served beside it."),
    key(
        "policy",
        KeyValue::Policy,
        "What differs from the plugin's policy: sections, or grants. null removes a key.",
    ),
    key(
        "http",
        KeyValue::Text,
        "A folder of recordings, by its path from the file; or `live`: requests are sent.",
    ),
    key("surface", KeyValue::Flag, "Whether the published tools are compared with a snapshot."),
    key("limits", KeyValue::Object(LIMIT_KEYS), "Limits of all cases together."),
];

pub(super) const LIMIT_KEYS: &[CaseKey] = &[
    key("tokens", KeyValue::Count, "Tokens of the published tools."),
    key("p95-ms", KeyValue::Count, "Milliseconds within which 95 % of the calls answer."),
];

pub(super) const CASE_KEYS: &[CaseKey] = &[
    required("name", KeyValue::Text, "Name, unique in its file."),
    required("call", KeyValue::Arguments, "Arguments, as a client sends them: `action` and parameters."),
    key(
        "person",
        KeyValue::Replies(PERSON_KEYS),
        "Replies of the person, one for each question. Without them, the client cannot ask.",
    ),
    key(
        "expect",
        KeyValue::Object(EXPECT_KEYS),
        "What is expected of the result; without it, that the call succeeds.",
    ),
    key("state", KeyValue::Object(STORE_KEYS), "The state that all callers share."),
    key("own-state", KeyValue::Object(STORE_KEYS), "The caller's own state."),
];

pub(super) const PERSON_KEYS: &[CaseKey] = &[
    key("asks", KeyValue::Any, "Text of the question, or a pattern: /…/."),
    key("accepted", KeyValue::MembersOrYes, "The form, filled in; true for a link."),
    key("declined", KeyValue::Yes, "The person declines."),
    key("cancelled", KeyValue::Yes, "The person closes the question."),
];

pub(super) const STORE_KEYS: &[CaseKey] = &[
    key("before", KeyValue::Members, "All that is there before the call: JSON values by their keys."),
    key("after", KeyValue::Members, "A part of what is there after the call; null: nothing has this key."),
    key("exactly", KeyValue::Members, "All that is there after the call."),
];

/// Keys of `expect` that are no members of the result come first.
pub(super) const EXPECT_KEYS: &[CaseKey] = &[
    key("ok", KeyValue::Flag, "Whether the call succeeds."),
    key("exactly", KeyValue::Any, "The whole data."),
    key("snapshot", KeyValue::Flag, "Whether the whole result is compared with a snapshot."),
    key("data", KeyValue::Any, "A part of the data."),
    key("count", KeyValue::Any, "Number of items in the data."),
    key("total", KeyValue::Any, "Number of all items."),
    key("cursor", KeyValue::Any, "Where the next page begins."),
    key("message", KeyValue::Any, "A sentence beside the data."),
    key("resolved_inputs", KeyValue::Any, "What the call became."),
    key("next", KeyValue::Any, "The call that the plugin suggests."),
    key("code", KeyValue::Any, "Code of the failure."),
    key("error", KeyValue::Any, "Message of the failure."),
    key("hint", KeyValue::Any, "What to do about the failure."),
    key("expected", KeyValue::Any, "Signature that a refused call should have had."),
    key("example", KeyValue::Any, "Example of a valid call."),
    key("details", KeyValue::Any, "Details of the failure."),
];

/// How many keys of `expect` are no members of the result.
pub(super) const OWN_EXPECT_KEYS: usize = 3;
