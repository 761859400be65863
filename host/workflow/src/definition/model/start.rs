//! How a workflow starts by itself.

use loggia_facade::Object;
use serde::{Deserialize, Serialize};

/// `runAs`, `schedule`, `hook` and `onState`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StartSettings {
    /// Name of the service identity.
    pub service: String,
    /// Times at which it starts.
    pub schedule: Option<ScheduleSettings>,
    /// Parameter that takes what is posted to its hook.
    pub hook: Option<String>,
    /// State whose changes start it.
    pub on_state: Option<StateTrigger>,
}

/// `onState`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StateTrigger {
    /// Facade of the plugin.
    pub facade: String,
    /// Start of the keys that count.
    pub prefix: String,
    /// Parameter that takes the changed keys.
    pub parameter: String,
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
