//! `dirs`: directories of the host, each under a path of the plugin's own.

use std::collections::BTreeSet;

use loggia_sandbox::DirGrant;

use crate::config::policy::{
    Setting,
    field::Field,
    key::{Key, names},
    problem::Problems,
};

const ACCESS: &[(&str, bool)] = &[("read", false), ("read-write", true)];

/// The key.
pub const KEY: Key = Key {
    name: "dirs",
    kind: "list of tables",
    default: Some("[]"),
    means: "directories that it may use. Refused are those that are, hold or lie in the plugin folder, the cache, the state \
            folder or the kernel's files (`/proc`, `/sys`, `/dev`); that hold the settings file or a secret of any policy; \
            and, to write, those that hold what links of plugins, workflows, policies or settings lead through: the plugin \
            could change what it may do",
    example: r#"[{ path = "~/notes", at = "/notes", access = "read-write" }]"#,
    inner: &[
        Key {
            name: "path",
            kind: "path",
            default: None,
            means: "on this machine; a relative one starts at the policy file, `~` is your home",
            example: "\"~/notes\"",
            inner: &[],
        },
        Key {
            name: "at",
            kind: "path",
            default: None,
            means: "where the plugin sees it; a plain absolute path",
            example: "\"/notes\"",
            inner: &[],
        },
        Key {
            name: "access",
            kind: "word",
            default: None,
            means: "`\"read\"` or `\"read-write\"`; a `read` action only reads in any case",
            example: "\"read-write\"",
            inner: &[],
        },
    ],
};

/// Reads the key.
pub fn read(field: &Field<'_>, setting: &Setting<'_>, problems: &mut Problems) -> Vec<DirGrant> {
    let mut seen = BTreeSet::new();
    let mut grants = Vec::new();
    for item in field.items(problems) {
        let Some(grant) = one(&item, setting, problems) else { continue };
        if seen.insert(grant.at.clone()) {
            grants.push(grant);
        } else {
            item.wrong("gives this `at` to two directories", problems);
        }
    }
    grants
}

fn one(item: &Field<'_>, setting: &Setting<'_>, problems: &mut Problems) -> Option<DirGrant> {
    let fields = item.fields(names(KEY.inner), problems)?;
    // All three are looked at, so that all that is wrong is told.
    let path = fields.needed("path", problems).and_then(|field| setting.path(&field, problems));
    let at = fields.needed("at", problems).and_then(|field| at(&field, problems));
    let writable = fields.needed("access", problems).and_then(|field| field.word(ACCESS, problems));
    Some(DirGrant { path: path?, at: at?, writable: writable? })
}

fn at(field: &Field<'_>, problems: &mut Problems) -> Option<String> {
    let text = field.text(problems)?;
    let at = text.value.trim_end_matches('/');
    let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(char::is_control);
    if at.starts_with('/') && at.split('/').skip(1).all(plain) {
        return Some(at.to_owned());
    }
    let said = "must be a plain absolute path of the plugin's, like \"/notes\"";
    field.wrong(format!("{said} (it is {})", text.shown()), problems);
    None
}
