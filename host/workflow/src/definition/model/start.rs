//! How a workflow starts by itself.

use loggia_facade::Object;
use serde::{Deserialize, Serialize};

/// `runAs`, `schedule` and `hook`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StartSettings {
    /// Name of the service identity.
    pub service: String,
    /// Times at which it starts.
    pub schedule: Option<ScheduleSettings>,
    /// Parameter that takes what is posted to its hook.
    pub hook: Option<String>,
}

/// `schedule`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ScheduleSettings {
    /// Cron expression of five fields.
    pub cron: String,
    /// IANA name of the time zone.
    pub time_zone: String,
    /// Parameters of each run.
    pub params: Object,
}
