//! Facades and their files, with their state and its reason.

use axum::{Extension, extract::State as Axum};
use loggia_gate::{call::FacadeStatus, flow::FacadeMeters};
use maud::{Markup, html};

use super::{
    context::{PageContext, PageExtract},
    layout::{PageFrame, live_part},
    session::OperatorSession,
    text::{BadgeTone, badge, format_latency, untrusted, untrusted_prose},
};
use crate::load::{LoadState, OfferStatus};

/// Files that are listed, those with problems first.
const LISTED: usize = 500;

/// Shows the page.
pub(super) async fn show(
    Axum(context): PageExtract,
    Extension(session): Extension<OperatorSession>,
) -> Markup {
    let frame = PageFrame { path: "/operator/facades", title: "Facades", notice: None };
    frame.render(&session, &live_part("facades", &render_table(&context)))
}

/// State of a facade in words, and the reason that the state alone does not tell.
fn describe(offer: &OfferStatus, status: Option<&FacadeStatus>) -> (Markup, Option<&'static str>) {
    let state = offer.state.as_str();
    match (offer.state, status.map_or(0, |status| status.breaker)) {
        (LoadState::Serving, 2) => (
            badge(BadgeTone::Warning, "breaker open"),
            Some("it faulted repeatedly; calls are refused for a while (limits.breaker-faults)"),
        ),
        (LoadState::Serving, 1) => {
            (badge(BadgeTone::Busy, "trying again"), Some("it faulted repeatedly; one call is tried"))
        }
        (LoadState::Serving, _) if offer.why.is_some() => {
            (badge(BadgeTone::Warning, "serving in part"), None)
        }
        (LoadState::Serving, _) => (badge(BadgeTone::Good, state), None),
        (LoadState::Stale, _) => (badge(BadgeTone::Warning, state), Some("the previous version serves")),
        (LoadState::Pending, _) => (badge(BadgeTone::Warning, state), None),
        (LoadState::Failed | LoadState::Refused, _) => (badge(BadgeTone::Bad, state), None),
    }
}

fn render_table(context: &PageContext) -> Markup {
    let (report, _) = context.readiness();
    let (gate, meters) = (context.gate.snapshot(), context.gate.meters().calls.load());
    let mut files: Vec<&OfferStatus> = report.files.iter().collect();
    files.sort_by(|a, b| (a.state, a.why.is_none(), &a.file).cmp(&(b.state, b.why.is_none(), &b.file)));
    let more = files.len().saturating_sub(LISTED);
    html! {
        @if let Some(error) = &report.folder_error { p.notice.bad { (untrusted_prose(error)) } }
        @if files.is_empty() { p { "No plugin, workflow or upstream is served." } }
        @else {
            div.table role="region" aria-label="Facades" tabindex="0" { table {
                thead { tr {
                    th scope="col" { "Facade" } th scope="col" { "State" } th scope="col" { "File" } th scope="col" { "Reason" }
                    th.number scope="col" { "Running" } th.number scope="col" { "Queued" }
                    th.number scope="col" { "Calls" } th.number scope="col" { "Failed" } th.number scope="col" { "Mean" }
                } }
                tbody { @for offer in files.iter().take(LISTED) {
                    @let name = offer.facade.as_deref().unwrap_or("–");
                    @let status = gate.facades.iter().find(|(known, _)| known == name).map(|(_, status)| status);
                    @let (state, hint) = describe(offer, status);
                    @let counts = meters.get(name).map(|meters| count_calls(meters));
                    tr {
                        th scope="row" { (untrusted(name)) }
                        td { (state) }
                        td { (untrusted(&offer.file)) }
                        td.prose { @if let Some(why) = &offer.why { (untrusted_prose(why)) } @if let Some(hint) = hint { " " (hint) } }
                        td.number { @if let Some(counts) = &counts { (counts.running) } }
                        td.number { @if let Some(status) = status { (status.queued) } }
                        td.number { @if let Some(counts) = &counts { (counts.calls) } }
                        td.number { @if let Some(counts) = &counts { (counts.failed) } }
                        td.number { @if let Some(mean) = counts.and_then(|counts| counts.mean) { (format_latency(mean)) } }
                    }
                } }
            } }
            @if more > 0 { p.more { (more) " more files are not listed." } }
        }
    }
}

/// Calls of a facade since the start.
struct FacadeCalls {
    running: u64,
    calls: u64,
    failed: u64,
    /// Seconds.
    mean: Option<f64>,
}

#[allow(clippy::cast_precision_loss, reason = "counts for a mean")]
fn count_calls(meters: &FacadeMeters) -> FacadeCalls {
    let (seconds, buckets) = meters.times.totals();
    let ended: u64 = buckets.iter().sum();
    let mut counted = FacadeCalls {
        running: meters.running.get(),
        calls: 0,
        failed: 0,
        mean: (ended > 0).then(|| seconds / ended as f64),
    };
    for outcomes in meters.actions.load().values() {
        for (outcome, count) in outcomes.counts() {
            counted.calls += count;
            if outcome != "ok" {
                counted.failed += count;
            }
        }
    }
    counted
}
