//! Limits of a call, and the limiter that enforces those of memory.

use std::time::Duration;

use loggia_facade::Limit;
use loggia_text::units::{format_bytes, format_duration};
use wasmtime::ResourceLimiter;

/// Limits of a plugin. The defaults are those of DESIGN §6.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginLimits {
    /// Bytes of the plugin's file.
    pub artifact: u64,
    /// Limits of compiling it.
    pub compile: CompileLimits,
    /// Bytes, summed over all linear memories of a call: a limit per memory would be useless, since a component may have
    /// thousands.
    pub memory: usize,
    /// Elements, summed over all tables of a call.
    pub tables: usize,
    /// Handles that a call may hold at once: files, requests, streams. The machine may allow fewer: see `Engine::handles`.
    pub handles: usize,
    /// Bytes that a guest may pass to the host at once: in one call of a host function, or as its answer. Stops a guest that
    /// makes the host copy its whole memory; writes to files are split into far smaller pieces.
    pub host_data: usize,
    /// Bytes of randomness that a guest may ask for at once.
    pub random: u64,
    /// Budget of an action that ends within its request.
    pub call: CallBudget,
    /// Budget of a long-running action.
    pub long: CallBudget,
    /// Budget of `describe` and all `schema` calls of one reading together.
    pub describe: CallBudget,
    /// Bytes of a result: its JSON and its content.
    pub result: usize,
    /// Bytes of log lines, stdout and stderr of a call, with an overhead per line; the rest is dropped and counted.
    pub logs: usize,
    /// Log lines of a plugin per second, over all of its calls; lines above the rate are dropped and counted.
    pub log_rate: u32,
    /// Bytes that a call may write to files.
    pub written: u64,
    /// Files and directories that a call may have open at once.
    pub descriptors: usize,
    /// Limits of its requests.
    pub http: loggia_egress::EgressLimits,
}

/// Limits of the compiling child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileLimits {
    /// CPU time. Wall time may be half as much again. An 18 MB Python guest takes 36 s.
    pub cpu: Duration,
    /// Bytes of address space.
    pub memory: u64,
}

/// The two clocks of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallBudget {
    /// CPU time, including that of host calls, also on other threads (files, state).
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
            http: loggia_egress::EgressLimits::default(),
        }
    }
}

impl PluginLimits {
    /// Returns the budget of an action, with the keys that change its two clocks.
    pub fn budget(&self, long_running: bool) -> (CallBudget, Limit, Limit) {
        let (budget, cpu, wall) = if long_running {
            (self.long, "limits.long-cpu", "limits.long-wall")
        } else {
            (self.call, "limits.cpu", "limits.wall")
        };
        let limit = |key, value| Limit { key, value: format_duration(value) };
        (budget, limit(cpu, budget.cpu), limit(wall, budget.wall))
    }

    pub(crate) fn memory_limit(&self) -> Limit {
        Limit { key: "limits.memory", value: format_bytes(self.memory as u64) }
    }

    pub(crate) fn tables_limit(&self) -> Limit {
        Limit { key: "limits.tables", value: self.tables.to_string() }
    }

    pub(crate) fn handles_limit(&self) -> Limit {
        Limit { key: "limits.handles", value: self.handles.to_string() }
    }

    /// Returns the limit, but never less than a result takes: the error of a result's own limit is more helpful.
    pub(crate) fn host_data(&self) -> usize {
        self.host_data.max(self.result + (64 << 10))
    }

    pub(crate) fn host_data_limit(&self) -> Limit {
        Limit { key: "limits.host-data", value: format_bytes(self.host_data() as u64) }
    }

    pub(crate) fn random_limit(&self) -> Limit {
        Limit { key: "limits.random", value: format_bytes(self.random) }
    }

    pub(crate) fn result_limit(&self) -> Limit {
        Limit { key: "limits.result", value: format_bytes(self.result as u64) }
    }

    pub(crate) fn describe_limit(&self) -> Limit {
        Limit { key: "limits.describe-cpu", value: format_duration(self.describe.cpu) }
    }
}

/// The most elements that a policy may allow a table. Determines how much address space the pool reserves.
pub const TABLES_CEILING: usize = 1_000_000;
/// Core instances of a call. A Rust guest has 3, a Python guest about twenty.
pub const CORE_INSTANCES: u32 = 48;
/// Memories of a call. A JavaScript guest has 3.
pub const MEMORIES: u32 = 4;
/// Tables of a call.
pub const TABLES: u32 = 16;

/// Actions of a facade. More are refused before their schemas are read.
pub(crate) const ACTIONS: usize = 64;
/// Bytes of one action's schemas and examples.
pub(crate) const SCHEMA_BYTES: usize = 64 << 10;
/// Bytes of a whole surface, before it is parsed.
pub(crate) const SURFACE_BYTES: usize = 512 << 10;

/// Bytes that a log line counts beside its text.
pub(crate) const LINE_OVERHEAD: usize = 64;

/// Sums the sizes of a guest's memories and tables, and records which limit was hit: a Rust guest whose allocation fails
/// aborts, which otherwise looks like a panic.
#[derive(Debug)]
pub(crate) struct MemoryLimiter {
    memory: Sum,
    tables: Sum,
}

#[derive(Debug)]
struct Sum {
    used: usize,
    most: usize,
    hit: bool,
}

impl Sum {
    fn new(most: usize) -> Self {
        Self { used: 0, most, hit: false }
    }

    fn grow(&mut self, current: usize, desired: usize) -> bool {
        let used = self.used.saturating_add(desired.saturating_sub(current));
        if used > self.most {
            self.hit = true;
            return false;
        }
        self.used = used;
        true
    }
}

impl MemoryLimiter {
    pub(crate) fn new(limits: &PluginLimits) -> Self {
        Self { memory: Sum::new(limits.memory), tables: Sum::new(limits.tables) }
    }

    /// True if the guest asked for more memory than it may have.
    pub(crate) fn memory_hit(&self) -> bool {
        self.memory.hit
    }

    /// True if the guest asked for larger tables than it may have.
    pub(crate) fn tables_hit(&self) -> bool {
        self.tables.hit
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.memory.grow(current, desired))
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.tables.grow(current, desired))
    }

    fn instances(&self) -> usize {
        CORE_INSTANCES as usize
    }

    fn tables(&self) -> usize {
        TABLES as usize
    }

    fn memories(&self) -> usize {
        MEMORIES as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_summed_over_all_memories() {
        let mut limiter = MemoryLimiter::new(&PluginLimits { memory: 100, ..PluginLimits::default() });
        let mut grow = |from, to| limiter.memory_growing(from, to, None).unwrap();
        assert!(grow(0, 60), "a first memory");
        assert!(!grow(0, 60), "a second that would make 120");
        assert!(grow(0, 40), "a third that just fits");
        assert!(!grow(60, 61));
        assert!(limiter.memory_hit() && !limiter.tables_hit());
    }
}
