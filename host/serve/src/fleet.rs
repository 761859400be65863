//! A host as one of several that share a database.

use std::{io, sync::Arc};

use loggia_gate::mail::HostMail;
use loggia_load::{HostGenerations, LoadStatus, REPORT_PERIOD, SwapAgreement};
use loggia_postgres::{DatabaseAccess, PostgresMail};
use loggia_server::{FleetMember, VersionReport};
use tokio_util::sync::CancellationToken;

/// Starts the exchange of messages of a host, and the agreement with the others on what is served.
///
/// # Errors
///
/// If no thread can be started.
pub fn start_fleet(access: DatabaseAccess, host: &str) -> io::Result<(FleetMember, Arc<SwapAgreement>)> {
    let (mail, inbox) = PostgresMail::start(access, host)?;
    let mail: Arc<dyn HostMail> = Arc::new(mail);
    let sender = Arc::clone(&mail);
    let agreement = Arc::new(SwapAgreement::new(Box::new(move |own| {
        let HostGenerations { served, ready, has_failed } = own;
        VersionReport { from: sender.address().to_owned(), served, ready, has_failed }.send(&*sender);
    })));
    let noted = Arc::clone(&agreement);
    let versions = Arc::new(move |report| {
        let VersionReport { from, served, ready, has_failed } = report;
        noted.note(&from, HostGenerations { served, ready, has_failed });
    });
    Ok((FleetMember { mail, inbox, versions }, agreement))
}

/// Reports to the other hosts what this one serves, again and again, and notes whether they have left it behind.
pub async fn report_versions(
    agreement: Arc<SwapAgreement>,
    status: Arc<LoadStatus>,
    stop: CancellationToken,
) {
    loop {
        agreement.report();
        let is_behind = agreement.is_behind();
        if is_behind && !status.is_behind() {
            tracing::error!(
                "the other servers serve newer versions of plugins, which do not load here: see the log above"
            );
        }
        status.set_behind(is_behind);
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(REPORT_PERIOD) => {}
        }
    }
}
