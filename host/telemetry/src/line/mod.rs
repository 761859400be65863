//! Renders an event as one line of bounded length. Credentials are redacted, and control characters escaped, so that no
//! text can steer a terminal or forge another line: rmcp logs whole results at its lower levels, and guests contribute to
//! many texts.

use std::{
    borrow::Cow,
    fmt::{self, Write},
    time::SystemTime,
};

use chrono::{DateTime, SecondsFormat, Utc};
use loggia_policy::settings::Format;
use loggia_text::{REDACTED, is_hidden, redact, redact_beginning};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

use super::client_disconnects;

/// Longest line, in bytes.
pub const MAX_LINE: usize = 8 << 10;
/// Longest message, in bytes as written.
const MAX_MESSAGE: usize = 6 << 10;
/// Longest value of any other field, in bytes as written.
pub(super) const MAX_VALUE: usize = 1 << 10;
/// Bytes of a value that are read: more than are written, so that a credential is seen whole and redacted.
const MAX_READ: usize = 16 << 10;
/// Bytes reserved for the end of a line.
const LINE_END: usize = 8;

/// A `tracing` layer that writes one line for each event.
pub struct LineLayer<W> {
    /// Format of the lines.
    pub format: Format,
    /// Adds ANSI colours, for a terminal.
    pub colours: bool,
    /// Receives each line, on the thread of its event.
    pub write: W,
    /// Where events of the audit trail go, if there is one.
    pub trail: Option<TrailRoute>,
}

/// The way of events to the audit trail. One layer writes them and the log: with a filter for each of two, every span would cost more,
/// and each HTTP request has one.
pub struct TrailRoute {
    /// Target of the events.
    pub target: &'static str,
    /// Receives each as a line of JSON.
    pub write: Box<dyn Fn(&str) + Send + Sync>,
    /// Whether the log shows them as well.
    pub is_logged: bool,
}

/// Fields of an event or a span. Their texts follow each other in one string.
#[derive(Default)]
struct EventFields {
    texts: String,
    message: EventText,
    /// Target of a record of the crate `log`, which carries it as a field.
    target: Option<EventText>,
    others: Vec<EventField>,
}

/// A field other than the message.
#[derive(Clone, Copy)]
struct EventField {
    name: &'static str,
    kind: FieldKind,
    text: EventText,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    /// Text, written in quotes.
    Text,
    /// Output of `Debug` or `Display`.
    Printed,
    /// A number or a boolean, the same in JSON.
    Literal,
}

/// A text among the texts of an event.
#[derive(Default, Clone, Copy)]
struct EventText {
    start: usize,
    end: usize,
    /// True if more followed.
    cut: bool,
}

impl<S, W> Layer<S> for LineLayer<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Fn(&str) + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut fields = EventFields::default();
            attributes.record(&mut fields);
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<EventFields>()
        {
            record.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = EventFields::with_room();
        event.record(&mut fields);
        if client_disconnects::is_disconnect(event.metadata().target(), fields.whole(fields.message)) {
            return;
        }
        let metadata = event.metadata();
        let named = fields.target.map(|target| fields.whole(target).to_owned());
        let target = named.map_or(Cow::Borrowed(metadata.target()), Cow::Owned);
        let (now, level) = (format_time(SystemTime::now()), *metadata.level());
        if let Some(trail) = self.trail.as_ref().filter(|trail| trail.target == metadata.target()) {
            // Without fields of spans, which depend on the log level.
            (trail.write)(&render_json(&now, level, &target, &fields));
            if !trail.is_logged {
                return;
            }
        }
        // The event's own fields win over those of its spans, and inner spans over outer ones.
        for span in context.event_scope(event).into_iter().flatten() {
            if let Some(of_span) = span.extensions().get::<EventFields>() {
                fields.add_missing(of_span);
            }
        }
        (self.write)(&match self.format {
            Format::Human => render_human(&now, level, &fields, self.colours),
            Format::Json => render_json(&now, level, &target, &fields),
        });
    }
}

impl EventFields {
    /// With room for most events.
    fn with_room() -> Self {
        Self { texts: String::with_capacity(512), others: Vec::with_capacity(16), ..Self::default() }
    }

    /// Returns a text as it was captured.
    fn whole(&self, text: EventText) -> &str {
        &self.texts[text.start..text.end]
    }

    /// Returns a text without credentials. A truncated one at the end is removed, too.
    fn redacted(&self, text: EventText) -> Cow<'_, str> {
        match text.cut {
            false => redact(self.whole(text)),
            true => (redact_beginning(self.whole(text)).into_owned() + "…").into(),
        }
    }

    /// Captures what is written, up to a limit.
    fn capture(&mut self, write: impl FnOnce(&mut TextWriter<'_>) -> fmt::Result) -> EventText {
        let start = self.texts.len();
        let mut writer = TextWriter { texts: &mut self.texts, most: start + MAX_READ, cut: false };
        // The error means that the rest was truncated on purpose.
        let _ = write(&mut writer);
        let cut = writer.cut;
        EventText { start, end: self.texts.len(), cut }
    }

    /// Whether there is a field of this name, other than the message.
    fn has(&self, name: &str) -> bool {
        self.others.iter().any(|known| known.name == name)
    }

    /// Adds the fields of a span.
    fn add_missing(&mut self, span: &Self) {
        for EventField { name, kind, text } in &span.others {
            if !self.has(name) {
                let start = self.texts.len();
                self.texts.push_str(span.whole(*text));
                let text = EventText { start, end: self.texts.len(), cut: text.cut };
                self.others.push(EventField { name, kind: *kind, text });
            }
        }
    }

    fn text(
        &mut self,
        field: &Field,
        kind: FieldKind,
        write: impl FnOnce(&mut TextWriter<'_>) -> fmt::Result,
    ) {
        match field.name() {
            "message" => self.message = self.capture(write),
            "log.target" => self.target = Some(self.capture(write)),
            name if name.starts_with("log.") || self.has(name) => {}
            name if is_credential(name) => {
                let text = self.capture(|text| text.write_str(REDACTED));
                self.others.push(EventField { name, kind: FieldKind::Text, text });
            }
            name => {
                let text = self.capture(write);
                self.others.push(EventField { name, kind, text });
            }
        }
    }

    fn literal(&mut self, field: &Field, value: impl fmt::Display) {
        self.text(field, FieldKind::Literal, |text| write!(text, "{value}"));
    }
}

/// Returns true for field names whose value is always a credential.
fn is_credential(name: &str) -> bool {
    const NAMES: [&str; 7] =
        ["authorization", "cookie", "password", "secret", "token", "access_token", "client_secret"];
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

impl Visit for EventFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, FieldKind::Text, |text| text.write_str(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field, FieldKind::Printed, |text| write!(text, "{value:?}"));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if value.is_finite() { self.literal(field, value) } else { self.record_debug(field, &value) }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.literal(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.literal(field, value);
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.literal(field, value);
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.literal(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.literal(field, value);
    }
}

/// Writes the beginning of a text. Formatting stops once it is full: a result may be megabytes long.
struct TextWriter<'a> {
    texts: &'a mut String,
    /// Length of `texts` at which the text is full.
    most: usize,
    cut: bool,
}

impl Write for TextWriter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let fits = text.floor_char_boundary(self.most.saturating_sub(self.texts.len()));
        self.texts.push_str(&text[..fits]);
        self.cut |= fits < text.len();
        if self.cut { Err(fmt::Error) } else { Ok(()) }
    }
}

/// Renders a line of JSON for messages that bypass the log level, or come before the log is set up.
pub fn render_announcement(level: Level, message: &str) -> String {
    let mut fields = EventFields::default();
    fields.message = fields.capture(|text| text.write_str(message));
    render_json(&format_time(SystemTime::now()), level, "loggia", &fields)
}

pub(super) fn format_time(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// `time LEVEL message name=value …`
fn render_human(now: &str, level: Level, fields: &EventFields, colours: bool) -> String {
    const DIM: &str = "\x1b[2m";
    const PLAIN: &str = "\x1b[0m";
    let colour = match level {
        Level::ERROR => "\x1b[31m",
        Level::WARN => "\x1b[33m",
        Level::INFO => "\x1b[32m",
        Level::DEBUG => "\x1b[34m",
        Level::TRACE => "\x1b[35m",
    };
    let paint = |colour: &'static str| if colours { colour } else { "" };
    let (dim, plain, colour) = (paint(DIM), paint(PLAIN), paint(colour));
    let mut line = format!("{dim}{now}{plain} {colour}{level:>5}{plain} ");
    push_bounded(&mut line, &fields.redacted(fields.message), MAX_MESSAGE, escape);
    for EventField { name, kind, text } in &fields.others {
        let Some(most) = value_room(&line, name) else {
            line.push('…');
            break;
        };
        let gap = if line.ends_with(' ') { "" } else { " " };
        let _ = write!(line, "{gap}{dim}{name}={plain}");
        match kind {
            FieldKind::Text => {
                line.push('"');
                push_bounded(&mut line, &fields.redacted(*text), most, quote);
                line.push('"');
            }
            FieldKind::Printed => push_bounded(&mut line, &fields.redacted(*text), most, escape),
            FieldKind::Literal => line.push_str(fields.whole(*text)),
        }
    }
    line.push('\n');
    line
}

/// One JSON object.
fn render_json(now: &str, level: Level, target: &str, fields: &EventFields) -> String {
    const OURS: [&str; 5] = ["timestamp", "level", "target", "message", "truncated"];
    let mut line = format!(r#"{{"timestamp":"{now}","level":"{level}","target":""#);
    push_bounded(&mut line, target, MAX_VALUE, json_escape);
    line.push_str(r#"","message":""#);
    push_bounded(&mut line, &fields.redacted(fields.message), MAX_MESSAGE, json_escape);
    line.push('"');
    for EventField { name, kind, text } in &fields.others {
        let Some(most) = value_room(&line, name) else {
            line.push_str(r#","truncated":true"#);
            break;
        };
        let ours = if OURS.contains(name) { "field." } else { "" };
        let _ = write!(line, r#","{ours}"#);
        push_bounded(&mut line, name, MAX_VALUE, json_escape);
        line.push_str("\":");
        match kind {
            FieldKind::Literal => line.push_str(fields.whole(*text)),
            FieldKind::Text | FieldKind::Printed => {
                line.push('"');
                push_bounded(&mut line, &fields.redacted(*text), most, json_escape);
                line.push('"');
            }
        }
    }
    line.push_str("}\n");
    line
}

/// Returns how long the next value may be, or `None` if the line is full.
fn value_room(line: &str, name: &str) -> Option<usize> {
    // Punctuation around a value, and `"truncated":true`.
    const AROUND: usize = 64;
    let left = MAX_LINE.checked_sub(line.len() + name.len() + AROUND + LINE_END)?;
    (left >= AROUND).then(|| left.min(MAX_VALUE))
}

/// Appends an escaped text of at most `most` bytes.
pub(super) fn push_bounded(line: &mut String, text: &str, most: usize, escape: impl Fn(char, &mut String)) {
    const CUT: char = '…';
    let most = most - CUT.len_utf8();
    if text.len() <= most && is_plain(text) {
        return line.push_str(text);
    }
    let end = line.len() + most;
    for c in text.chars() {
        let before = line.len();
        escape(c, line);
        if line.len() > end {
            line.truncate(before);
            line.push(CUT);
            return;
        }
    }
}

/// Returns true if no character needs an escape of any kind, as in most texts. It looks at all bytes, which the compiler then does by the
/// dozen.
fn is_plain(text: &str) -> bool {
    let is_odd = |byte: u8| !(b' '..=b'~').contains(&byte) || byte == b'"' || byte == b'\\';
    !text.bytes().fold(false, |odd, byte| odd | is_odd(byte))
}

fn needs_escape(c: char) -> bool {
    c.is_control() || is_hidden(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

fn escape(c: char, line: &mut String) {
    if needs_escape(c) { line.extend(c.escape_default()) } else { line.push(c) }
}

fn quote(c: char, line: &mut String) {
    if matches!(c, '"' | '\\') {
        line.push('\\');
    }
    escape(c, line);
}

pub(super) fn json_escape(c: char, line: &mut String) {
    match c {
        '"' | '\\' => line.extend(['\\', c]),
        '\n' => line.push_str("\\n"),
        '\t' => line.push_str("\\t"),
        c if needs_escape(c) => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(line, "\\u{unit:04x}");
            }
        }
        c => line.push(c),
    }
}

#[cfg(test)]
mod tests;
