//! Tree construction from events.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{ScalarStyle, Tag};

use super::{
    excerpt,
    limits::{DEPTH, NODES, TEXTS},
    node::{MapEntry, YamlNode, YamlValue},
    scalar,
};
use crate::FileProblem;

/// Maximum number of reported problems per file.
const MAX_REPORTED: usize = 20;

/// List or map under construction.
struct OpenNode {
    node: YamlNode,
    /// In a map: the key of the next value.
    key: Option<PendingKey>,
    /// In a map: the keys so far.
    names: HashSet<String>,
    /// In a map: entries merged by `<<`.
    merged: Vec<MapEntry>,
    anchor: usize,
    /// Size before this node began; the difference is the node's own size.
    before: TreeSize,
}

struct PendingKey {
    text: String,
    line: usize,
    column: usize,
    /// A plain `<<`.
    merges: bool,
}

/// Size of a tree.
#[derive(Clone, Copy, Default)]
struct TreeSize {
    nodes: usize,
    bytes: usize,
}

/// Target of an alias.
struct AnchoredNode {
    node: YamlNode,
    size: TreeSize,
    depth: usize,
}

#[derive(Default)]
pub(super) struct TreeBuilder {
    open: Vec<OpenNode>,
    pub root: Option<YamlNode>,
    anchors: HashMap<usize, AnchoredNode>,
    size: TreeSize,
    pub problems: Vec<FileProblem>,
}

impl TreeBuilder {
    pub(super) fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        line: usize,
    ) -> YamlValue {
        let core = tag.filter(|tag| tag.is_yaml_core_schema()).map(|tag| tag.suffix.as_str());
        match (tag, core) {
            (None, _) if style == ScalarStyle::Plain => scalar::parse_plain(text),
            (Some(_), Some("int" | "float" | "bool" | "null")) => scalar::parse_plain(text),
            (None, _) | (Some(_), Some("str")) => YamlValue::Text(text.to_owned()),
            (Some(tag), _) => {
                self.check_tag(tag, line);
                YamlValue::Text(text.to_owned())
            }
        }
    }

    /// Reports tags outside of YAML's core schema.
    fn check_tag(&mut self, tag: &Tag, line: usize) {
        // A lone `!` means "not plain", which is the default anyway.
        if tag.suffix.is_empty() {
            return;
        }
        let message = format!("the tag `{}` is not supported", excerpt(&tag.to_string()));
        self.problem(FileProblem::new(line, "", message).hint("remove it"));
    }

    fn problem(&mut self, problem: FileProblem) {
        if self.problems.len() < MAX_REPORTED {
            self.problems.push(problem);
        }
    }

    /// Adds to the size, within the limits.
    fn add_size(&mut self, by: TreeSize, line: usize) -> Result<(), FileProblem> {
        self.size.nodes = self.size.nodes.saturating_add(by.nodes);
        self.size.bytes = self.size.bytes.saturating_add(by.bytes);
        let message = if self.size.nodes > NODES {
            format!("the file has more than {NODES} values")
        } else if self.size.bytes > TEXTS {
            format!("the texts of the file exceed {TEXTS} bytes")
        } else {
            return Ok(());
        };
        Err(FileProblem::new(line, "", message).hint("an alias counts as a copy of its target"))
    }

    fn check_depth(&self, by: usize, line: usize) -> Result<(), FileProblem> {
        if self.open.len() + by > DEPTH {
            return Err(FileProblem::new(
                line,
                "",
                format!("lists and objects are nested more than {DEPTH} deep"),
            ));
        }
        Ok(())
    }

    pub(super) fn begin(
        &mut self,
        node: YamlNode,
        anchor: usize,
        tag: Option<&Tag>,
    ) -> Result<(), FileProblem> {
        let line = node.line;
        self.check_depth(1, line)?;
        let before = self.size;
        self.add_size(TreeSize { nodes: 1, bytes: 0 }, line)?;
        let known = ["map", "seq"];
        if let Some(tag) = tag
            && !(tag.is_yaml_core_schema() && known.contains(&tag.suffix.as_str()))
        {
            self.check_tag(tag, line);
        }
        if self.open.last().is_some_and(OpenNode::expects_key) {
            let problem = FileProblem::new(line, "", "a key must be a text, not a list or an object");
            return Err(problem.hint("quote a template: '{{…}}'"));
        }
        self.open.push(OpenNode {
            node,
            key: None,
            names: HashSet::new(),
            merged: Vec::new(),
            anchor,
            before,
        });
        Ok(())
    }

    pub(super) fn end(&mut self) -> Result<(), FileProblem> {
        let Some(mut open) = self.open.pop() else { return Ok(()) };
        if let YamlValue::Map(entries) = &mut open.node.value {
            // Own entries take precedence over merged ones.
            let names = &mut open.names;
            entries.extend(open.merged.drain(..).filter(|entry| names.insert(entry.key.clone())));
        }
        let (line, anchor) = (open.node.line, open.anchor);
        if anchor > 0 {
            let size = TreeSize {
                nodes: self.size.nodes - open.before.nodes,
                bytes: self.size.bytes - open.before.bytes,
            };
            self.store_anchor(anchor, &open.node, size, line)?;
        }
        self.attach(open.node)
    }

    /// Stores a copy of a node for its aliases, and counts the copy.
    fn store_anchor(
        &mut self,
        anchor: usize,
        node: &YamlNode,
        size: TreeSize,
        line: usize,
    ) -> Result<(), FileProblem> {
        self.add_size(size, line)?;
        self.anchors.insert(anchor, AnchoredNode { node: node.clone(), size, depth: depth(node) });
        Ok(())
    }

    pub(super) fn leaf(
        &mut self,
        node: YamlNode,
        text: &str,
        plain: bool,
        anchor: usize,
    ) -> Result<(), FileProblem> {
        let (size, line) = (TreeSize { nodes: 1, bytes: text.len() }, node.line);
        self.add_size(size, line)?;
        if anchor > 0 {
            self.store_anchor(anchor, &node, size, line)?;
        }
        match self.open.last_mut() {
            Some(open) if open.expects_key() => {
                open.key = Some(PendingKey {
                    text: text.to_owned(),
                    line,
                    column: node.column,
                    merges: plain && text == "<<",
                });
                Ok(())
            }
            _ => self.attach(node),
        }
    }

    pub(super) fn alias(&mut self, anchor: usize, line: usize, column: usize) -> Result<(), FileProblem> {
        let Some(AnchoredNode { size, depth, .. }) = self.anchors.get(&anchor) else {
            return Err(FileProblem::new(line, "", "an alias refers to a node that contains it"));
        };
        self.check_depth(*depth, line)?;
        self.add_size(*size, line)?;
        let Some(AnchoredNode { node, .. }) = self.anchors.get(&anchor) else { return Ok(()) };
        match self.open.last_mut() {
            Some(open) if open.expects_key() => {
                let (YamlValue::Text(text) | YamlValue::Plain(_, text)) = &node.value else {
                    return Err(FileProblem::new(line, "", "a key must be a text, not a list or an object"));
                };
                open.key = Some(PendingKey { text: text.clone(), line, column, merges: false });
                Ok(())
            }
            _ => {
                let node = node.clone();
                self.attach(node)
            }
        }
    }

    /// Attaches a node to its parent.
    fn attach(&mut self, node: YamlNode) -> Result<(), FileProblem> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match (&mut open.node.value, open.key.take()) {
            (YamlValue::List(items), _) => items.push(node),
            (YamlValue::Map(entries), Some(key)) => {
                if !open.names.insert(key.text.clone()) {
                    let message = format!("`{}` is defined twice", excerpt(&key.text));
                    self.problem(FileProblem::new(key.line, "", message).hint("remove one of them"));
                    return Ok(());
                }
                if !key.merges {
                    entries.push(MapEntry { key: key.text, line: key.line, column: key.column, node });
                    return Ok(());
                }
                match merge_entries(node) {
                    Some(more) => open.merged.extend(more),
                    None => {
                        let message = "`<<` must be an object or a list of objects";
                        self.problem(FileProblem::new(key.line, "", message));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl OpenNode {
    fn expects_key(&self) -> bool {
        matches!(self.node.value, YamlValue::Map(_)) && self.key.is_none()
    }
}

fn depth(node: &YamlNode) -> usize {
    match &node.value {
        YamlValue::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        YamlValue::Map(entries) => 1 + entries.iter().map(|entry| depth(&entry.node)).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns the entries merged by `<<`. Of several objects, the first with a key wins.
fn merge_entries(node: YamlNode) -> Option<Vec<MapEntry>> {
    match node.value {
        YamlValue::Map(entries) => Some(entries),
        YamlValue::List(items) => {
            let maps = items.into_iter().map(|item| match item.value {
                YamlValue::Map(entries) => Some(entries),
                _ => None,
            });
            Some(maps.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
        }
        _ => None,
    }
}
