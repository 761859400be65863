//! Events become a tree.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{ScalarStyle, Tag};

use super::{
    excerpt,
    limits::{DEPTH, NODES, TEXTS},
    node::{MapEntry, YamlNode, YamlValue},
    scalar,
};
use crate::Problem;

/// Problems of one file that are worth telling.
const TOLD: usize = 20;

/// What is open: a list or a map, and what of it is there.
struct OpenNode {
    node: YamlNode,
    /// In a map: the name whose value comes next.
    key: Option<PendingKey>,
    /// In a map: the names that are there.
    names: HashSet<String>,
    /// In a map: what `<<` brings.
    merged: Vec<MapEntry>,
    anchor: usize,
    /// What was there before it began: how much it takes is the difference.
    before: TreeSize,
}

struct PendingKey {
    text: String,
    line: usize,
    /// `<<` without quotes.
    merges: bool,
}

/// How much of a file there is.
#[derive(Clone, Copy, Default)]
struct TreeSize {
    nodes: usize,
    bytes: usize,
}

/// What an alias stands for.
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
    pub problems: Vec<Problem>,
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
            (None, _) if style == ScalarStyle::Plain => scalar::plain(text),
            (Some(_), Some("int" | "float" | "bool" | "null")) => scalar::plain(text),
            (None, _) | (Some(_), Some("str")) => YamlValue::Text(text.to_owned()),
            (Some(tag), _) => {
                self.tag(tag, line);
                YamlValue::Text(text.to_owned())
            }
        }
    }

    /// Tells of a tag that is none of YAML's own.
    fn tag(&mut self, tag: &Tag, line: usize) {
        // A lone `!` says "no plain word", which is what follows anyway.
        if tag.suffix.is_empty() {
            return;
        }
        let said = format!("the tag `{}` means nothing here", excerpt(&tag.to_string()));
        self.problem(Problem::new(line, "", said).hint("leave it out"));
    }

    fn problem(&mut self, problem: Problem) {
        if self.problems.len() < TOLD {
            self.problems.push(problem);
        }
    }

    /// Counts what is added.
    fn grow(&mut self, by: TreeSize, line: usize) -> Result<(), Problem> {
        self.size.nodes = self.size.nodes.saturating_add(by.nodes);
        self.size.bytes = self.size.bytes.saturating_add(by.bytes);
        let said = if self.size.nodes > NODES {
            format!("the file holds more than {NODES} values")
        } else if self.size.bytes > TEXTS {
            format!("the file's texts take more than {TEXTS} bytes")
        } else {
            return Ok(());
        };
        Err(Problem::new(line, "", said).hint("aliases count for what they stand for"))
    }

    fn deeper(&self, by: usize, line: usize) -> Result<(), Problem> {
        if self.open.len() + by > DEPTH {
            return Err(Problem::new(
                line,
                "",
                format!("more than {DEPTH} lists and objects lie in each other"),
            ));
        }
        Ok(())
    }

    pub(super) fn begin(
        &mut self,
        value: YamlValue,
        line: usize,
        anchor: usize,
        tag: Option<&Tag>,
    ) -> Result<(), Problem> {
        self.deeper(1, line)?;
        let before = self.size;
        self.grow(TreeSize { nodes: 1, bytes: 0 }, line)?;
        let known = ["map", "seq"];
        if let Some(tag) = tag
            && !(tag.is_yaml_core_schema() && known.contains(&tag.suffix.as_str()))
        {
            self.tag(tag, line);
        }
        if self.open.last().is_some_and(OpenNode::wants_a_name) {
            let problem = Problem::new(line, "", "a name must be a text, not a list or an object");
            return Err(problem.hint("a template must stand in quotes: '{{…}}'"));
        }
        let node = YamlNode { line, value };
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

    pub(super) fn end(&mut self) -> Result<(), Problem> {
        let Some(mut open) = self.open.pop() else { return Ok(()) };
        if let YamlValue::Map(entries) = &mut open.node.value {
            // What stands here comes before what is merged, wherever it stands.
            let names = &mut open.names;
            entries.extend(open.merged.drain(..).filter(|entry| names.insert(entry.key.clone())));
        }
        let (line, anchor) = (open.node.line, open.anchor);
        if anchor > 0 {
            let size = TreeSize {
                nodes: self.size.nodes - open.before.nodes,
                bytes: self.size.bytes - open.before.bytes,
            };
            self.anchor(anchor, &open.node, size, line)?;
        }
        self.place(open.node)
    }

    /// Keeps a node for its aliases. That takes as much as the node itself.
    fn anchor(&mut self, anchor: usize, node: &YamlNode, size: TreeSize, line: usize) -> Result<(), Problem> {
        self.grow(size, line)?;
        self.anchors.insert(anchor, AnchoredNode { node: node.clone(), size, depth: depth(node) });
        Ok(())
    }

    pub(super) fn leaf(
        &mut self,
        node: YamlNode,
        text: &str,
        plain: bool,
        anchor: usize,
    ) -> Result<(), Problem> {
        let (size, line) = (TreeSize { nodes: 1, bytes: text.len() }, node.line);
        self.grow(size, line)?;
        if anchor > 0 {
            self.anchor(anchor, &node, size, line)?;
        }
        match self.open.last_mut() {
            Some(open) if open.wants_a_name() => {
                open.key = Some(PendingKey { text: text.to_owned(), line, merges: plain && text == "<<" });
                Ok(())
            }
            _ => self.place(node),
        }
    }

    pub(super) fn alias(&mut self, anchor: usize, line: usize) -> Result<(), Problem> {
        let Some(AnchoredNode { size, depth, .. }) = self.anchors.get(&anchor) else {
            return Err(Problem::new(line, "", "an alias stands inside of what it names"));
        };
        self.deeper(*depth, line)?;
        self.grow(*size, line)?;
        let Some(AnchoredNode { node, .. }) = self.anchors.get(&anchor) else { return Ok(()) };
        match self.open.last_mut() {
            Some(open) if open.wants_a_name() => {
                let (YamlValue::Text(text) | YamlValue::Plain(_, text)) = &node.value else {
                    return Err(Problem::new(line, "", "a name must be a text, not a list or an object"));
                };
                open.key = Some(PendingKey { text: text.clone(), line, merges: false });
                Ok(())
            }
            _ => {
                let node = node.clone();
                self.place(node)
            }
        }
    }

    /// Puts a node where it belongs.
    fn place(&mut self, node: YamlNode) -> Result<(), Problem> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match (&mut open.node.value, open.key.take()) {
            (YamlValue::List(items), _) => items.push(node),
            (YamlValue::Map(entries), Some(key)) => {
                if !open.names.insert(key.text.clone()) {
                    let said = format!("`{}` stands here twice", excerpt(&key.text));
                    self.problem(Problem::new(key.line, "", said).hint("keep one of them"));
                    return Ok(());
                }
                if !key.merges {
                    entries.push(MapEntry { key: key.text, line: key.line, node });
                    return Ok(());
                }
                match merged(node) {
                    Some(more) => open.merged.extend(more),
                    None => {
                        let said = "`<<` takes an object, or a list of objects";
                        self.problem(Problem::new(key.line, "", said));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl OpenNode {
    fn wants_a_name(&self) -> bool {
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

/// What `<<` brings: of several objects, the first that has a name gives its value.
fn merged(node: YamlNode) -> Option<Vec<MapEntry>> {
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
