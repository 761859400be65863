//! `dirs`: directories of the host, each under a path of the plugin's own.

use std::collections::BTreeSet;

use loggia_facade::Effect;

use super::grant::{Grant, GrantReading, WantedGrant, WantedGrants, toml_list, toml_text};
use crate::{
    document::{
        PolicySetting,
        field::Field,
        key::{Key, names},
        problem::Problems,
    },
    model::{DirGrant, Policy},
};

const ACCESS: &[(&str, bool)] = &[("read", false), ("read-write", true)];

/// `grants.dirs`.
pub(super) struct DirsGrant;

const KEY: Key = Key {
    name: "dirs",
    kind: "list of tables",
    default: Some("[]"),
    means: "directories that the plugin may use. Refused: directories that are, contain or lie in the plugin folder, \
            the cache, the state folder or kernel file systems (`/proc`, `/sys`, `/dev`); directories that contain \
            the settings file or a secret of any policy; and, for writing, directories that links of plugins, \
            workflows, policies or settings lead through, because the plugin could change its own policy",
    example: r#"[{ path = "~/notes", at = "/notes", access = "read-write" }]"#,
    inner: &[
        Key {
            name: "path",
            kind: "path",
            default: None,
            means: "the directory on this machine. Relative paths start at the policy file; `~` is your home \
                    directory",
            example: "\"~/notes\"",
            inner: &[],
        },
        Key {
            name: "at",
            kind: "path",
            default: None,
            means: "the absolute path under which the plugin sees it",
            example: "\"/notes\"",
            inner: &[],
        },
        Key {
            name: "access",
            kind: "word",
            default: None,
            means: "`\"read\"` or `\"read-write\"`; a `read` action can only read in either case",
            example: "\"read-write\"",
            inner: &[],
        },
    ],
};

fn read(field: &Field<'_>, setting: &PolicySetting<'_>, problems: &mut Problems) -> Vec<DirGrant> {
    let mut seen = BTreeSet::new();
    let mut grants = Vec::new();
    for item in field.items(problems) {
        let Some(grant) = one(&item, setting, problems) else { continue };
        if seen.insert(grant.at.clone()) {
            grants.push(grant);
        } else {
            item.report("gives this `at` to two directories", problems);
        }
    }
    grants
}

fn one(item: &Field<'_>, setting: &PolicySetting<'_>, problems: &mut Problems) -> Option<DirGrant> {
    let fields = item.fields(names(KEY.inner), problems)?;
    // All three are looked at, so that all that is wrong is told.
    let path = fields.required("path", problems).and_then(|field| setting.path(&field, problems));
    let at = fields.required("at", problems).and_then(|field| at(&field, problems));
    let writable = fields.required("access", problems).and_then(|field| field.word(ACCESS, problems));
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
    field.report(format!("{said} (it is {})", text.quoted()), problems);
    None
}

impl Grant for DirsGrant {
    fn key(&self) -> &'static Key {
        &KEY
    }

    fn read(&self, field: &Field<'_>, reading: &mut GrantReading<'_>) {
        reading.granted.grants.dirs = read(field, reading.setting, reading.problems);
    }

    fn is_given(&self, policy: &Policy) -> bool {
        !policy.grants.dirs.is_empty()
    }

    fn covers(&self, policy: &Policy, want: &WantedGrant<'_>) -> bool {
        let at = want.word().filter(|word| word.starts_with('/')).map(|at| at.trim_end_matches('/'));
        let fits = |dir: &DirGrant| at.is_none_or(|at| at == dir.at) && (dir.writable || !is_writing(want));
        policy.grants.dirs.iter().any(fits)
    }

    fn explain(&self, policy: &Policy, worst: Effect) -> Vec<String> {
        policy.grants.dirs.iter().map(|dir| explain(dir, worst)).collect()
    }

    fn draft(&self, wants: &WantedGrants<'_>) -> Option<String> {
        let mut dirs: Vec<(String, bool)> = Vec::new();
        for (n, want) in wants.wanted(KEY.name).enumerate() {
            let number = if n == 0 { String::new() } else { (n + 1).to_string() };
            let at = want.word().filter(|at| is_plain(at)).map(|at| at.trim_end_matches('/').to_owned());
            let at = at.unwrap_or(format!("/data{number}"));
            match dirs.iter_mut().find(|(known, _)| *known == at) {
                Some((_, writing)) => *writing |= is_writing(&want),
                None => dirs.push((at, is_writing(&want))),
            }
        }
        let entries = dirs.iter().map(|(at, writing)| {
            let access = if *writing { "read-write" } else { "read" };
            // Beside the plugin folder, in which no directory may be granted.
            let (path, at) = (toml_text(&format!("..{at}")), toml_text(at));
            format!("{{ path = {path}, at = {at}, access = \"{access}\" }}")
        });
        (!dirs.is_empty()).then(|| toml_list(entries))
    }
}

/// Whether a directory is to be written to.
fn is_writing(want: &WantedGrant<'_>) -> bool {
    want.detail.is_some_and(|detail| detail.split_whitespace().any(|word| word == "read-write"))
}

/// Whether a path can be one of the plugin's own.
fn is_plain(at: &str) -> bool {
    let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(char::is_control);
    let rest = at.strip_prefix('/').map(|rest| rest.strip_suffix('/').unwrap_or(rest));
    rest.is_some_and(|rest| rest.split('/').all(plain))
}

fn explain(dir: &DirGrant, worst: Effect) -> String {
    let DirGrant { path, at, writable } = dir;
    let seen = format!("{}, which it sees as {at}", path.display());
    match (writable, worst) {
        (false, _) => format!("read {seen}"),
        (true, Effect::Read) => format!("read {seen}; none of its actions writes"),
        (true, _) => format!("read and write {seen}; its read actions only read"),
    }
}
