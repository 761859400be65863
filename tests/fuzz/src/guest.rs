//! A component of a few hundred bytes that describes itself by data, and that data as input.
//!
//! The code never changes: `describe` and `schema` return addresses. The data there are written into the component's
//! only data segment, which is located by its initial content.

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Bytes of the data segment.
const DATA: usize = 8 << 10;
/// Address in the guest's memory; the answer of `describe` is at its start, followed by that of `schema`.
const AT: u32 = 1024;
const SCHEMA: u32 = AT + 256;
/// Offset of texts and lists in the data.
const TEXTS: usize = 512;

/// Initial content of the data segment, which is unique.
const MARK: [u8; 16] = *b"the data is here";

/// The component, and where its data is.
static COMPONENT: LazyLock<(Vec<u8>, usize)> = LazyLock::new(|| {
    let mark = std::str::from_utf8(&MARK).expect("letters");
    let text = format!(
        r#"(module
            (memory (export "memory") 2)
            (data (i32.const {AT}) "{mark}{}")
            (global $end (mut i32) (i32.const 65536))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (global.set $end (i32.and (i32.add (i32.add (global.get $end) (local.get 3)) (i32.const 7)) (i32.const -8)))
                (i32.sub (global.get $end) (i32.and (i32.add (local.get 3) (i32.const 7)) (i32.const -8))))
            (func (export "loggia:plugin/facade@0.1.0#describe") (result i32) (i32.const {AT}))
            (func (export "loggia:plugin/facade@0.1.0#schema") (param i32 i32) (result i32) (i32.const {SCHEMA}))
            (func (export "loggia:plugin/facade@0.1.0#dispatch")
                (param i32 i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32 i32 i32 i32) (result i32) unreachable))"#,
        ".".repeat(DATA - MARK.len())
    );
    let mut module = wat::parse_str(text).expect("a module");
    let mut resolve = Resolve::default();
    let package =
        resolve.push_str("loggia.wit", include_str!("../../../wit/released/0.1.0/loggia.wit")).expect("the contract");
    let world = resolve.select_world(&[package], Some("plugin")).expect("the world");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).expect("metadata");
    let mut encoder = ComponentEncoder::default();
    encoder.module(&module).expect("a module of the world");
    let component = encoder.encode().expect("a component");
    let at = component.windows(MARK.len()).position(|window| window == MARK).expect("the data");
    (component, at)
});

/// The component with placeholder data.
pub fn component() -> &'static [u8] {
    &COMPONENT.0
}

/// A guest's description of itself. Texts are bytes: a guest need not write UTF-8.
#[derive(Debug, Arbitrary)]
pub struct Said<'a> {
    /// Name, title, version, summary.
    texts: [&'a [u8]; 4],
    instructions: Option<&'a [u8]>,
    actions: Vec<Action<'a>>,
    default_action: Option<&'a [u8]>,
    wants: Vec<(&'a [u8], &'a [u8], bool)>,
    /// Answer of `schema` for every action.
    schema: Result<Schema<'a>, &'a [u8]>,
    /// Bytes that overwrite the result, for arbitrary addresses and invalid tags.
    over: Vec<(u16, u8)>,
}

#[derive(Debug, Arbitrary)]
struct Action<'a> {
    name: &'a [u8],
    summary: &'a [u8],
    /// The effect, and four flags.
    flags: [u8; 5],
    aliases: Vec<&'a [u8]>,
}

#[derive(Debug, Arbitrary)]
struct Schema<'a> {
    params: Text<'a>,
    data: Option<Text<'a>>,
    examples: Vec<Text<'a>>,
}

/// Valid or invalid JSON.
#[derive(Debug, Arbitrary)]
enum Text<'a> {
    Empty,
    Object,
    Property(&'a str),
    Bytes(&'a [u8]),
}

impl Text<'_> {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Empty => b"{\"type\":\"object\"}".to_vec(),
            Self::Object => b"{}".to_vec(),
            Self::Property(name) => {
                serde_json::json!({"type": "object", "properties": {*name: {"type": "string"}}})
                    .to_string()
                    .into_bytes()
            }
            Self::Bytes(bytes) => bytes.to_vec(),
        }
    }
}

impl Said<'_> {
    /// Builds a component with this description.
    pub fn component(&self) -> Vec<u8> {
        let (mut component, at) = COMPONENT.clone();
        component[at..at + DATA].copy_from_slice(&self.data());
        component
    }

    /// The data segment, laid out as the canonical ABI reads it.
    fn data(&self) -> Vec<u8> {
        let mut memory = Memory { bytes: vec![0; DATA], next: TEXTS };
        let mut root = Vec::new();
        self.texts.iter().for_each(|text| memory.text(&mut root, text));
        memory.option(&mut root, self.instructions);
        let actions = self.actions.iter().map(|action| {
            let mut record = Vec::new();
            memory.text(&mut record, action.name);
            memory.text(&mut record, action.summary);
            record.extend(action.flags);
            // One effect in four does not exist.
            record[16] %= 4;
            record.resize(24, 0);
            let aliases = action.aliases.iter().map(|alias| {
                let mut text = Vec::new();
                memory.text(&mut text, alias);
                text
            });
            let aliases: Vec<_> = aliases.collect();
            memory.list(&mut record, aliases);
            word(&mut record, 0);
            word(&mut record, 0);
            record
        });
        let actions: Vec<_> = actions.collect();
        memory.list(&mut root, actions);
        memory.option(&mut root, self.default_action);
        let wants = self.wants.iter().map(|(grant, reason, needed)| {
            let mut record = Vec::new();
            memory.text(&mut record, grant);
            memory.text(&mut record, reason);
            word(&mut record, u32::from(*needed));
            record
        });
        let wants: Vec<_> = wants.collect();
        memory.list(&mut root, wants);
        word(&mut root, 0);
        word(&mut root, 0);
        memory.bytes[..root.len()].copy_from_slice(&root);
        let schema = self.schema(&mut memory);
        let begin = (SCHEMA - AT) as usize;
        memory.bytes[begin..begin + schema.len()].copy_from_slice(&schema);
        for (at, byte) in &self.over {
            memory.bytes[usize::from(*at) % DATA] = *byte;
        }
        memory.bytes
    }

    fn schema(&self, memory: &mut Memory) -> Vec<u8> {
        let mut out = Vec::new();
        match &self.schema {
            Ok(Schema { params, data, examples }) => {
                // The tag, and room up to the alignment of a failure's numbers.
                out.resize(8, 0);
                memory.text(&mut out, &params.bytes());
                memory.option(&mut out, data.as_ref().map(Text::bytes).as_deref());
                let examples = examples.iter().map(|example| {
                    let mut text = Vec::new();
                    memory.text(&mut text, &example.bytes());
                    text
                });
                let examples: Vec<_> = examples.collect();
                memory.list(&mut out, examples);
            }
            Err(message) => {
                out.resize(8, 0);
                out[0] = 1;
                memory.text(&mut out, b"internal");
                memory.text(&mut out, message);
            }
        }
        out.resize(160, 0);
        out
    }
}

struct Memory {
    bytes: Vec<u8>,
    next: usize,
}

fn word(out: &mut Vec<u8>, word: u32) {
    out.extend(word.to_le_bytes());
}

impl Memory {
    /// Stores bytes and returns their address; zero if the space is full.
    fn keep(&mut self, bytes: &[u8]) -> u32 {
        let begin = self.next.next_multiple_of(8);
        let Some(room) = self.bytes.get_mut(begin..begin + bytes.len()) else { return 0 };
        room.copy_from_slice(bytes);
        self.next = begin + bytes.len();
        AT + u32::try_from(begin).expect("small")
    }

    fn text(&mut self, out: &mut Vec<u8>, text: &[u8]) {
        word(out, self.keep(text));
        word(out, u32::try_from(text.len()).expect("small"));
    }

    fn option(&mut self, out: &mut Vec<u8>, text: Option<&[u8]>) {
        word(out, u32::from(text.is_some()));
        self.text(out, text.unwrap_or_default());
    }

    fn list(&mut self, out: &mut Vec<u8>, items: Vec<Vec<u8>>) {
        word(out, self.keep(&items.concat()));
        word(out, u32::try_from(items.len()).expect("small"));
    }
}
