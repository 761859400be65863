//! `dirs`: directories of the host, each mounted at a path of the plugin.

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
            name: "roots",
            kind: "true or false",
            default: Some("false"),
            means: "`true`: not `path` itself is granted, but only those directories below it that the client names as its \
                    roots (MCP `roots/list`), such as the folders that are open in an editor; at most 16. Only for \
                    clients over stdio, up to revision 2025-11-25; `loggia call` and `loggia workflow run` name the \
                    directory in which they run. Each root is checked in each call: what is refused above is left out",
            example: "true",
            inner: &[],
        },
        Key {
            name: "at",
            kind: "path",
            default: None,
            means: "the absolute path under which the plugin sees it. With `roots`, each appears below it by its name; \
                    `/` is allowed",
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
        let Some(grant) = read_dir(&item, setting, problems) else { continue };
        if seen.insert(grant.at.clone()) {
            grants.push(grant);
        } else {
            item.report("has two directories with the same `at`", problems);
        }
    }
    grants
}

fn read_dir(item: &Field<'_>, setting: &PolicySetting<'_>, problems: &mut Problems) -> Option<DirGrant> {
    let fields = item.fields(names(KEY.inner), problems)?;
    // Read all of them before returning, so that all problems are reported.
    let path = fields.required("path", problems).and_then(|field| setting.path(&field, problems));
    let roots = fields.get("roots").map_or(Some(false), |field| field.flag(problems));
    let at = fields.required("at", problems);
    let at =
        at.and_then(|field| read_at(&field, roots.unwrap_or(true) || fields.has_unknown_key(), problems));
    let writable = fields.required("access", problems).and_then(|field| field.word(ACCESS, problems));
    Some(DirGrant { path: path?, roots: roots?, at: at?, writable: writable? })
}

/// Reads a path in the guest. Only the parent of roots may be `/`: a directory there would hide the others.
fn read_at(field: &Field<'_>, of_roots: bool, problems: &mut Problems) -> Option<String> {
    let text = field.text(problems)?;
    let at = text.value.trim_end_matches('/');
    if at.starts_with('/') && at.split('/').skip(1).all(is_plain_segment) || of_roots && text.value == "/" {
        return Some(at.to_owned());
    }
    let rule = match text.value.as_str() {
        "/" => "can be `/` only with `roots = true`; write a path like \"/notes\"",
        _ => "must be an absolute path without `.` and `..`, like \"/notes\"",
    };
    field.report(format!("{rule} (got {})", text.quoted()), problems);
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
        // Roots have names that no plugin can know.
        let is_at = |dir: &DirGrant| at.is_none_or(|at| at == dir.at && !dir.roots);
        let fits = |dir: &DirGrant| is_at(dir) && (dir.writable || !wants_writing(want));
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
                Some((_, writing)) => *writing |= wants_writing(&want),
                None => dirs.push((at, wants_writing(&want))),
            }
        }
        let entries = dirs.iter().map(|(at, writing)| {
            let access = if *writing { "read-write" } else { "read" };
            // A path beside the plugin folder, since directories in it cannot be granted.
            let (path, at) = (toml_text(&format!("..{at}")), toml_text(at));
            format!("{{ path = {path}, at = {at}, access = \"{access}\" }}")
        });
        (!dirs.is_empty()).then(|| toml_list(entries))
    }

    fn draft_alternative(&self, wants: &WantedGrants<'_>) -> Option<&'static str> {
        let names_path = |want: WantedGrant<'_>| want.word().is_some_and(|word| word.starts_with('/'));
        let suits = wants.has(KEY.name) && !wants.wanted(KEY.name).any(names_path);
        suits.then_some(
            "Or only the folders that are open in the client, of those below a directory: \
             [{ path = \"~/work\", roots = true, at = \"/\", access = \"read\" }]",
        )
    }
}

/// Returns true if a request includes writing.
fn wants_writing(want: &WantedGrant<'_>) -> bool {
    want.detail.is_some_and(|detail| detail.split_whitespace().any(|word| word == "read-write"))
}

/// Returns true if `at` accepts a path.
fn is_plain(at: &str) -> bool {
    let rest = at.strip_prefix('/').map(|rest| rest.strip_suffix('/').unwrap_or(rest));
    rest.is_some_and(|rest| rest.split('/').all(is_plain_segment))
}

fn is_plain_segment(segment: &str) -> bool {
    !matches!(segment, "" | "." | "..") && !segment.contains(char::is_control)
}

fn explain(dir: &DirGrant, worst: Effect) -> String {
    let DirGrant { path, roots, at, writable } = dir;
    let dir = match roots {
        false => format!("{}, mounted at {at}", path.display()),
        true => format!("{}, mounted at {at}/NAME", dir.described()),
    };
    match (writable, worst) {
        (false, _) => format!("read {dir}"),
        (true, Effect::Read) => format!("read {dir}; none of its actions writes"),
        (true, _) => format!("read and write {dir}; its read actions only read"),
    }
}
