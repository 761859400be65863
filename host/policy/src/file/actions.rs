//! `[actions]`: rules for single actions.

use loggia_schema::{ActionPolicy, ConsentSource};

use crate::{
    document::{
        field::Field,
        key::{Key, Section},
        problem::Problems,
    },
    model::ChainRule,
};

const CHAINS: &[(&str, ChainRule)] =
    &[("off", ChainRule::Off), ("advise", ChainRule::Advise), ("follow", ChainRule::Follow)];

const CONSENT_SOURCES: &[(&str, ConsentSource)] =
    &[("person", ConsentSource::Person), ("model", ConsentSource::Model)];

pub(super) const ACTIONS: Section = Section {
    name: "actions",
    means: "Rules for individual actions, which override what the plugin declares.",
    keys: &[
        Key {
            name: "deny",
            kind: "list of actions",
            default: Some("[]"),
            means: "actions that are neither published nor run; a name that the plugin does not have is an error",
            example: r#"["purge"]"#,
            inner: &[],
        },
        Key {
            name: "confirm",
            kind: "list of actions",
            default: Some("[]"),
            means: "a person is asked before these run: the user, or an operator where the client cannot ask",
            example: r#"["delete"]"#,
            inner: &[],
        },
        Key {
            name: "confirm-by",
            kind: "word",
            default: Some("\"person\""),
            means: "whose consent counts where the client cannot ask its user: `\"person\"` waits until an operator \
                    approves (`loggia approvals`), `\"model\"` accepts `\"confirm\": true` of the model, which may send \
                    it unasked",
            example: "\"model\"",
            inner: &[],
        },
        Key {
            name: "record",
            kind: "list of actions",
            default: Some("[]"),
            means: "calls of these are written to files by `loggia serve --record`, with their parameters, results, \
                    state and requests, for `loggia replay`; what looks like a credential is redacted",
            example: r#"["search"]"#,
            inner: &[],
        },
        Key {
            name: "chain",
            kind: "word",
            default: Some("\"advise\""),
            means: "what happens with a result's `next` call: `\"advise\"` passes it to the caller, `\"follow\"` \
                    makes it if `grants.invoke` allows it, `\"off\"` drops it",
            example: "\"follow\"",
            inner: &[],
        },
        Key {
            name: "batch",
            kind: "true or false",
            default: Some("false"),
            means: "whether one call may contain several",
            example: "true",
            inner: &[],
        },
    ],
};

/// Reads the section.
pub(super) fn read(field: &Field<'_>, problems: &mut Problems) -> (ActionPolicy, ChainRule) {
    let mut terms = ActionPolicy::default();
    let mut chain = ChainRule::default();
    let Some(fields) = field.fields(ACTIONS.names(), problems) else { return (terms, chain) };
    let mut names = |key: &str| {
        let Some(field) = fields.get(key) else { return Vec::new() };
        field.texts(problems).into_iter().map(|(_, text)| text.value.clone()).collect()
    };
    terms.deny = names("deny");
    terms.confirm = names("confirm");
    terms.record = names("record");
    if let Some(word) = fields.get("confirm-by").and_then(|field| field.word(CONSENT_SOURCES, problems)) {
        terms.confirm_by = word;
    }
    terms.batch = fields.get("batch").and_then(|field| field.flag(problems)).unwrap_or_default();
    if let Some(word) = fields.get("chain").and_then(|field| field.word(CHAINS, problems)) {
        chain = word;
    }
    (terms, chain)
}
