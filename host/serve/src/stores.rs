//! Opens what the gate records: runs and approvals, in the state folder or a database.

use std::{path::Path, sync::Arc};

use loggia_gate::{
    approval::{ApprovalDesk, ApprovalStore},
    call::GateStores,
    journal::{Journal, RetentionLimits},
};
use loggia_journal::SqliteJournal;
use loggia_load::places;
use loggia_postgres::{
    DatabaseAccess, DatabaseOptions, HostLabel, JournalOptions, PostgresError, PostgresJournal,
};

use super::approvals::{ApprovalOptions, OperatorNotice};

/// Opens the journal of a database. Whoever names one wants no host without it.
pub(super) fn open_database(
    database: &DatabaseOptions,
) -> Result<(DatabaseAccess, Arc<PostgresJournal>), PostgresError> {
    let access = DatabaseAccess::new(database)?;
    tracing::info!("runs and the state of plugins are in the {}", access.name());
    let label = HostLabel { name: machine_name(), version: env!("CARGO_PKG_VERSION").to_owned() };
    let journal = PostgresJournal::open_as(access.clone(), JournalOptions::default(), label)?;
    Ok((access, Arc::new(journal)))
}

/// Name of the machine with the number of this process, for the list of servers.
fn machine_name() -> String {
    let read = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let stated = || ["HOSTNAME", "COMPUTERNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let machine = read().or_else(stated).unwrap_or_else(|| "server".to_owned());
    format!("{}:{}", machine.trim(), std::process::id())
}

/// Returns a journal as the stores of a gate. `place` is the option by which commands find its records, after a space.
pub(super) fn to_stores<J: Journal + ApprovalStore>(
    journal: Arc<J>,
    approvals: Option<&ApprovalOptions>,
    place: String,
) -> GateStores {
    let desk = approvals.map(|approvals| {
        let notice = Arc::new(OperatorNotice::new(approvals.webhook.clone(), place));
        let store = Arc::clone(&journal) as Arc<dyn ApprovalStore>;
        let page = approvals.page.as_ref().map(ToString::to_string);
        Arc::new(ApprovalDesk::new(store, approvals.expires, Some(notice)).with_page(page))
    });
    GateStores { journal: Some(journal), approvals: desk, ..GateStores::default() }
}

/// Returns the option by which commands find the records of a host, after a space: the settings file that names a database, or the state
/// folder. Empty where they find them by themselves.
pub(super) fn place_option(settings: Option<&Path>, state: &Path) -> String {
    match settings {
        Some(file) => format!(" --config {}", file.display()),
        None if places::state().is_ok_and(|folder| folder == state) => String::new(),
        None => format!(" --state {}", state.display()),
    }
}

/// Opens the journal of a state folder. Without it, runs end with the host.
pub(super) fn open_journal(state: &Path) -> Option<Arc<SqliteJournal>> {
    match SqliteJournal::open(state, RetentionLimits::default()) {
        Ok(journal) => Some(Arc::new(journal)),
        Err(error) => {
            tracing::warn!(
                "runs will not survive a restart: failed to open the journal in {}: {error}",
                state.display()
            );
            None
        }
    }
}
