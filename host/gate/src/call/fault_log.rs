//! Faults in the log.

use loggia_facade::{Fault, FaultKind};
use loggia_text::printable;

/// Logs a fault and the guest's last log lines for the operator; the caller sees only the message. Guests contribute to
/// these texts, so control characters are escaped and each line is one event.
pub(super) fn log_fault(fault: &Fault) {
    let (facade, kind) = (fault.facade.as_str(), fault.kind.as_str());
    tracing::warn!(facade, kind, "{}", printable(&fault.message));
    for line in &fault.trace {
        tracing::warn!(facade, "  in {}", printable(line));
    }
    for line in fault.log.iter().flat_map(|log| log.lines()) {
        match fault.kind {
            // It is the only reason.
            FaultKind::BadOutput => tracing::warn!(facade, "  {}", printable(line)),
            _ => tracing::debug!(facade, "{}", printable(line)),
        }
    }
}
