//! Events become a tree.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::{DEPTH, Entry, NODES, Node, TEXTS, Tree, Value, scalar, unreadable::unreadable};
use crate::Problem;

/// Problems of one file that are worth telling.
const TOLD: usize = 20;

/// What is open: a list or a map, and what of it is there.
struct Open {
    node: Node,
    /// In a map: the name whose value comes next.
    key: Option<Key>,
    /// In a map: the names that are there.
    names: HashSet<String>,
    /// In a map: what `<<` brings.
    merged: Vec<Entry>,
    anchor: usize,
    /// What was there before it began: how much it takes is the difference.
    before: Size,
}

struct Key {
    text: String,
    line: usize,
    /// `<<` without quotes.
    merges: bool,
}

/// How much of a file there is.
#[derive(Clone, Copy, Default)]
struct Size {
    nodes: usize,
    bytes: usize,
}

/// What an alias stands for.
struct Anchored {
    node: Node,
    size: Size,
    depth: usize,
}

#[derive(Default)]
struct Growing {
    open: Vec<Open>,
    root: Option<Node>,
    anchors: HashMap<usize, Anchored>,
    size: Size,
    problems: Vec<Problem>,
}

/// Reads a text that is not too long.
pub(super) fn tree(text: &str) -> Result<Tree, Problem> {
    let mut growing = Growing::default();
    let mut parser = Parser::new_from_str(text);
    let mut documents = 0;
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| unreadable(text, &error))?;
        let line = span.start.line().max(1);
        match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    let said = "the file holds several documents, divided by `---`; one is read";
                    return Err(Problem::new(line, "", said).hint("write each into a file of its own"));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let value = growing.scalar(&text, style, tag.as_deref(), line);
                let plain = style == ScalarStyle::Plain && tag.is_none();
                growing.leaf(Node { line, value }, &text, plain, anchor)?;
            }
            Event::SequenceStart(anchor, tag) => {
                growing.begin(Value::List(Vec::new()), line, anchor, tag.as_deref())?;
            }
            Event::MappingStart(anchor, tag) => {
                growing.begin(Value::Map(Vec::new()), line, anchor, tag.as_deref())?;
            }
            Event::SequenceEnd | Event::MappingEnd => growing.end()?,
            Event::Alias(anchor) => growing.alias(anchor, line)?,
            Event::StreamEnd => break,
            Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
        }
    }
    let root = growing.root.ok_or_else(|| Problem::new(1, "", "the file is empty"))?;
    Ok(Tree { root, problems: growing.problems })
}

impl Growing {
    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, line: usize) -> Value {
        let core = tag.filter(|tag| tag.is_yaml_core_schema()).map(|tag| tag.suffix.as_str());
        match (tag, core) {
            (None, _) if style == ScalarStyle::Plain => scalar::plain(text),
            (Some(_), Some("int" | "float" | "bool" | "null")) => scalar::plain(text),
            (None, _) | (Some(_), Some("str")) => Value::Text(text.to_owned()),
            (Some(tag), _) => {
                self.tag(tag, line);
                Value::Text(text.to_owned())
            }
        }
    }

    /// Tells of a tag that is none of YAML's own.
    fn tag(&mut self, tag: &Tag, line: usize) {
        // A lone `!` says "no plain word", which is what follows anyway.
        if tag.suffix.is_empty() {
            return;
        }
        let said = format!("the tag `{}` means nothing here", shown(&tag.to_string()));
        self.problem(Problem::new(line, "", said).hint("leave it out"));
    }

    fn problem(&mut self, problem: Problem) {
        if self.problems.len() < TOLD {
            self.problems.push(problem);
        }
    }

    /// Counts what is added.
    fn grow(&mut self, by: Size, line: usize) -> Result<(), Problem> {
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

    fn begin(&mut self, value: Value, line: usize, anchor: usize, tag: Option<&Tag>) -> Result<(), Problem> {
        self.deeper(1, line)?;
        let before = self.size;
        self.grow(Size { nodes: 1, bytes: 0 }, line)?;
        let known = ["map", "seq"];
        if let Some(tag) = tag
            && !(tag.is_yaml_core_schema() && known.contains(&tag.suffix.as_str()))
        {
            self.tag(tag, line);
        }
        if self.open.last().is_some_and(Open::wants_a_name) {
            let problem = Problem::new(line, "", "a name must be a text, not a list or an object");
            return Err(problem.hint("a template must stand in quotes: '{{…}}'"));
        }
        let node = Node { line, value };
        self.open.push(Open { node, key: None, names: HashSet::new(), merged: Vec::new(), anchor, before });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Problem> {
        let Some(mut open) = self.open.pop() else { return Ok(()) };
        if let Value::Map(entries) = &mut open.node.value {
            // What stands here comes before what is merged, wherever it stands.
            let names = &mut open.names;
            entries.extend(open.merged.drain(..).filter(|entry| names.insert(entry.key.clone())));
        }
        let (line, anchor) = (open.node.line, open.anchor);
        if anchor > 0 {
            let size = Size {
                nodes: self.size.nodes - open.before.nodes,
                bytes: self.size.bytes - open.before.bytes,
            };
            self.anchor(anchor, &open.node, size, line)?;
        }
        self.place(open.node)
    }

    /// Keeps a node for its aliases. That takes as much as the node itself.
    fn anchor(&mut self, anchor: usize, node: &Node, size: Size, line: usize) -> Result<(), Problem> {
        self.grow(size, line)?;
        self.anchors.insert(anchor, Anchored { node: node.clone(), size, depth: depth(node) });
        Ok(())
    }

    fn leaf(&mut self, node: Node, text: &str, plain: bool, anchor: usize) -> Result<(), Problem> {
        let (size, line) = (Size { nodes: 1, bytes: text.len() }, node.line);
        self.grow(size, line)?;
        if anchor > 0 {
            self.anchor(anchor, &node, size, line)?;
        }
        match self.open.last_mut() {
            Some(open) if open.wants_a_name() => {
                open.key = Some(Key { text: text.to_owned(), line, merges: plain && text == "<<" });
                Ok(())
            }
            _ => self.place(node),
        }
    }

    fn alias(&mut self, anchor: usize, line: usize) -> Result<(), Problem> {
        let Some(Anchored { size, depth, .. }) = self.anchors.get(&anchor) else {
            return Err(Problem::new(line, "", "an alias stands inside of what it names"));
        };
        self.deeper(*depth, line)?;
        self.grow(*size, line)?;
        let Some(Anchored { node, .. }) = self.anchors.get(&anchor) else { return Ok(()) };
        match self.open.last_mut() {
            Some(open) if open.wants_a_name() => {
                let (Value::Text(text) | Value::Plain(_, text)) = &node.value else {
                    return Err(Problem::new(line, "", "a name must be a text, not a list or an object"));
                };
                open.key = Some(Key { text: text.clone(), line, merges: false });
                Ok(())
            }
            _ => {
                let node = node.clone();
                self.place(node)
            }
        }
    }

    /// Puts a node where it belongs.
    fn place(&mut self, node: Node) -> Result<(), Problem> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match (&mut open.node.value, open.key.take()) {
            (Value::List(items), _) => items.push(node),
            (Value::Map(entries), Some(key)) => {
                if !open.names.insert(key.text.clone()) {
                    let said = format!("`{}` stands here twice", shown(&key.text));
                    self.problem(Problem::new(key.line, "", said).hint("keep one of them"));
                    return Ok(());
                }
                if !key.merges {
                    entries.push(Entry { key: key.text, line: key.line, node });
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

impl Open {
    fn wants_a_name(&self) -> bool {
        matches!(self.node.value, Value::Map(_)) && self.key.is_none()
    }
}

fn depth(node: &Node) -> usize {
    match &node.value {
        Value::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Map(entries) => 1 + entries.iter().map(|entry| depth(&entry.node)).max().unwrap_or(0),
        _ => 0,
    }
}

/// What `<<` brings: of several objects, the first that has a name gives its value.
fn merged(node: Node) -> Option<Vec<Entry>> {
    match node.value {
        Value::Map(entries) => Some(entries),
        Value::List(items) => {
            let maps = items.into_iter().map(|item| match item.value {
                Value::Map(entries) => Some(entries),
                _ => None,
            });
            Some(maps.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
        }
        _ => None,
    }
}

/// A word of the file, as far as a message shows it.
pub(crate) fn shown(text: &str) -> String {
    const SHOWN: usize = 64;
    let seen = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    loggia_text::mention(&seen.take(SHOWN + 1).collect::<String>(), SHOWN)
}
