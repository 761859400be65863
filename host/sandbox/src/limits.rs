//! Limits of surfaces, and the limiter of a call's memory.

use loggia_policy::model::{
    PluginLimits,
    ceilings::{CORE_INSTANCES, MEMORIES, TABLES},
};
use wasmtime::ResourceLimiter;

/// Actions of a facade. More are refused before their schemas are read.
pub(crate) const ACTIONS: usize = 64;
/// Bytes of one action's schemas and examples.
pub(crate) const SCHEMA_BYTES: usize = 64 << 10;
/// Bytes of a whole surface, before it is parsed.
pub(crate) const SURFACE_BYTES: usize = 512 << 10;

/// Bytes counted for a log line in addition to its text.
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

    /// Returns the size of all memories, which never shrink.
    pub(crate) fn memory_used(&self) -> usize {
        self.memory.used
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
