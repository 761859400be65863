//! A page as a tree, in one vector: dropping it takes no stack, and its size is bounded.

use super::element;

/// Index of a node. A child has a larger one than its parent.
pub type NodeId = u32;

/// The parent of all nodes.
pub const ROOT: NodeId = 0;

/// No node.
const NONE: NodeId = NodeId::MAX;

/// Number of nodes. At 60 bytes each, they take a quarter of the memory that a call has by default.
const NODES: usize = 250_000;

/// Bytes of an attribute.
const ATTRIBUTE: usize = 4000;

/// Content of a node.
#[derive(Debug, Clone, Copy)]
pub enum NodeData<'a> {
    Element(&'static str),
    Text(&'a str),
}

enum Content {
    Element {
        name: &'static str,
        attributes: Option<Box<[(&'static str, String)]>>,
    },
    /// Part of [`Tree::text`].
    Text {
        start: u32,
        end: u32,
    },
}

struct Node {
    parent: NodeId,
    first: NodeId,
    last: NodeId,
    next: NodeId,
    content: Content,
}

/// Elements and texts of a page.
pub struct Tree {
    nodes: Vec<Node>,
    text: String,
    is_truncated: bool,
}

impl Tree {
    pub fn new() -> Self {
        let root = Content::Element { name: "", attributes: None };
        let root = Node { parent: NONE, first: NONE, last: NONE, next: NONE, content: root };
        Self { nodes: vec![root], text: String::new(), is_truncated: false }
    }

    /// Adds an element with those attributes that are known. `None` if the tree is full.
    pub fn add_element(
        &mut self,
        parent: NodeId,
        name: &'static str,
        attributes: Vec<(&'static str, String)>,
    ) -> Option<NodeId> {
        let attributes = (!attributes.is_empty()).then(|| attributes.into_boxed_slice());
        self.add(parent, Content::Element { name, attributes })
    }

    /// Adds a text, to the previous one if there is one.
    pub fn add_text(&mut self, parent: NodeId, text: &str) {
        let (Ok(start), Ok(end)) =
            (u32::try_from(self.text.len()), u32::try_from(self.text.len() + text.len()))
        else {
            return;
        };
        let last = self.nodes[parent as usize].last;
        if let Some(Node { content: Content::Text { end: last, .. }, .. }) = self.nodes.get_mut(last as usize)
            && *last == start
        {
            *last = end;
            self.text.push_str(text);
        } else if self.add(parent, Content::Text { start, end }).is_some() {
            self.text.push_str(text);
        }
    }

    fn add(&mut self, parent: NodeId, content: Content) -> Option<NodeId> {
        if self.nodes.len() >= NODES {
            self.is_truncated = true;
            return None;
        }
        let id = self.nodes.len() as NodeId;
        self.nodes.push(Node { parent, first: NONE, last: NONE, next: NONE, content });
        let before = std::mem::replace(&mut self.nodes[parent as usize].last, id);
        match before {
            NONE => self.nodes[parent as usize].first = id,
            before => self.nodes[before as usize].next = id,
        }
        Some(id)
    }

    /// Whether the page had more nodes.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn data(&self, id: NodeId) -> NodeData<'_> {
        match &self.nodes[id as usize].content {
            Content::Element { name, .. } => NodeData::Element(name),
            Content::Text { start, end } => NodeData::Text(&self.text[*start as usize..*end as usize]),
        }
    }

    /// Name of an element; empty for a text, the root and unknown elements.
    pub fn name(&self, id: NodeId) -> &'static str {
        match &self.nodes[id as usize].content {
            Content::Element { name, .. } => name,
            Content::Text { .. } => "",
        }
    }

    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        some(self.nodes[id as usize].parent)
    }

    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(some(self.nodes[id as usize].first), |id| some(self.nodes[*id as usize].next))
    }

    /// All nodes of a subtree in the order of the page, without those below nodes that `enters` refuses.
    pub fn walk(&self, root: NodeId, enters: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if !enters(id) {
                continue;
            }
            nodes.push(id);
            let start = stack.len();
            stack.extend(self.children(id));
            stack[start..].reverse();
        }
        nodes
    }

    pub fn elements(&self) -> impl Iterator<Item = (NodeId, &'static str)> + '_ {
        (0..self.nodes.len() as NodeId).map(|id| (id, self.name(id))).filter(|(_, name)| !name.is_empty())
    }

    pub fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        let Content::Element { attributes: Some(attributes), .. } = &self.nodes[id as usize].content else {
            return None;
        };
        attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Visible text of a subtree in one line, of about this length at most.
    pub fn line(&self, root: NodeId, most: usize) -> String {
        let mut line = String::new();
        let enters = |id| id == root || !element::is_dropped(self.name(id));
        for id in self.walk(root, enters) {
            if let NodeData::Text(text) = self.data(id) {
                line.push_str(text);
            } else if element::is_block(self.name(id)) || self.name(id) == "br" {
                line.push(' ');
            }
            if line.len() > most * 8 {
                break;
            }
        }
        untrusted::short(&line, most)
    }
}

fn some(id: NodeId) -> Option<NodeId> {
    (id != NONE).then_some(id)
}

/// Cuts an attribute at its maximum length.
pub fn shortened(mut value: String) -> String {
    if value.len() > ATTRIBUTE {
        let end = (0..=ATTRIBUTE).rev().find(|at| value.is_char_boundary(*at)).unwrap_or_default();
        value.truncate(end);
    }
    value
}
