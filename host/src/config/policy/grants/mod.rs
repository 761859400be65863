//! `[grants]`: what a plugin may use. What is not named here it does not get.

mod dirs;
mod http;
mod secrets;
mod values;

use std::path::PathBuf;

pub use http::covers;
use loggia_gate::access::InvokeRule;
use loggia_sandbox::Grants;
use loggia_text::units;

use super::{
    PolicyPaths, Setting,
    field::Field,
    key::{Key, Section},
    problem::Problems,
};

/// Bytes of state where the policy grants some and does not say how much.
const QUOTA: u64 = 16 << 20;
/// The most that can be granted.
pub const MOST_QUOTA: u64 = 1 << 30;

/// The section.
pub const GRANTS: Section = Section {
    name: "grants",
    means: "What the plugin may use. Nothing is granted that is not named here.",
    keys: &[
        dirs::KEY,
        http::KEY,
        values::ENV,
        values::CONFIG,
        secrets::KEY,
        Key {
            name: "store",
            kind: "true, false or table",
            default: Some("false"),
            means: "durable state of its own, kept by the host; `true` grants the default quota",
            example: r#"{ quota = "64MiB" }"#,
            inner: &[Key {
                name: "quota",
                kind: "size",
                default: Some("\"16MiB\""),
                means: "how much it may hold; at most 1GiB",
                example: "\"64MiB\"",
                inner: &[],
            }],
        },
        Key {
            name: "caller",
            kind: "true or false",
            default: Some("false"),
            means: "the plugin may learn an opaque id of the caller, which says that two calls are of one caller, and not \
                    of whom",
            example: "true",
            inner: &[],
        },
        Key {
            name: "invoke",
            kind: "list of actions",
            default: Some("[]"),
            means: "actions of other facades that it may call, or lead to: `\"facade:action\"`, or `\"facade:*\"` for all of \
                    one facade. A `read` action may only call `read` actions, and a `write` action no destructive one. \
                    Workflows may call what their steps name, unless this says less",
            example: r#"["projects:create", "search:*"]"#,
            inner: &[],
        },
        Key {
            name: "elicit",
            kind: "true or false",
            default: Some("false"),
            means: "it may ask the person questions. Workflows may, unless this says `false`",
            example: "true",
            inner: &[],
        },
    ],
};

/// What the section says: for the sandbox, and for the gate.
#[derive(Debug, Default)]
pub struct Granted {
    /// What the sandbox gives.
    pub grants: Grants,
    /// Which actions it may call; none where the policy does not say.
    pub invoke: Option<Vec<InvokeRule>>,
    /// Whether it may ask the person; none where the policy does not say.
    pub elicit: Option<bool>,
}

/// Reads the section.
pub fn read(field: &Field<'_>, setting: &Setting<'_>, problems: &mut Problems) -> Granted {
    let mut granted = Granted::default();
    let Some(fields) = field.fields(GRANTS.names(), problems) else { return granted };
    let grants = &mut granted.grants;
    if let Some(field) = fields.get("dirs") {
        grants.dirs = dirs::read(&field, setting, problems);
    }
    let before = problems.len();
    if let Some(field) = fields.get("http") {
        grants.http.rules = http::read(&field, problems);
    }
    if let Some(field) = fields.get("secrets") {
        // Whether a rule that cannot be read would allow a host, nobody knows.
        let rules = (problems.len() == before).then_some(grants.http.rules.as_slice());
        grants.http.secrets = secrets::read(&field, rules, setting, problems);
    }
    if let Some(field) = fields.get("env") {
        grants.env = values::env(&field, problems);
    }
    if let Some(field) = fields.get("config") {
        grants.config = values::config(&field, problems);
    }
    grants.store = fields.get("store").and_then(|field| store(&field, problems));
    grants.caller = fields.get("caller").and_then(|field| field.flag(problems)).unwrap_or_default();
    if let Some(field) = fields.get("invoke") {
        granted.invoke = Some(invoke(&field, problems));
    }
    granted.elicit = fields.get("elicit").and_then(|field| field.flag(problems));
    granted
}

/// The paths that the section names, whatever else is wrong with it.
pub fn paths(field: &Field<'_>, setting: &Setting<'_>) -> PolicyPaths {
    let mut problems = Problems::default();
    let Some(fields) = field.fields(GRANTS.names(), &mut problems) else { return PolicyPaths::default() };
    let mut all = |key: &str, inner: &str| -> Vec<PathBuf> {
        let items = fields.get(key).map(|field| field.items(&mut problems)).unwrap_or_default();
        let paths = items.iter().filter_map(|item| {
            let path = item.fields([inner].into_iter(), &mut problems)?.get(inner)?;
            setting.path(&path, &mut problems)
        });
        paths.collect()
    };
    PolicyPaths { secrets: all("secrets", "from-file"), dirs: all("dirs", "path") }
}

fn store(field: &Field<'_>, problems: &mut Problems) -> Option<u64> {
    if !field.is_table() {
        let must = "true, false, or a table like { quota = \"16MiB\" }";
        return field.flag_of(must, problems)?.then_some(QUOTA);
    }
    let keys = GRANTS.keys.iter().find(|key| key.name == "store").map_or(&[][..], |key| key.inner);
    let fields = field.fields(keys.iter().map(|key| key.name), problems)?;
    let Some(field) = fields.get("quota") else { return Some(QUOTA) };
    let text = field.text_of("a size in quotes, like \"16MiB\"", problems)?;
    match units::bytes(&text.value) {
        Ok(bytes) if (1..=MOST_QUOTA).contains(&bytes) => return Some(bytes),
        Ok(_) => {
            let most = units::bytes_text(MOST_QUOTA);
            let said = format!("must be more than nothing and at most {most} (it is {})", text.shown());
            field.wrong(said, problems);
        }
        Err(said) => field.wrong(format!("({}) {said}", text.shown()), problems),
    }
    None
}

fn invoke(field: &Field<'_>, problems: &mut Problems) -> Vec<InvokeRule> {
    let mut rules = Vec::new();
    for (field, text) in field.texts(problems) {
        match InvokeRule::parse(&text.value) {
            Some(rule) => rules.push(rule),
            None => {
                let must = "must name actions like \"notes:add\" or \"notes:*\"";
                field.wrong(format!("{must} (it is {})", text.shown()), problems);
            }
        }
    }
    rules
}
