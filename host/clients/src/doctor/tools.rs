//! Checks of the tools that a server lists, against what the client does with them.

use loggia_upstream::ServerLook;

use super::finding::DoctorFinding;
use crate::facts::ClientRow;

/// Tools that are named.
const NAMED: usize = 5;

/// Compares the tools of a server with the limits of a client.
pub fn check_tools(client: &ClientRow, name: &str, look: &ServerLook, findings: &mut Vec<DoctorFinding>) {
    let count = look.tools.len();
    if count == 0 {
        findings.push(DoctorFinding::problem(
            "the server lists no tools",
            "`loggia check DIR` shows what it would serve",
        ));
        return;
    }
    let plural = if count == 1 { "" } else { "s" };
    findings
        .push(DoctorFinding::fine(format!("the server lists {count} tool{plural}: {}", named(&look.tools))));
    if let Some(most) = client.traits().tools.filter(|most| count > *most) {
        findings.push(DoctorFinding::problem(
            format!(
                "{} offers its model {most} tools of all servers together, and this one lists {count}",
                client.title
            ),
            "list fewer: `--list NAMES`, or `split = \"none\"` in policies",
        ));
    }
    if let Some(ceiling) = &client.name_ceiling {
        let around = ceiling.around.0.len() + name.len() + ceiling.around.1.len();
        let is_long = |tool: &&String| around + tool.chars().count() > ceiling.most;
        let long: Vec<String> = look.tools.iter().filter(is_long).cloned().collect();
        if !long.is_empty() {
            findings.push(DoctorFinding::problem(
                format!(
                    "names longer than {} characters with the server's: {}; {}",
                    ceiling.most,
                    named(&long),
                    ceiling.effect
                ),
                "add the entry under a shorter name (--name), or shorten the plugins' names",
            ));
        }
    }
    if client.traits().deferred {
        findings.push(DoctorFinding::note(format!(
            "{} loads a tool when a search finds it: ask for a task, not for a list",
            client.title
        )));
    }
}

fn named(tools: &[String]) -> String {
    let more = tools.len().saturating_sub(NAMED);
    let names = tools.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{names} and {more} more") } else { names }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::find_client;

    fn rows(client: &str, tools: Vec<String>) -> Vec<String> {
        let look = ServerLook { title: "loggia".into(), version: "1".into(), tools };
        let mut findings = Vec::new();
        check_tools(find_client(client).unwrap(), "loggia", &look, &mut findings);
        findings.iter().map(|finding| finding.to_row()[..2].join(": ")).collect()
    }

    #[test]
    fn limits_of_clients_are_problems() {
        let many: Vec<String> = (0..41).map(|n| format!("t{n}")).collect();
        assert_eq!(
            rows("cursor", many.clone()),
            [
                "ok: the server lists 41 tools: t0, t1, t2, t3, t4 and 36 more",
                "problem: Cursor offers its model 40 tools of all servers together, and this one lists 41"
            ]
        );
        assert_eq!(rows("vscode", many).len(), 1);
        let exact = |length: usize| vec!["x".repeat(length)];
        assert_eq!(rows("cursor", exact(53)).len(), 1, "loggia:xxx has 60");
        assert_eq!(rows("cursor", exact(54)).len(), 2);
        assert_eq!(rows("zed", Vec::new()), ["problem: the server lists no tools"]);
    }

    #[test]
    fn deferred_tools_are_reported() {
        let found = rows("codex", vec!["notes".into()]);
        assert!(found[1].starts_with("note: Codex loads a tool when a search finds it"), "{found:?}");
    }
}
