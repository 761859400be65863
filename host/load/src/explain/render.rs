//! Renders an explanation: headings and indented lines, with colours on a terminal.

use loggia_text::printable;

use super::model::{ActionRule, GrantedRight, PolicyExplanation, ReachedFacade};

/// Emphasis of headings and warnings.
#[derive(Debug, Clone, Copy)]
pub enum OutputStyle {
    /// No emphasis.
    Plain,
    /// Terminal colours.
    Coloured,
}

impl OutputStyle {
    fn heading(self, text: &str) -> String {
        self.colour("\x1b[1m", text)
    }

    fn warning(self, text: &str) -> String {
        self.colour("\x1b[1;33m", text)
    }

    fn colour(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Coloured => format!("{code}{text}\x1b[0m"),
        }
    }
}

/// Renders the explanation as text.
pub fn render_text(explanation: &PolicyExplanation, style: OutputStyle) -> String {
    let mut page = Page { lines: Vec::new(), style };
    let name = &explanation.facade;
    page.heading(&format!("{name} may"));
    page.rights(&explanation.may, 2);
    if explanation.may.is_empty() {
        page.line(2, "use nothing but its input");
    }
    render_actions(explanation, &mut page);
    if !explanation.guards.is_empty() {
        page.heading(&format!("guards that look at calls of {name}"));
        let rows = explanation.guards.iter().map(|guard| {
            let looks = match (guard.before, guard.after) {
                (true, false) => "looks at calls",
                (false, true) => "looks at results",
                _ => "looks at calls and results",
            };
            (guard.guard.clone(), looks.to_owned())
        });
        page.rows(2, &rows.collect::<Vec<_>>());
    }
    if !explanation.limits.is_empty() {
        page.heading("changed limits");
        let rows = explanation
            .limits
            .iter()
            .map(|limit| (limit.limit.to_owned(), format!("{} (default {})", limit.value, limit.default)));
        page.rows(2, &rows.collect::<Vec<_>>());
    }
    render_missing(explanation, &mut page);
    if !explanation.reaches.is_empty() {
        page.heading(&format!("{name} reaches, by calling other facades"));
        explanation.reaches.iter().for_each(|reach| render_reached(reach, &mut page));
    }
    if let Some(warning) = &explanation.warning {
        page.lines.push(String::new());
        page.lines.push(
            style.warning(&format!("warning: data that {} can read can leave this machine", shown(name))),
        );
        let rows = warning.reads.iter().map(|what| ("can read", what));
        let rows = rows.chain(warning.sends.iter().map(|what| ("can send to", what)));
        page.rows(2, &rows.map(|(can, what)| (can.to_owned(), what.clone())).collect::<Vec<_>>());
    }
    page.lines.join("\n")
}

fn render_actions(explanation: &PolicyExplanation, page: &mut Page) {
    if explanation.actions.is_empty() {
        return;
    }
    page.heading("actions");
    let rows = explanation.actions.iter().map(|ruled| {
        let rule = match ruled.rule {
            ActionRule::Allowed => None,
            ActionRule::Confirmed => Some("requires confirmation"),
            ActionRule::Claimed => Some("requires confirmation, which a model can claim"),
            ActionRule::Denied => Some("denied: neither listed nor callable"),
            ActionRule::Unmet => Some("neither listed nor callable"),
        };
        let needs = ruled.needs.as_ref().map(|grant| format!("needs the grant `{grant}`"));
        let says: Vec<&str> = ruled.effect.into_iter().chain(rule).chain(needs.as_deref()).collect();
        (ruled.action.clone(), says.join("; "))
    });
    page.rows(2, &rows.collect::<Vec<_>>());
}

fn render_missing(explanation: &PolicyExplanation, page: &mut Page) {
    if explanation.lacks.is_empty() {
        return;
    }
    page.heading("requested, but not granted");
    for lack in &explanation.lacks {
        let needed = if lack.needed { " (needed)" } else { "" };
        let known = if lack.known { "" } else { "; this host does not have this grant" };
        page.line(2, &format!("{}{needed}: {}{known}", lack.grant, lack.reason));
    }
}

fn render_reached(reach: &ReachedFacade, page: &mut Page) {
    let through = match reach.through.as_slice() {
        [] => String::new(),
        through => format!(", through {}", through.join(", then ")),
    };
    let actions = reach.actions.iter().map(|action| {
        let confirmed = if action.confirmed { ", requires confirmation" } else { "" };
        format!("{} ({}{confirmed})", action.action, action.effect)
    });
    let actions: Vec<String> = actions.collect();
    let actions = match (reach.known, actions.as_slice()) {
        (false, _) => "no such facade is loaded".to_owned(),
        (true, []) => "none of its actions".to_owned(),
        (true, actions) => actions.join(", "),
    };
    page.line(2, &format!("{}{through}: {actions}", reach.facade));
    page.rights(&reach.may, 4);
}

struct Page {
    lines: Vec<String>,
    style: OutputStyle,
}

impl Page {
    fn heading(&mut self, text: &str) {
        if !self.lines.is_empty() {
            self.lines.push(String::new());
        }
        self.lines.push(self.style.heading(&shown(text)));
    }

    fn line(&mut self, indent: usize, text: &str) {
        self.lines.push(format!("{:indent$}{}", "", shown(text)));
    }

    fn rights(&mut self, rights: &[GrantedRight], indent: usize) {
        let rows = rights.iter().map(|right| (right.grant.to_owned(), right.says.clone()));
        self.rows(indent, &rows.collect::<Vec<_>>());
    }

    /// Adds lines of a label and a text; all texts start in one column.
    fn rows(&mut self, indent: usize, rows: &[(String, String)]) {
        let width = rows.iter().map(|(word, _)| word.chars().count()).max().unwrap_or_default();
        for (word, says) in rows {
            self.line(indent, &format!("{word:width$}  {says}"));
        }
    }
}

/// Escapes names and reasons, which are text of the plugin: it must not control the terminal or forge a line.
fn shown(text: &str) -> std::borrow::Cow<'_, str> {
    printable(text)
}
