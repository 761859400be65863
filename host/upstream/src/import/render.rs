//! Settings as TOML.

use loggia_text::printable;
use toml::{Table, Value};

use super::client_file::ImportedUpstream;
use crate::spec::TransportSpec;

/// Renders upstreams as `[upstream.NAME]` tables, with what the operator should know as comments.
pub fn render_toml(upstreams: &[ImportedUpstream]) -> String {
    let mut out = String::new();
    for upstream in upstreams {
        if !out.is_empty() {
            out.push('\n');
        }
        for note in &upstream.notes {
            // A note may mention names of the file.
            out.push_str(&format!("# {}\n", printable(note)));
        }
        let tables = Table::from_iter([(
            upstream.spec.name.clone(),
            Value::Table(settings(&upstream.spec.transport)),
        )]);
        let tables = Table::from_iter([("upstream".to_owned(), Value::Table(tables))]);
        // A table of strings has a text.
        out.push_str(&toml::to_string(&tables).unwrap_or_default());
    }
    out
}

fn settings(transport: &TransportSpec) -> Table {
    let mut out = Table::new();
    let map = |of: &std::collections::BTreeMap<String, String>| {
        Value::Table(of.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect())
    };
    match transport {
        TransportSpec::Stdio(stdio) => {
            out.insert("command".into(), stdio.command.clone().into());
            if !stdio.args.is_empty() {
                out.insert("args".into(), stdio.args.clone().into());
            }
            if let Some(cwd) = &stdio.cwd {
                out.insert("cwd".into(), cwd.display().to_string().into());
            }
            if !stdio.env.is_empty() {
                out.insert("env".into(), map(&stdio.env));
            }
        }
        TransportSpec::Http(http) => {
            out.insert("url".into(), http.url.clone().into());
            if !http.headers.is_empty() {
                out.insert("headers".into(), map(&http.headers));
            }
        }
    }
    out
}
