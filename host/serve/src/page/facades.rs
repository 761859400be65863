//! Facades and their files, with their state and its reason.

use axum::{Extension, extract::State as Axum};
use loggia_gate::{
    call::{FacadeStatus, GuardCondition, GuardStatus},
    flow::FacadeMeters,
    guard::GuardLook,
};
use loggia_load::{LoadState, OfferStatus};
use maud::{Markup, html};

use super::{
    context::{PageContext, PageExtract},
    layout::{PageFrame, live_part},
    session::OperatorSession,
    text::{BadgeTone, badge, format_latency, untrusted, untrusted_prose},
};

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
        // The reason of a stale one says that another version serves.
        (LoadState::Stale | LoadState::Pending, _) => (badge(BadgeTone::Warning, state), None),
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
        @if !gate.guards.is_empty() { (render_guards(&gate.guards)) }
    }
}

/// Guards, with what they did since the start.
fn render_guards(guards: &[GuardStatus]) -> Markup {
    let count = |guard: &GuardStatus, ends: &[GuardLook]| -> u64 {
        guard.looks.iter().filter(|(look, _)| ends.contains(look)).map(|(_, count)| count).sum()
    };
    html! {
        h2 { "Guards" }
        div.table role="region" aria-label="Guards" tabindex="0" { table {
            thead { tr {
                th scope="col" { "Guard" } th scope="col" { "State" } th scope="col" { "Facades" } th scope="col" { "Version" }
                th.number scope="col" { "Allowed" } th.number scope="col" { "Replaced" }
                th.number scope="col" { "Refused" } th.number scope="col" { "Blocked" }
            } }
            tbody { @for guard in guards {
                tr {
                    th scope="row" { (untrusted(&guard.name)) }
                    td { (match guard.condition {
                        GuardCondition::Ready(_) => badge(BadgeTone::Good, "ready"),
                        GuardCondition::Loading => badge(BadgeTone::Busy, "loading"),
                        GuardCondition::Failed => badge(BadgeTone::Bad, "failed: no call passes"),
                    }) }
                    td.prose { @if guard.is_everywhere { "all" } @else { (untrusted_prose(&guard.facades.join(", "))) } }
                    td { @if let GuardCondition::Ready(version) = &guard.condition { code { (untrusted(version)) } } }
                    td.number { (count(guard, &[GuardLook::Allowed])) }
                    td.number { (count(guard, &[GuardLook::Replaced])) }
                    td.number { (count(guard, &[GuardLook::Refused])) }
                    td.number { (count(guard, &[GuardLook::Failed, GuardLook::Missing])) }
                }
            } }
        } }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_are_listed_with_their_looks() {
        let guard = |name: &str, is_everywhere, condition, looks| GuardStatus {
            name: name.to_owned(),
            is_everywhere,
            facades: vec!["mail".to_owned(), "web".to_owned()],
            condition,
            looks,
        };
        let ready = GuardCondition::Ready("sha256:0123".to_owned());
        let guards = [
            guard("mask", true, ready, vec![(GuardLook::Allowed, 7), (GuardLook::Replaced, 2)]),
            guard("mark", false, GuardCondition::Loading, Vec::new()),
            guard(
                "<b>",
                false,
                GuardCondition::Failed,
                vec![(GuardLook::Failed, 1), (GuardLook::Missing, 3), (GuardLook::Refused, 5)],
            ),
        ];
        insta::assert_snapshot!(render_guards(&guards).into_string().replace("><", ">\n<"));
    }
}
