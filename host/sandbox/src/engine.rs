//! The one place that builds a `wasmtime::Config`.

use std::{
    hash::{Hash, Hasher},
    num::NonZeroUsize,
    sync::Arc,
};

use loggia_policy::model::{
    PluginLimits,
    ceilings::{
        CORE_INSTANCES, HANDLES_CEILING, MEMORIES, MEMORY_CEILING, STACK_CEILING, TABLES, TABLES_CEILING,
    },
};
use wasmtime::{
    Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig, Strategy, WasmBacktraceDetails,
    WasmFeatures, component::Linker,
};

use crate::{
    EngineError, abi,
    after_response::AfterResponse,
    guest::GuestState,
    proposals,
    shelf::PreparedShelf,
    ticker::{EpochTicker, RunningGuard},
};

/// Instances that can live at once: 64 running and 64 parked, which are the gate's own limits, 12 that wait for calls, and a few that load
/// or have answered.
pub const INSTANCES: u32 = 160;
/// Of this many instances, one may wait for a call.
const PREPARED_SHARE: usize = 20;
/// Of this many instances, one that is made quickly may wait for a call.
const QUICK_SHARE: usize = 40;

/// Default stack of guest code, in bytes. Not a policy's to change: wasmtime has one limit for all code that an engine
/// runs.
pub const STACK: usize = 512 << 10;

/// Host functions run on the same stack, after the guest's part of it.
const HOST_STACK: usize = (2 << 20) - STACK;

/// Settings of an engine.
#[derive(Debug, Clone, Copy)]
pub struct EngineOptions {
    /// Bytes of stack of guest code.
    pub stack: usize,
    /// Instances that can live at once. A small number fits into the address space that valgrind leaves, 16 GiB each.
    pub instances: u32,
    /// What backtraces of traps name.
    pub backtraces: BacktraceDetail,
    /// Whether responses are sent before what their calls leave behind is dropped, and before the next instance is made if that is
    /// quick. For one client: with many, that keeps the requests of others waiting, and takes more time in all.
    pub answers_first: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            stack: STACK,
            instances: INSTANCES,
            backtraces: BacktraceDetail::Functions,
            answers_first: false,
        }
    }
}

/// What backtraces of traps name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BacktraceDetail {
    /// The last functions.
    Functions,
    /// All functions: for profiles.
    Stacks,
    /// All functions, and the source lines of guests with debug information, which is read at each trap: for authors, who trust
    /// their own plugins.
    Lines,
}

/// What code is compiled for: an engine runs only code for its own target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeTarget {
    /// Address space of the process that runs it.
    pub space: AddressSpace,
    /// What it keeps for backtraces.
    pub backtraces: BacktraceDetail,
}

#[cfg(test)]
impl CodeTarget {
    /// A target that every machine has the address space for.
    pub(crate) const SHORT: Self =
        Self { space: AddressSpace::Short, backtraces: BacktraceDetail::Functions };
}

/// An engine with everything linked that a plugin may import. Cheap to clone.
#[derive(Clone)]
pub struct SandboxEngine {
    pub(crate) state: Arc<EngineState>,
}

pub(crate) struct EngineState {
    pub engine: wasmtime::Engine,
    pub linker: Linker<GuestState>,
    ticker: EpochTicker,
    hash: String,
    target: CodeTarget,
    /// Handles that a guest may hold at once, whatever its policy says: a share of the machine's descriptors.
    pub handles: usize,
    /// Bytes of stack of guest code.
    pub stack: usize,
    /// Instances that wait for calls: those that take long to make, and the others.
    pub prepared: PreparedShelf,
    pub quick: PreparedShelf,
    /// Which call may leave work until its response was sent.
    pub after_response: AfterResponse,
}

impl SandboxEngine {
    /// Sets the engine up: with pooled instances, or, where address space is short, with instances made on demand whose memories
    /// reserve none.
    ///
    /// # Errors
    ///
    /// If neither is possible.
    pub fn new(options: EngineOptions) -> Result<Self, EngineError> {
        let EngineOptions { stack, instances, backtraces, answers_first } = options;
        let purpose = EngineUse::Run { stack: stack.clamp(1, STACK_CEILING), instances };
        let create = |space| {
            let target = CodeTarget { space, backtraces };
            wasmtime::Engine::new(&config(target, purpose)).map(|engine| (engine, target))
        };
        let created = create(AddressSpace::Ample).or_else(|error| {
            tracing::warn!("address space is short, so calls will be slower: {error:#}");
            create(AddressSpace::Short)
        });
        let (engine, target) = created.map_err(|e| EngineError(format!("{e:#}")))?;
        let mut linker = Linker::new(&engine);
        abi::link(&mut linker).map_err(|e| EngineError(format!("{e:#}")))?;
        let ticker = EpochTicker::start(engine.weak()).map_err(|e| EngineError(e.to_string()))?;
        let hash = compatibility(&engine);
        let state = EngineState {
            engine,
            linker,
            ticker,
            hash,
            target,
            handles: handles(),
            stack,
            prepared: PreparedShelf::new(instances as usize / PREPARED_SHARE),
            quick: PreparedShelf::new(if answers_first { instances as usize / QUICK_SHARE } else { 0 }),
            after_response: AfterResponse::new(answers_first),
        };
        Ok(Self { state: Arc::new(state) })
    }

    /// Hash of the engine's version and settings: code compiled with another one cannot be loaded.
    pub fn hash(&self) -> &str {
        &self.state.hash
    }

    /// What code must be compiled for.
    pub fn target(&self) -> CodeTarget {
        self.state.target
    }

    /// Number of handles that a call within these limits may hold.
    pub(crate) fn handles(&self, limits: &PluginLimits) -> usize {
        limits.handles.min(self.state.handles)
    }

    pub(crate) fn running(&self) -> RunningGuard {
        self.state.ticker.guard()
    }
}

/// Handles of one guest. They may be file descriptors of the host: all calls together must leave some for the host itself.
fn handles() -> usize {
    const MOST: usize = HANDLES_CEILING;
    const FOR_THE_HOST: u64 = 256;
    const CALLS: u64 = 64;
    let descriptors = loggia_system::descriptors::limit();
    let share = descriptors.map(|all| all.saturating_sub(FOR_THE_HOST) / CALLS);
    share.and_then(|share| usize::try_from(share).ok()).map_or(MOST, |share| share.clamp(16, MOST))
}

/// Address space of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressSpace {
    /// Each memory reserves the most that it could grow to, so that no access needs a check: 15 µs a call.
    Ample,
    /// Memories reserve only their size, and accesses are checked.
    Short,
}

/// Makes an engine that only compiles, in little address space, for an engine that runs its code.
pub(crate) fn compiler(target: CodeTarget) -> Result<wasmtime::Engine, wasmtime::Error> {
    wasmtime::Engine::new(&config(target, EngineUse::Compile))
}

/// Computes a hash that is equal for all engines that can run each other's code; hexadecimal.
pub(crate) fn compatibility(engine: &wasmtime::Engine) -> String {
    // Not a secret and not an address: 64 bits are enough to distinguish engine versions. The hasher's algorithm is
    // fixed by its name, unlike the standard library's default.
    let mut hasher = FnvHasher(0xcbf2_9ce4_8422_2325);
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

struct FnvHasher(u64);

impl Hasher for FnvHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Clone, Copy)]
enum EngineUse {
    Run { stack: usize, instances: u32 },
    Compile,
}

fn config(target: CodeTarget, purpose: EngineUse) -> Config {
    let mut config = Config::new();
    // Winch had most of 2026's sandbox escapes and cannot be interrupted.
    config.strategy(Strategy::Cranelift);
    config.epoch_interruption(true);
    if let EngineUse::Run { stack, .. } = purpose {
        config.max_wasm_stack(stack).async_stack_size(stack + HOST_STACK);
    }
    // No guest of ours uses the async component model; without it a call costs half.
    config.concurrency_support(false);
    let (frames, details) = match target.backtraces {
        BacktraceDetail::Functions => (16, WasmBacktraceDetails::Disable),
        BacktraceDetail::Stacks => (256, WasmBacktraceDetails::Disable),
        BacktraceDetail::Lines => (256, WasmBacktraceDetails::Enable),
    };
    config.wasm_backtrace_max_frames(NonZeroUsize::new(frames)).wasm_backtrace_details(details);
    // An allow-list: all other proposals are off, whatever this version of wasmtime enables.
    config.wasm_features(proposals::ENGINE, true);
    config.wasm_features(WasmFeatures::all().difference(proposals::ENGINE), false);
    if target.space == AddressSpace::Short {
        config.memory_reservation(0).memory_reservation_for_growth(1 << 20).memory_guard_size(64 << 10);
    } else if let EngineUse::Run { instances, .. } = purpose {
        let mut pool = PoolingAllocationConfig::new();
        pool.total_component_instances(instances)
            // The most that each call may have, so that no plugin's calls leave too little for another's.
            .total_core_instances(instances * CORE_INSTANCES)
            .total_memories(instances * MEMORIES)
            .total_tables(instances * TABLES)
            .total_stacks(instances)
            .max_memories_per_module(MEMORIES)
            .max_tables_per_module(TABLES)
            .max_memory_size(MEMORY_CEILING)
            .table_elements(TABLES_CEILING)
            // Resident memory is kept per slot, so few stay warm.
            .max_unused_warm_slots(16)
            .linear_memory_keep_resident(1 << 20)
            .table_keep_resident(64 << 10)
            .pagemap_scan(Enabled::Auto);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    }
    config
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn code_of_the_compiling_engine_runs_on_the_running_one() {
        let mut hashes = BTreeSet::new();
        for space in [AddressSpace::Ample, AddressSpace::Short] {
            for backtraces in [BacktraceDetail::Functions, BacktraceDetail::Lines] {
                for stack in [STACK, STACK_CEILING] {
                    let target = CodeTarget { space, backtraces };
                    let purpose = EngineUse::Run { stack, instances: INSTANCES };
                    let running = compatibility(&wasmtime::Engine::new(&config(target, purpose)).unwrap());
                    assert_eq!(compatibility(&compiler(target).unwrap()), running, "{target:?}");
                    hashes.insert(running);
                }
            }
        }
        assert_eq!(hashes.len(), 4, "each target has code of its own");
    }

    #[test]
    fn code_compiled_with_other_proposals_has_another_name_and_is_refused() {
        let purpose = EngineUse::Run { stack: STACK, instances: INSTANCES };
        let ours = wasmtime::Engine::new(&config(CodeTarget::SHORT, purpose)).unwrap();
        let mut other = config(CodeTarget::SHORT, EngineUse::Compile);
        other.wasm_features(WasmFeatures::TAIL_CALL, true);
        let other = wasmtime::Engine::new(&other).unwrap();
        assert_ne!(compatibility(&other), compatibility(&ours));
        let code = other.precompile_component(&wat::parse_str("(component)").unwrap()).unwrap();
        #[allow(unsafe_code)]
        // SAFETY: the code was made by the line above.
        let refused = unsafe { wasmtime::component::Component::deserialize(&ours, &code) };
        let message = refused.err().map(|error| format!("{error:#}")).unwrap_or_default();
        assert!(message.contains("tail_call"), "{message}");
    }

    #[test]
    fn components_inside_a_plugin_may_call_each_other() {
        // The adapter between them reaches both of their memories.
        let text = r#"(component
            (component $inner
                (core module $m (memory (export "memory") 1)
                    (func (export "f") (param i32 i32) (result i32) local.get 1)
                    (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 16))
                (core instance $i (instantiate $m))
                (func (export "f") (param "s" string) (result u32) (canon lift (core func $i "f")
                    (memory (core memory $i "memory")) (realloc (core func $i "realloc")))))
            (component $outer
                (import "f" (func $f (param "s" string) (result u32)))
                (core module $libc (memory (export "memory") 1))
                (core instance $libc (instantiate $libc))
                (core func $g (canon lower (func $f) (memory (core memory $libc "memory"))))
                (core module $m (import "a" "g" (func $g (param i32 i32) (result i32)))
                    (func (export "h") (result i32) (call $g (i32.const 0) (i32.const 3))))
                (core instance $i (instantiate $m (with "a" (instance (export "g" (func $g))))))
                (func (export "h") (result u32) (canon lift (core func $i "h"))))
            (instance $a (instantiate $inner))
            (instance $b (instantiate $outer (with "f" (func $a "f"))))
            (export "h" (func $b "h")))"#;
        let wasm = wat::parse_str(text).unwrap();
        assert_eq!(proposals::check(&wasm), Ok(()));
        compiler(CodeTarget::SHORT).unwrap().precompile_component(&wasm).unwrap();
    }
}
