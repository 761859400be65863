//! Systems without `/proc`.

use std::{
    io::{self, ErrorKind},
    time::SystemTime,
};

use loggia_telemetry::metrics::ProcessStats;

/// Fails: the metrics have no family `process_*` then.
pub(super) fn process_stats(_started: SystemTime) -> io::Result<ProcessStats> {
    Err(io::Error::new(ErrorKind::Unsupported, "it is available on Linux only: use the tools of this system"))
}
