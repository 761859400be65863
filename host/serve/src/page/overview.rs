//! The overview: state, numbers and charts.

use std::time::Instant;

use axum::{Extension, extract::State as Axum};
use loggia_gate::approval::ApprovalState;
use maud::{Markup, html};

use super::{
    chart::{ChartSeries, render_chart},
    context::{PageContext, PageExtract},
    layout::{PageFrame, live_part},
    samples::MOST,
    session::OperatorSession,
    text::{BadgeTone, badge, format_age, format_latency, format_rate, untrusted_prose},
};
use crate::approvals::now_ms;

/// Approvals among which open ones are counted.
const LISTED: usize = 200;

/// Shows the page.
pub(super) async fn show(
    Axum(context): PageExtract,
    Extension(session): Extension<OperatorSession>,
) -> Markup {
    let open = count_open(&context).await;
    let frame = PageFrame { path: "/operator/", title: "Overview", notice: None };
    let content = html! {
        (live_part("state", &render_state(&context, open)))
        (live_part("charts", &render_charts(&context)))
    };
    frame.render(&session, &content)
}

/// Counts open approvals. `None` if the host keeps none.
async fn count_open(context: &PageContext) -> Option<usize> {
    let stored = context.desk()?.list(LISTED).await;
    let stored = stored.inspect_err(|error| tracing::error!("the approvals cannot be read: {error}")).ok()?;
    let now = now_ms();
    Some(stored.iter().filter(|stored| stored.state(now) == ApprovalState::Open).count())
}

fn render_state(context: &PageContext, open: Option<usize>) -> Markup {
    let (_, readiness) = context.readiness();
    let gate = context.gate.snapshot();
    let resting = gate.facades.iter().filter(|(_, status)| status.breaker == 2).count();
    let (tone, state) = match (&readiness.why, readiness.draining) {
        (_, true) => (BadgeTone::Warning, "shutting down"),
        (None, _) => (BadgeTone::Good, "ready"),
        (Some(_), _) => (BadgeTone::Bad, "not ready"),
    };
    html! {
        p { (badge(tone, state)) " " @if let Some(why) = &readiness.why { (untrusted_prose(why)) } }
        dl.facts {
            div { dt { "Up" } dd { (format_age(context.uptime())) } }
            div { dt { "Version" } dd { (env!("CARGO_PKG_VERSION")) } }
            @if let Some(open) = open {
                div { dt { "Open approvals" } dd { a href="/operator/approvals" { (open) } } }
            }
            div { dt { "Facades" } dd { a href="/operator/facades" { (gate.facades.len()) }
                @if readiness.failed + readiness.stale + readiness.refused > 0 {
                    " " (badge(BadgeTone::Bad, &format!("{} with problems", readiness.failed + readiness.stale + readiness.refused)))
                }
                @if resting > 0 { " " (badge(BadgeTone::Warning, &format!("{resting} resting"))) }
            } }
            div { dt { "Runs" } dd { a href="/operator/runs" { (gate.running) " running, " (gate.waiting) " waiting" } } }
            div { dt { "Operators logged in" } dd { (context.sessions.count(Instant::now())) } }
        }
    }
}

fn render_charts(context: &PageContext) -> Markup {
    let points = context.samples.points();
    let series = |name, class, value: &dyn Fn(&super::samples::LoadPoint) -> Option<f64>| ChartSeries {
        name,
        class,
        values: points.iter().map(value).collect(),
    };
    let calls = [
        series("calls", "first", &|point| Some(point.calls)),
        series("failed", "second", &|point| Some(point.failed)),
    ];
    let latencies =
        [series("mean", "first", &|point| point.mean), series("95 % below", "second", &|point| point.p95)];
    html! {
        div.charts {
            (render_chart("Calls per second", &calls, MOST - 1, (1.0, format_rate)))
            (render_chart("Duration of calls", &latencies, MOST - 1, (0.001, format_latency)))
        }
    }
}
