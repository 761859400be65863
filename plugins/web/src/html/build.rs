//! Builds a tree from tags and texts.

use html5gum::{
    Span, Tokenizer,
    emitters::callback::{CallbackEmitter, CallbackEvent},
};

use super::{
    element,
    tree::{self, NodeId, ROOT, Tree},
};

/// Depth of the tree. Deeper elements are left out, and their content belongs to the last one that is not. Browsers stop at
/// 512.
const DEPTH: usize = 200;

/// Attributes of an element.
const ATTRIBUTES: usize = 16;

/// Parses a page.
pub fn build(html: &str) -> Tree {
    let mut builder =
        Builder { tree: Tree::new(), open: vec![(ROOT, "")], beyond: 0, dropped: None, tag: None };
    {
        let handle = |event: CallbackEvent<'_>, _: Span<()>| -> Option<()> {
            builder.event(event);
            None
        };
        let mut emitter = CallbackEmitter::new(handle);
        emitter.naively_switch_states(true);
        // Each event is handled while it is emitted; reading a string cannot fail.
        for token in Tokenizer::new_with_emitter(html, emitter) {
            let Ok(()) = token;
        }
    }
    builder.tree
}

/// An open tag whose attributes are being read.
struct OpenTag {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    /// Attribute to which the next value belongs.
    current: Option<&'static str>,
}

/// An element whose content is left out.
struct DroppedElement {
    name: &'static str,
    /// Number of open elements of that name.
    depth: usize,
    /// Whether HTML may stand in it.
    has_html: bool,
}

struct Builder {
    tree: Tree,
    /// Open elements with their names; the first is the root.
    open: Vec<(NodeId, &'static str)>,
    /// Number of open elements that are too deep.
    beyond: usize,
    dropped: Option<DroppedElement>,
    tag: Option<OpenTag>,
}

impl Builder {
    fn event(&mut self, event: CallbackEvent<'_>) {
        if self.tree.is_truncated() {
            return;
        }
        match event {
            CallbackEvent::OpenStartTag { name } => {
                let name = element::known(std::str::from_utf8(name).unwrap_or_default());
                self.tag = Some(OpenTag { name, attributes: Vec::new(), current: None });
            }
            CallbackEvent::AttributeName { name } => {
                let name = element::known_attribute(std::str::from_utf8(name).unwrap_or_default());
                if let Some(tag) = &mut self.tag {
                    // Of two with the same name, the first counts.
                    tag.current = name.filter(|name| tag.attributes.iter().all(|(known, _)| known != name));
                    if let Some(name) = tag.current.filter(|_| tag.attributes.len() < ATTRIBUTES) {
                        tag.attributes.push((name, String::new()));
                    }
                }
            }
            CallbackEvent::AttributeValue { value } => {
                if let Some(OpenTag { attributes, current: Some(current), .. }) = &mut self.tag
                    && let Some((name, kept)) = attributes.last_mut()
                    && name == current
                {
                    *kept = tree::shortened(String::from_utf8_lossy(value).into_owned());
                }
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                if let Some(tag) = self.tag.take() {
                    self.start(tag, self_closing);
                }
            }
            CallbackEvent::EndTag { name } => {
                self.tag = None;
                self.end(element::known(std::str::from_utf8(name).unwrap_or_default()));
            }
            CallbackEvent::String { value } => self.text(&String::from_utf8_lossy(value)),
            CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
    }

    fn start(&mut self, tag: OpenTag, self_closing: bool) {
        let OpenTag { name, attributes, .. } = tag;
        if let Some(dropped) = &mut self.dropped {
            let is_foreign = matches!(dropped.name, "svg" | "math");
            if name == "foreignobject" {
                dropped.has_html = true;
            }
            // A page whose `<svg>` is not closed goes on with the next block, as in a browser.
            if !(is_foreign && !dropped.has_html && element::is_block(name)) {
                dropped.depth += usize::from(name == dropped.name && !(is_foreign && self_closing));
                return;
            }
            self.dropped = None;
        }
        if element::is_dropped(name) {
            let is_empty = element::is_void(name) || self_closing && matches!(name, "svg" | "math");
            if !is_empty {
                self.dropped = Some(DroppedElement { name, depth: 1, has_html: false });
            }
            return;
        }
        if matches!(name, "html" | "body" | "head") && self.open.iter().any(|(_, open)| *open == name) {
            return;
        }
        if !element::is_of_head(name) && name != "head" {
            self.leave_head();
        }
        if let Some((ended, borders)) = element::ended_by(name).filter(|_| self.beyond == 0) {
            self.end_implied(ended, borders);
        }
        let is_void = element::is_void(name);
        if self.open.len() > DEPTH {
            self.beyond += usize::from(!is_void);
            if !is_void {
                return;
            }
        }
        let added = self.tree.add_element(self.top(), name, attributes);
        if let Some(id) = added.filter(|_| !is_void) {
            self.open.push((id, name));
        }
    }

    fn end(&mut self, name: &'static str) {
        if let Some(dropped) = &mut self.dropped {
            if dropped.name == name {
                dropped.depth -= 1;
                if dropped.depth == 0 {
                    self.dropped = None;
                }
            }
            return;
        }
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        if name == "br" {
            self.tree.add_element(self.top(), "br", Vec::new());
            return;
        }
        // Text after it still belongs to the page.
        if matches!(name, "html" | "body") {
            return;
        }
        for at in (1..self.open.len()).rev() {
            let open = self.open[at].1;
            if open == name || element::is_heading(open) && element::is_heading(name) {
                self.open.truncate(at);
                return;
            }
            if element::is_border(name, open) {
                return;
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.dropped.is_some() {
            return;
        }
        if self.top_name() == "head" && !text.trim().is_empty() {
            self.leave_head();
        }
        self.tree.add_text(self.top(), text);
    }

    fn leave_head(&mut self) {
        if self.top_name() == "head" {
            self.open.pop();
        }
    }

    /// Ends the innermost of these elements, and what is open in it.
    fn end_implied(&mut self, ended: &[&str], borders: &[&str]) {
        for at in (1..self.open.len()).rev() {
            let open = self.open[at].1;
            if ended.contains(&open) {
                self.open.truncate(at);
                // A row ends its cell and itself.
                return self.end_implied(ended, borders);
            }
            if borders.contains(&open) {
                return;
            }
        }
    }

    fn top(&self) -> NodeId {
        self.open.last().map_or(ROOT, |(id, _)| *id)
    }

    fn top_name(&self) -> &'static str {
        self.open.last().map_or("", |(_, name)| name)
    }
}
