//! Traces: the parts of a request as spans, in OpenTelemetry's terms.
//!
//! A span begins under a [`ParentSpan`], which its caller passed on, and is recorded when its [`ActiveSpan`] is dropped. Without a
//! [`SpanRecorder`] every parent is empty: beginning a span is then a test for null, and no name, time or attribute is computed.
//!
//! | file | concept |
//! |---|---|
//! | `context.rs` | ids of a trace as they travel between programs (W3C) |
//! | `span.rs` | spans, and what records them |
//! | `outcome.rs` | failures as `error.type` |
//! | `http_request.rs` | spans of HTTP requests that are sent |
//! | `names.rs` | all names of spans and attributes |

mod context;
mod http_request;
pub mod names;
mod outcome;
mod span;

pub use self::{
    context::TraceContext,
    http_request::{RequestPeer, begin_http, end_http},
    outcome::error_type,
    span::{ActiveSpan, ParentSpan, SpanKind, SpanRecord, SpanRecorder, SpanValue},
};
