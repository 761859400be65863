//! Limits of a plugin, which the sandbox enforces.

use std::time::Duration;

use loggia_egress::EgressLimits;
use loggia_facade::Limit;
use loggia_text::units::{format_bytes, format_duration};

use super::limit_names;

/// Limits of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginLimits {
    /// Maximum size of the plugin's file, in bytes.
    pub artifact: u64,
    /// Limits of compiling it.
    pub compile: CompileLimits,
    /// Total bytes of all linear memories of a call. A limit per memory would be ineffective, since a component may have
    /// several.
    pub memory: usize,
    /// Total elements of all tables of a call.
    pub tables: usize,
    /// Concurrent handles of a call: files, requests, streams. The machine may allow fewer: see `Engine::handles`.
    pub handles: usize,
    /// Bytes that a guest may pass to the host in one call of a host function, or as its result. Prevents a guest from
    /// making the host copy its whole memory. Writes to files are split into far smaller chunks.
    pub host_data: usize,
    /// Random bytes that a guest may request at once.
    pub random: u64,
    /// Budget of an action that ends within its request.
    pub call: CallBudget,
    /// Budget of a long-running action.
    pub long: CallBudget,
    /// Budget of `describe` and all `schema` calls of one load together.
    pub describe: CallBudget,
    /// Bytes of the JSON and the content of a result.
    pub result: usize,
    /// Bytes of log lines, stdout and stderr of a call, including an overhead per line. Excess output is dropped and
    /// counted.
    pub logs: usize,
    /// Log lines of a plugin per second, over all of its calls. Excess lines are dropped and counted.
    pub log_rate: u32,
    /// Bytes that a call may write to files.
    pub written: u64,
    /// Concurrently open files and directories of a call.
    pub descriptors: usize,
    /// Limits of HTTP requests.
    pub http: EgressLimits,
}

/// Limits of the compiler process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileLimits {
    /// CPU time. Wall-clock time is limited to 1.5 times as much. An 18 MB Python guest takes 36 s.
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

impl Default for PluginLimits {
    fn default() -> Self {
        Self {
            artifact: 32 << 20,
            compile: CompileLimits { cpu: Duration::from_secs(120), memory: 512 << 20 },
            memory: 64 << 20,
            tables: 100_000,
            handles: 512,
            host_data: 4 << 20,
            random: 64 << 10,
            call: CallBudget { cpu: Duration::from_secs(2), wall: Duration::from_secs(30) },
            long: CallBudget { cpu: Duration::from_secs(60), wall: Duration::from_secs(30 * 60) },
            describe: CallBudget { cpu: Duration::from_millis(250), wall: Duration::from_secs(5) },
            result: 1 << 20,
            logs: 64 << 10,
            log_rate: 200,
            written: 16 << 20,
            descriptors: 64,
            http: EgressLimits::default(),
        }
    }
}

impl PluginLimits {
    /// Returns the budget of an action.
    pub fn budget(&self, long_running: bool) -> CallBudget {
        if long_running { self.long } else { self.call }
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
        Limit { key: limit_names::DESCRIBE_CPU, value: format_duration(self.describe.cpu) }
    }
}
