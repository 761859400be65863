//! Composes the page of a tool. Pure.

use std::collections::BTreeMap;

use loggia_facade::SurfaceView;
use serde_json::{Value, json};

/// What both documents may load: their own text, and pictures in it. Clients have a policy of their own; documents obey both.
/// `frame-src` follows from `default-src`, so that a view cannot leave its frame for another address either.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
    base-uri 'none'; form-action 'none'; webrtc 'block'";

/// Bytes of the views of a page, as they are written. A view beyond it is left out; its results are shown as the shell shows others.
const MAX_VIEWS: usize = 1 << 20;

/// An action that a page may call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageAction<'a> {
    pub name: &'a str,
    /// It changes nothing.
    pub reads: bool,
    /// A call that names no action means it.
    pub is_meant: bool,
    /// What shows its results.
    pub view: Option<&'a SurfaceView>,
}

/// The page of a tool, for one caller.
#[derive(Debug)]
pub(crate) struct ToolPage<'a> {
    /// Name of the tool, as the client calls it.
    pub tool: &'a str,
    pub title: &'a str,
    /// The actions that the tool offers the caller.
    pub actions: Vec<PageAction<'a>>,
}

impl ToolPage<'_> {
    /// Writes the page.
    pub(crate) fn to_html(&self) -> String {
        let (shell, css) = (include_str!("shell.html"), include_str!("shell.css"));
        let js = concat!(include_str!("approvals.js"), include_str!("shell.js"));
        let config = to_script_text(&self.config());
        fill(shell, &[("{csp}", CONTENT_POLICY), ("{css}", css), ("{config}", &config), ("{js}", js)])
    }

    /// What the shell reads.
    fn config(&self) -> Value {
        let mut size = 0;
        let mut views = BTreeMap::new();
        for view in self.actions.iter().filter_map(|action| action.view) {
            if views.contains_key(&view.name) {
                continue;
            }
            let html = json!(view.html);
            size += to_script_text(&html).len();
            if size > MAX_VIEWS {
                break;
            }
            views.insert(view.name.clone(), html);
        }
        let actions: serde_json::Map<String, Value> = self
            .actions
            .iter()
            .map(|action| {
                let PageAction { name, reads, is_meant, view } = *action;
                let view = view.map(|view| &view.name);
                (name.to_owned(), json!({ "reads": reads, "meant": is_meant, "view": view }))
            })
            .collect();
        let (html, css, js) =
            (include_str!("frame.html"), include_str!("frame.css"), include_str!("frame.js"));
        json!({
            "tool": self.tool,
            "title": self.title,
            "version": env!("CARGO_PKG_VERSION"),
            "meant": self.actions.iter().find(|action| action.is_meant).map(|action| action.name),
            "actions": actions,
            // Without views, it is there for approvals: other results take one line.
            "folds": views.is_empty(),
            "views": views,
            "frame": fill(html, &[("{csp}", CONTENT_POLICY), ("{css}", css), ("{js}", js)]),
        })
    }
}

/// Replaces each mark of a template once, in their order. What replaces a mark is not searched for others.
fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    let mut out =
        String::with_capacity(template.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>());
    let mut rest = template;
    for (mark, part) in parts {
        if let Some((before, after)) = rest.split_once(mark) {
            out.push_str(before);
            out.push_str(part);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Writes JSON that may stand in a `<script>`: without `<`, neither `</script>` nor `<!--` can end it or change how it is read. U+2028
/// and U+2029 end lines in old JavaScript.
fn to_script_text(value: &Value) -> String {
    let text = value.to_string();
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            // They are only in strings of JSON.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(char)));
            }
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(name: &str, html: &str) -> SurfaceView {
        SurfaceView { name: name.into(), html: html.into() }
    }

    fn page(views: &[SurfaceView]) -> String {
        let names: Vec<String> = (0..views.len()).map(|at| format!("a{at}")).collect();
        let actions = views.iter().zip(&names).map(|(view, name)| PageAction {
            name,
            reads: true,
            is_meant: name == "a0",
            view: Some(view),
        });
        ToolPage { tool: "notes", title: "Notes </title><script>", actions: actions.collect() }.to_html()
    }

    /// What a browser hands the shell: everything up to the next end of a script.
    fn config(page: &str) -> Value {
        let (_, rest) = page.split_once("id=\"config\">").unwrap();
        let (text, _) = rest.split_once("</script>").unwrap();
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn views_arrive_as_they_were_written() {
        for html in [
            "<p>plain</p>",
            "</script><script>alert(1)</script>",
            "<!--<script>",
            "-->",
            "\"'`\\ \\u003c {js} {config} {csp}",
            "\u{2028}\u{2029}\u{0}\u{7f}é😀",
            "&lt;&amp;",
            "]]>",
        ] {
            let page = page(&[view("hits", html)]);
            assert_eq!(config(&page)["views"]["hits"], html);
            // Our own elements, and no others.
            assert_eq!(page.matches("<script").count(), 2, "{html}");
            assert_eq!(page.matches("</script").count(), 2, "{html}");
            assert_eq!(page.matches("<!--").count() + page.matches("-->").count(), 0, "{html}");
        }
    }

    #[test]
    fn every_mark_is_filled() {
        let page = page(&[]);
        let frame = config(&page)["frame"].as_str().unwrap().to_owned();
        for document in [&page, &frame] {
            assert!(["{csp}", "{css}", "{js}", "{config}"].iter().all(|mark| !document.contains(mark)));
            let policy = document.find("default-src 'none'").unwrap();
            assert!(policy < document.find("<style").unwrap() && policy < document.find("<script").unwrap());
        }
        assert!(page.contains("ui/initialize") && frame.contains("window.loggia"));
    }

    #[test]
    fn actions_name_their_views() {
        let views = [view("hits", "x")];
        let config = config(&page(&views));
        let expected = json!({"a0": {"reads": true, "meant": true, "view": "hits"}});
        assert_eq!((&config["actions"], &config["meant"]), (&expected, &json!("a0")));
        assert_eq!(config["title"], "Notes </title><script>");
    }

    #[test]
    fn a_page_is_bounded() {
        // Each of these bytes takes six.
        let views: Vec<SurfaceView> =
            (0..8).map(|at| view(&format!("v{at}"), &"<".repeat(96 << 10))).collect();
        let page = page(&views);
        assert!(page.len() < MAX_VIEWS + (64 << 10), "{}", page.len());
        let config = config(&page);
        assert_eq!(config["views"].as_object().unwrap().len(), 1);
        assert_eq!(config["actions"].as_object().unwrap().len(), 8);
    }
}
