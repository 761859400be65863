//! Reference page, generated from the tables that parsing uses. A test compares it with `docs/operators/policy.md`.

use std::fmt::Write;

use super::{actions::ACTIONS, expose::EXPOSE};
use crate::{
    document::key::{Key, Section},
    grants,
    grants::GRANTS,
    limits::LIMITS,
    model::ceilings::{CORE_INSTANCES, MEMORIES, TABLES},
};

const HEAD: &str = "\
# Policy files

A policy, `<name>.toml` beside `<name>.wasm`, grants what a plugin may use. Without a policy, or where it is silent, a plugin has
no files, no network, no environment and no state. `loggia policy init notes.wasm` writes a first policy from what the plugin asks
for. `loggia policy explain notes` prints in plain words what a plugin may do, and what it reaches by calling others. This page is
the output of `loggia policy reference`.

Loggia reloads a policy when it is saved. A policy with a mistake is not applied: the plugin keeps its previous one, and the log
and `loggia check` report the mistakes with their lines, eight at a time. Unknown keys are mistakes too, so that a misspelt limit
is never assumed to apply.

Relative paths start at the policy file; `~` is your home directory.

In every string, `${NAME}` expands to the host's environment variable NAME, and `${NAME:-default}` to the default if the variable is
unset or empty; without a default, an unset variable is a mistake. `$${` stands for the characters `${`. Variables are expanded
after the file was parsed: their content never becomes a key or another entry.
";

/// Renders the page in Markdown.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    section(&mut page, (grants::SECTION, grants::MEANS), &GRANTS.map(|grant| grant.key()));
    limits(&mut page);
    named_section(&mut page, &ACTIONS);
    named_section(&mut page, &EXPOSE);
    page
}

/// Appends text. Writing to a string cannot fail.
macro_rules! add {
    ($page:expr, $($text:tt)*) => { let _ = write!($page, $($text)*); };
}

fn named_section(page: &mut String, Section { name, means, keys }: &Section) {
    section(page, (name, means), &keys.iter().collect::<Vec<_>>());
}

fn section(page: &mut String, (name, means): (&str, &str), keys: &[&Key]) {
    add!(page, "\n## `[{name}]`\n\n{means}\n\n");
    add!(page, "| key | value | default | meaning |\n|---|---|---|---|\n");
    for key in keys {
        row(page, "", key);
        for inner in key.inner {
            row(page, &format!("{}.", key.name), inner);
        }
    }
    add!(page, "\nFor example:\n\n```toml\n[{name}]\n");
    for key in keys {
        add!(page, "{} = {}\n", key.name, key.example);
    }
    add!(page, "```\n");
}

fn row(page: &mut String, within: &str, key: &Key) {
    let default = match key.default {
        None => "required".to_owned(),
        Some("") => String::new(),
        Some(default) => format!("`{default}`"),
    };
    add!(page, "| `{within}{}` | {} | {default} | {} |\n", key.name, key.kind, key.means);
}

fn limits(page: &mut String) {
    add!(
        page,
        "\n## `[limits]`\n\nLimits of each call. A call that exceeds a limit fails with a \
         fault or an error that names the key; excess log output is dropped, and excess calls wait. Sizes are whole numbers of B, KiB, MiB or GiB, times of ms, s, m or h.\n\n\
         | key | default | maximum | limits | prevents |\n|---|---:|---:|---|---|\n"
    );
    for limit in LIMITS {
        let (default, most) = (limit.unit.toml(limit.default()), limit.unit.toml(limit.most));
        let least = limit.unit.text(limit.least);
        let least = if limit.least > 1 { format!("; at least {least}") } else { String::new() };
        add!(
            page,
            "| `{}` | `{default}` | `{most}` | {}{least} | {} |\n",
            limit.name(),
            limit.means,
            limit.stops
        );
    }
    add!(
        page,
        "\nThe stack depth is the same for all plugins; `--wasm-stack` or `LOGGIA_WASM_STACK` sets it when the host starts. \
         Each call can use {CORE_INSTANCES} core instances, {MEMORIES} memories and {TABLES} tables.\n\nThe defaults:\n\n```toml\n[limits]\n"
    );
    let width = LIMITS.iter().map(|limit| limit.name().len()).max().unwrap_or_default();
    for limit in LIMITS {
        add!(page, "{:width$} = {}\n", limit.name(), limit.unit.toml(limit.default()));
    }
    add!(page, "```\n");
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests compare and write the pages of the repository")]
mod tests {
    use std::{fs, path::Path};

    use super::*;
    use crate::{file::tests::parse, model::Policy};

    #[test]
    fn the_page_in_docs_is_current() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operators/policy.md");
        let page = reference();
        if std::env::var_os("LOGGIA_WRITE").is_some() {
            fs::write(&file, &page).unwrap();
        }
        let read = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            read == page,
            "docs/operators/policy.md is outdated: LOGGIA_WRITE=1 cargo test -p loggia-policy reference"
        );
    }

    #[test]
    fn the_examples_parse() {
        let page = reference();
        let blocks: Vec<&str> = page.split("```").filter_map(|block| block.strip_prefix("toml\n")).collect();
        assert_eq!(blocks.len(), 4);
        for block in &blocks {
            parse(block).unwrap_or_else(|error| panic!("{error}\n{block}"));
        }
        assert_eq!(parse(blocks[1]).unwrap().limits, Policy::default().limits);
    }

    #[test]
    fn a_default_equals_omitting_the_key() {
        let effective = |policy: Policy| {
            // `stated` differs by definition: it records which keys are set.
            let Policy { grants, limits, rules, stated: _, terms, expose } = policy;
            (grants, limits, terms, expose, rules)
        };
        let sections = [&ACTIONS, &EXPOSE].map(|section| (section.name, section.keys.iter().collect()));
        let grants: Vec<&Key> = GRANTS.iter().map(|grant| grant.key()).collect();
        for (section, keys) in [(grants::SECTION, grants)].into_iter().chain(sections) {
            for key in keys {
                let Some(default) = key.default.filter(|default| !default.is_empty()) else { continue };
                let policy = parse(&format!("[{section}]\n{} = {default}", key.name)).unwrap();
                assert_eq!(effective(policy), effective(Policy::default()), "{}", key.name);
            }
        }
    }

    #[test]
    fn the_examples_of_inner_keys_parse() {
        // Each example is put in a table with the examples of the required keys.
        for key in GRANTS.map(|grant| grant.key()) {
            for inner in key.inner {
                let others =
                    key.inner.iter().filter(|other| other.name != inner.name && other.default.is_none());
                let entries = others.chain([inner]).map(|key| format!("{} = {}", key.name, key.example));
                let entries: Vec<String> = entries.collect();
                let table = format!("{{ {} }}", entries.join(", "));
                let source = if key.name == "secrets" && !inner.name.starts_with("from") {
                    table.replace('{', "{ from-file = \"x\",").replace("{ from-file = \"x\",}", "{}")
                } else {
                    table
                };
                let value = if key.kind.starts_with("list") { format!("[{source}]") } else { source };
                let http = if key.name == "secrets" { "http = [\"https://api.github.com\"]\n" } else { "" };
                let text = format!("[grants]\n{http}{} = {value}", key.name);
                parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            }
        }
    }
}
