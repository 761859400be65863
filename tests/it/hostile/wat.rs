//! Guests that no compiler produces: a whole facade in the text format, parametrised by each test.

use std::fmt::Write;

use loggia_tests::Folder;

/// A component that implements the contract. Its surface and its answer are static data.
pub struct Guest {
    /// The facade's name.
    pub name: &'static str,
    /// Name of its only action.
    pub action: &'static str,
    /// Imports of the core module.
    pub imports: String,
    /// Arguments of its core module's instance.
    pub with: String,
    /// Additional fields of the core module.
    pub fields: String,
    /// Instructions at the start of `describe`.
    pub describe: String,
    /// Instructions at the start of `dispatch`: they may use the locals `$a`, `$b`, `$c`, and store another answer at
    /// [`REPLY`].
    pub dispatch: String,
    /// Additional items of the component.
    pub items: String,
    /// Encoding of its strings.
    pub encoding: &'static str,
}

/// Address of the answer of `dispatch`: `result<reply, failure>`, so its data's pointer is at + 8 and their length at +
/// 12.
pub const REPLY: u32 = 1536;

impl Default for Guest {
    fn default() -> Self {
        let [imports, with, fields, describe, dispatch, items] = [""; 6].map(str::to_owned);
        Self { name: "odd", action: "go", imports, with, fields, describe, dispatch, items, encoding: "utf8" }
    }
}

/// The contract's types, under the names that a component must give them to be allowed to use them.
const TYPES: &str = r#"
    (type $extras (list (tuple string string)))
    (type $effect-type (enum "read" "write" "destructive"))
    (export $effect "effect" (type $effect-type))
    (type $detail-type (enum "minimal" "standard" "full"))
    (export $detail "detail" (type $detail-type))
    (type $action-type (record (field "name" string) (field "summary" string) (field "effect" $effect)
        (field "idempotent" bool) (field "open-world" bool) (field "long-running" bool) (field "details" bool)
        (field "aliases" (list string)) (field "extras" $extras)))
    (export $action "action" (type $action-type))
    (type $want-type (record (field "grant" string) (field "reason" string) (field "needed" bool)))
    (export $want "want" (type $want-type))
    (type $description-type (record (field "name" string) (field "title" string) (field "version" string)
        (field "summary" string) (field "instructions" (option string)) (field "actions" (list $action))
        (field "default-action" (option string)) (field "wants" (list $want)) (field "extras" $extras)))
    (export $description "description" (type $description-type))
    (type $schema-type (record (field "params" string) (field "data" (option string))
        (field "examples" (list string)) (field "extras" $extras)))
    (export $schema "action-schema" (type $schema-type))
    (type $call-type (record (field "id" string) (field "action" string) (field "params" string)
        (field "detail" $detail) (field "time-left-ms" u64) (field "caller" (option string))
        (field "idempotency-key" (option string)) (field "extras" $extras)))
    (export $call "call" (type $call-type))
    (type $next-type (record (field "facade" string) (field "action" string) (field "params" (option string))
        (field "reason" (option string))))
    (export $next "next" (type $next-type))
    (type $media-type (record (field "data" (list u8)) (field "mime-type" string)))
    (export $media "media" (type $media-type))
    (type $embedded-type (record (field "uri" string) (field "mime-type" (option string))
        (field "text" (option string)) (field "blob" (option (list u8)))))
    (export $embedded "embedded-resource" (type $embedded-type))
    (type $link-type (record (field "uri" string) (field "name" string) (field "description" (option string))
        (field "mime-type" (option string))))
    (export $link "resource-link" (type $link-type))
    (type $block-type (variant (case "text" string) (case "image" $media) (case "audio" $media)
        (case "embedded" $embedded) (case "link" $link)))
    (export $block "block" (type $block-type))
    (type $content-type (record (field "block" $block) (field "extras" $extras)))
    (export $content "content" (type $content-type))
    (type $page-type (record (field "count" (option u64)) (field "total" (option u64))
        (field "cursor" (option string))))
    (export $page "page" (type $page-type))
    (type $reply-type (record (field "data" string) (field "message" (option string))
        (field "page" (option $page)) (field "next" (option $next)) (field "content" (list $content))
        (field "extras" $extras)))
    (export $reply "reply" (type $reply-type))
    (type $failure-type (record (field "code" string) (field "message" string) (field "hint" (option string))
        (field "details" (option string)) (field "retry-after-ms" (option u64)) (field "next" (option $next))
        (field "extras" $extras)))
    (export $failure "failure" (type $failure-type))
"#;

/// Addresses: records first, then their texts.
const DESCRIPTION: u32 = 1024;
const ACTION: u32 = 1152;
const SCHEMA: u32 = 1280;
const TEXTS: u32 = 2048;
/// Start of the area for data from the host.
const HEAP: u32 = 4096;

impl Guest {
    /// Adds memories of one page, each in a separate module since a module has at most one, and functions of these
    /// names that each grow their memory by a page.
    pub fn with_memories(mut self, names: &[&str]) -> Self {
        for name in names {
            write!(self.imports, r#"(import "{name}" "grow" (func ${name} (result i32)))"#).expect("written");
            write!(self.with, r#"(with "{name}" (instance ${name}-i))"#).expect("written");
            write!(
                self.items,
                r#"(core module ${name} (memory 1) (func (export "grow") (result i32) (memory.grow (i32.const 1))))
                (core instance ${name}-i (instantiate ${name}))"#
            )
            .expect("written");
        }
        self
    }

    /// Encodes the component.
    pub fn bytes(&self) -> Vec<u8> {
        wat::parse_str(self.text()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Puts it into a folder, under its name.
    pub fn put(&self, folder: &Folder) {
        let beside = folder.path().join(format!(".{}.new", self.name));
        std::fs::write(&beside, self.bytes()).expect("written");
        std::fs::rename(&beside, folder.path().join(format!("{}.wasm", self.name))).expect("renamed");
    }

    /// Renders the text format.
    fn text(&self) -> String {
        let Self { imports, with, fields, describe, dispatch, items, encoding, .. } = self;
        let data = self.data();
        format!(
            r#"(component {TYPES}
                (core module $guest
                    {imports}
                    (memory (export "memory") 1)
                    (global $heap (mut i32) (i32.const {HEAP}))
                    {data}
                    {fields}
                    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
                        (global.set $heap (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
                        global.get $heap
                        (global.set $heap (i32.add (global.get $heap) (local.get 3))))
                    (func (export "describe") (result i32) {describe} i32.const {DESCRIPTION})
                    (func (export "schema") (param i32 i32) (result i32) i32.const {SCHEMA})
                    (func (export "dispatch")
                        (param i32 i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
                        (local $a i32) (local $b i32) (local $c i32)
                        {dispatch} i32.const {REPLY}))
                {items}
                (core instance $i (instantiate $guest {with}))
                (func $describe (result $description)
                    (canon lift (core func $i "describe") (memory (core memory $i "memory")) string-encoding={encoding}))
                (func $schema-of (param "action" string) (result (result $schema (error $failure)))
                    (canon lift (core func $i "schema") (memory (core memory $i "memory")) (realloc (core func $i "realloc"))
                        string-encoding={encoding}))
                (func $dispatch (param "call" $call) (result (result $reply (error $failure)))
                    (canon lift (core func $i "dispatch") (memory (core memory $i "memory")) (realloc (core func $i "realloc"))
                        string-encoding={encoding}))
                (instance $facade
                    (export "describe" (func $describe))
                    (export "schema" (func $schema-of))
                    (export "dispatch" (func $dispatch)))
                (export "loggia:plugin/facade@0.1.0" (instance $facade)))"#
        )
    }

    /// Initial memory. Zeros mean absent or empty, so only texts are listed.
    fn data(&self) -> String {
        let mut laid = Laid { text: String::new(), next: TEXTS, wide: self.encoding == "utf16" };
        let summary = "Does something odd.";
        for (at, text) in [(0, self.name), (8, "Odd"), (16, "0.1.0"), (24, summary)]
            .map(|(at, text)| (DESCRIPTION + at, text))
        {
            laid.string(at, text);
        }
        laid.words(DESCRIPTION + 44, &[ACTION, 1]);
        laid.string(ACTION, self.action);
        laid.string(ACTION + 8, summary);
        laid.string(SCHEMA + 8, r#"{"type":"object"}"#);
        laid.string(REPLY + 8, "\"gone\"");
        laid.text
    }
}

/// Data segments.
struct Laid {
    text: String,
    next: u32,
    /// Two bytes for each character. (With `latin1+utf16`, only where a length is marked.)
    wide: bool,
}

impl Laid {
    fn bytes(&mut self, at: u32, bytes: &[u8]) {
        let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "\\{byte:02x}");
            hex
        });
        let _ = writeln!(self.text, "(data (i32.const {at}) \"{hex}\")");
    }

    fn words(&mut self, at: u32, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.bytes(at, &bytes);
    }

    /// Writes the pointer and length of a string at that address.
    fn string(&mut self, at: u32, text: &str) {
        let units = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.words(at, &[self.next, units]);
        let bytes: Vec<u8> =
            if self.wide { text.encode_utf16().flat_map(u16::to_le_bytes).collect() } else { text.into() };
        let place = self.next;
        self.bytes(place, &bytes);
        self.next += u32::try_from(bytes.len().next_multiple_of(8)).unwrap_or(u32::MAX);
    }
}

/// Moments and choices that are the same in each run: SplitMix64.
pub struct Chance(pub u64);

impl Chance {
    /// The next, below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap_or(0) % bound
    }
}
