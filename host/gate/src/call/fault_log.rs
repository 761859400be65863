//! Faults in the log.

use loggia_facade::Fault;
use loggia_text::printable;

/// What the operator sees of a fault; the caller sees only its sentence. Guests have a part in these texts, so each
/// line of them stays on a line of its own.
pub(super) fn log_fault(fault: &Fault) {
    let (facade, kind) = (fault.facade.as_str(), fault.kind.as_str());
    tracing::warn!(facade, kind, "{}", printable(&fault.message));
    for line in fault.log.iter().flat_map(|log| log.lines()) {
        tracing::debug!(facade, "{}", printable(line));
    }
}
