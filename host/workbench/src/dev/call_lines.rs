//! A log line for each call that a plugin's author makes: its time and the parts of it, its memory, and what is near a limit.

use std::{
    collections::HashMap,
    fmt::Write,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use loggia_facade::trace::{SpanKind, SpanRecord, SpanValue, TraceContext, names};
use loggia_telemetry::span_source::SpanSink;
use loggia_text::units::{format_bytes, format_duration};

/// Share of a limit from which it is mentioned.
const NEAR: f64 = 0.8;

/// Spans whose parts are kept; more are those of calls that were abandoned.
const MAX_OPEN: usize = 4096;

/// Logs a line for each call.
#[derive(Debug, Default)]
pub struct CallLines {
    /// Parts of spans that have not ended, by the spans' ids. Locked for a moment by each span that ends.
    open: Mutex<HashMap<[u8; 8], CallParts>>,
}

/// What the spans below a call add up to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct CallParts {
    waited: Duration,
    cpu: Option<UsedShare>,
    memory: Option<UsedShare>,
    state: PartSum,
    http: PartSum,
    calls: PartSum,
}

/// How much of a limit was used: seconds, or bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct UsedShare {
    used: f64,
    limit: f64,
}

/// A number of operations, and their time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct PartSum {
    count: usize,
    time: Duration,
}

/// A call that has ended.
#[derive(Debug, PartialEq)]
struct CallEnd {
    name: String,
    outcome: String,
    took: Duration,
    parts: CallParts,
}

impl PartSum {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.time += other.time;
    }
}

impl CallParts {
    fn add(&mut self, other: Self) {
        self.waited += other.waited;
        self.cpu = other.cpu.or(self.cpu);
        self.memory = other.memory.or(self.memory);
        self.state.add(other.state);
        self.http.add(other.http);
        self.calls.add(other.calls);
    }
}

/// Adds a span to the parts of those below it; a call when its span has ended.
fn fold(open: &mut HashMap<[u8; 8], CallParts>, span: &SpanRecord) -> Option<CallEnd> {
    let mut parts = open.remove(&span.context.span).unwrap_or_default();
    let took = Duration::from_nanos(span.end.saturating_sub(span.start));
    let one = PartSum { count: 1, time: took };
    let mut ended = None;
    if let (Some(facade), Some(action)) = (text(span, names::FACADE), text(span, names::ACTION)) {
        let outcome = text(span, names::OUTCOME).unwrap_or(names::CANCELLED).to_owned();
        ended = Some(CallEnd { name: format!("{facade}.{action}"), outcome, took, parts });
        // What a nested call took is one number of the call that made it.
        parts = CallParts { calls: one, ..CallParts::default() };
    } else if span.name == names::PERMIT_SPAN {
        parts.waited += took;
    } else if text(span, names::STATE).is_some() {
        parts.state.add(one);
    } else if text(span, names::HTTP_METHOD).is_some() {
        parts.http.add(one);
    } else {
        parts.cpu = share(span, names::CPU, names::CPU_LIMIT).or(parts.cpu);
        parts.memory = share(span, names::MEMORY, names::MEMORY_LIMIT).or(parts.memory);
    }
    // What is above a request belongs to its client.
    if let Some(parent) = span.parent.filter(|_| span.kind != SpanKind::Server)
        && (open.len() < MAX_OPEN || open.contains_key(&parent))
    {
        open.entry(parent).or_default().add(parts);
    }
    ended
}

fn text<'a>(span: &'a SpanRecord, name: &str) -> Option<&'a str> {
    match span.attributes.iter().find(|(key, _)| *key == name) {
        Some((_, SpanValue::Text(text))) => Some(text),
        _ => None,
    }
}

fn number(span: &SpanRecord, name: &str) -> Option<f64> {
    match span.attributes.iter().find(|(key, _)| *key == name) {
        Some((_, SpanValue::Float(number))) => Some(*number),
        Some((_, SpanValue::Integer(number))) => Some(*number as f64),
        _ => None,
    }
}

fn share(span: &SpanRecord, used: &str, limit: &str) -> Option<UsedShare> {
    Some(UsedShare { used: number(span, used)?, limit: number(span, limit)? })
}

impl CallEnd {
    /// Renders the line: `notes.add: ok in 1.9 ms (CPU 0.6 ms, state 2 × 0.8 ms); memory 1.3 MiB of 64 MiB`.
    fn render(&self) -> String {
        let Self { name, outcome, took, parts } = self;
        let mut line = format!("{name}: {outcome} in {}", millis(*took));
        let mut each = Vec::new();
        each.extend(parts.cpu.map(|cpu| format!("CPU {}", millis(Duration::from_secs_f64(cpu.used)))));
        for (label, sum) in [("state", parts.state), ("HTTP", parts.http), ("calls", parts.calls)] {
            if sum.count > 0 {
                each.push(format!("{label} {} in {}", sum.count, millis(sum.time)));
            }
        }
        // Otherwise it is noise.
        if parts.waited >= Duration::from_millis(1) {
            each.push(format!("waited {}", millis(parts.waited)));
        }
        if !each.is_empty() {
            let _ = write!(line, " ({})", each.join(", "));
        }
        if let Some(UsedShare { used, limit }) = parts.memory {
            let mebibytes = used / f64::from(1 << 20);
            let _ = write!(line, "; memory {mebibytes:.1}MiB of {}", format_bytes(limit as u64));
        }
        line
    }

    /// Says which limits it came near, and where they are set.
    fn hint(&self) -> Option<String> {
        let near = |share: &UsedShare| share.used >= NEAR * share.limit;
        let mut limits = Vec::new();
        limits.extend(
            self.parts.cpu.filter(near).map(|cpu| {
                format!("its CPU time of {}", format_duration(Duration::from_secs_f64(cpu.limit)))
            }),
        );
        limits.extend(
            self.parts
                .memory
                .filter(near)
                .map(|memory| format!("its memory of {}", format_bytes(memory.limit as u64))),
        );
        let facade = self.name.split('.').next().unwrap_or_default();
        (!limits.is_empty()).then(|| {
            let (name, limits) = (&self.name, limits.join(" and "));
            format!("{name} is near the limit of {limits}; [limits] of the policy raises it: loggia policy explain {facade}")
        })
    }
}

/// Formats a time with a tenth of a millisecond.
fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

impl SpanSink for CallLines {
    fn samples(&self, _: &[u8; 16], _: Option<&TraceContext>) -> bool {
        true
    }

    fn record(&self, span: SpanRecord) {
        let ended = fold(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner), &span);
        if let Some(call) = ended {
            tracing::info!("{}", call.render());
            if let Some(hint) = call.hint() {
                tracing::warn!("{hint}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    fn span(id: u8, parent: u8, ms: u64, name: &str, attributes: &[(&'static str, SpanValue)]) -> SpanRecord {
        let context = TraceContext { trace: [1; 16], span: [id; 8], is_sampled: true, state: None };
        SpanRecord {
            name: name.to_owned(),
            kind: if parent == 0 { SpanKind::Server } else { SpanKind::Internal },
            context,
            parent: Some([parent; 8]),
            start: 5 * MILLISECOND,
            end: (5 + ms) * MILLISECOND,
            attributes: attributes.to_vec(),
            has_failed: false,
        }
    }

    fn call(id: u8, parent: u8, ms: u64, action: &str, outcome: &str) -> SpanRecord {
        let texts = [(names::FACADE, "notes"), (names::ACTION, action), (names::OUTCOME, outcome)];
        let attributes = texts.map(|(name, text)| (name, SpanValue::Text(text.to_owned())));
        span(id, parent, ms, "call", &attributes)
    }

    #[test]
    fn a_call_has_a_line_of_its_parts() {
        let text = |text: &str| SpanValue::Text(text.to_owned());
        let used = [
            (names::CPU, SpanValue::Float(0.0021)),
            (names::CPU_LIMIT, SpanValue::Float(0.25)),
            (names::MEMORY, SpanValue::Integer(60 << 20)),
            (names::MEMORY_LIMIT, SpanValue::Integer(64 << 20)),
        ];
        let spans = [
            span(3, 2, 4, names::PERMIT_SPAN, &[]),
            span(5, 4, 1, "state get", &[(names::STATE, text("get"))]),
            span(6, 4, 2, "state commit", &[(names::STATE, text("commit"))]),
            span(7, 4, 30, "GET", &[(names::HTTP_METHOD, text("GET"))]),
            call(8, 4, 7, "count", "not_found"),
            span(4, 2, 45, "sandbox notes", &used),
            call(2, 1, 50, "add", "ok"),
            span(1, 0, 51, "tools/call notes", &[]),
        ];
        let mut open = HashMap::new();
        let ended: Vec<_> = spans.iter().filter_map(|span| fold(&mut open, span)).collect();
        let lines: Vec<_> =
            ended.iter().flat_map(|call| [Some(call.render()), call.hint()]).flatten().collect();
        insta::assert_snapshot!(lines.join("\n"));
        assert_eq!(open, HashMap::new(), "nothing is kept of a request that has ended");
    }

    #[test]
    fn abandoned_spans_take_bounded_memory() {
        let mut open = HashMap::new();
        for id in 0..(2 * MAX_OPEN as u64) {
            let mut span = span(1, 1, 1, "state get", &[]);
            span.parent = Some(id.to_be_bytes());
            assert_eq!(fold(&mut open, &span), None);
        }
        assert_eq!(open.len(), MAX_OPEN);
    }
}
