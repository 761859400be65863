//! Limits as enforcement uses them: budgets, and what a fault names.

use std::time::Duration;

use loggia_egress::EgressLimits;
use loggia_facade::Limit;
use loggia_text::units::{format_bytes, format_duration};

use super::limit_table::{PluginLimits, limit_names};

/// Limits of the compiler process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileLimits {
    /// CPU time. Wall-clock time is limited to 1.5 times as much.
    pub cpu: Duration,
    /// Bytes of address space.
    pub memory: u64,
}

/// Time limits of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallBudget {
    /// CPU time, including that of host functions on other threads (files, state).
    pub cpu: Duration,
    /// Wall-clock time.
    pub wall: Duration,
}

impl PluginLimits {
    /// Returns the limits of compiling the plugin.
    pub fn compile(&self) -> CompileLimits {
        CompileLimits { cpu: self.compile_cpu, memory: self.compile_memory }
    }

    /// Returns the limits of a call's HTTP requests.
    pub fn http(&self) -> EgressLimits {
        EgressLimits {
            requests: self.http_requests,
            at_once: self.http_at_once,
            request: self.http_request,
            response: self.http_response,
            time: self.http_time,
            redirects: self.http_redirects,
        }
    }

    /// Returns the budget of an action.
    pub fn budget(&self, long_running: bool) -> CallBudget {
        if long_running {
            CallBudget { cpu: self.long_cpu, wall: self.long_wall }
        } else {
            CallBudget { cpu: self.cpu, wall: self.wall }
        }
    }

    /// Returns the limit of an action's CPU time, for a fault.
    pub fn cpu_limit(&self, long_running: bool) -> Limit {
        let key = if long_running { limit_names::LONG_CPU } else { limit_names::CPU };
        Limit { key, value: format_duration(self.budget(long_running).cpu) }
    }

    /// Returns the limit of an action's wall-clock time, for a timeout.
    pub fn wall_limit(&self, long_running: bool) -> Limit {
        let key = if long_running { limit_names::LONG_WALL } else { limit_names::WALL };
        Limit { key, value: format_duration(self.budget(long_running).wall) }
    }

    /// Returns the limit of memory, for a fault.
    pub fn memory_limit(&self) -> Limit {
        Limit { key: limit_names::MEMORY, value: format_bytes(self.memory as u64) }
    }

    /// Returns the limit of table elements, for a fault.
    pub fn tables_limit(&self) -> Limit {
        Limit { key: limit_names::TABLES, value: self.tables.to_string() }
    }

    /// Returns the limit of handles, for a fault.
    pub fn handles_limit(&self) -> Limit {
        Limit { key: limit_names::HANDLES, value: self.handles.to_string() }
    }

    /// Returns the limit of data passed to the host at once, but at least the size of a result: exceeding `result` gives
    /// the more helpful error.
    pub fn host_data(&self) -> usize {
        self.host_data.max(self.result + (64 << 10))
    }

    /// Returns the limit of data passed to the host at once, for a fault.
    pub fn host_data_limit(&self) -> Limit {
        Limit { key: limit_names::HOST_DATA, value: format_bytes(self.host_data() as u64) }
    }

    /// Returns the limit of random bytes, for a fault.
    pub fn random_limit(&self) -> Limit {
        Limit { key: limit_names::RANDOM, value: format_bytes(self.random) }
    }

    /// Returns the limit of the size of a result, for a fault.
    pub fn result_limit(&self) -> Limit {
        Limit { key: limit_names::RESULT, value: format_bytes(self.result as u64) }
    }

    /// Returns the limit of CPU time of `describe`, for a fault.
    pub fn describe_limit(&self) -> Limit {
        Limit { key: limit_names::DESCRIBE_CPU, value: format_duration(self.describe_cpu) }
    }
}
