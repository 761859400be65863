//! What commands share: the options of those that load plugins, usage errors, the runtime.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{OsStr, Resettable},
};
use loggia_gate::{catalog::Publisher, flow::Quotas, schedule::Inline};
use loggia_sandbox::engine::{STACK, STACK_CEILING};
use loggia_text::units;

use crate::{config::places, serve::HostOptions};

/// A mistake on the command line that only the command itself sees; clap reports the others.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// What a variable of the environment says, as the default of an option. Not by clap's `env`: with that, its usage lines
/// show each option whose variable is set as if it were required.
pub fn variable(name: &str) -> Resettable<OsStr> {
    match std::env::var_os(name).filter(|value| !value.is_empty()) {
        Some(value) => Resettable::Value(value.into()),
        None => Resettable::Reset,
    }
}

/// Options of every command that loads plugins.
#[derive(Args)]
pub struct Common {
    /// Where compiled plugins are kept [env: LOGGIA_CACHE; default: the platform's cache folder]
    #[arg(long, value_name = "DIR", default_value = variable("LOGGIA_CACHE"), hide_default_value = true)]
    cache: Option<PathBuf>,
    /// Where plugins keep their state [env: LOGGIA_STATE; default: the platform's state folder]
    #[arg(long, value_name = "DIR", default_value = variable("LOGGIA_STATE"), hide_default_value = true)]
    state: Option<PathBuf>,
    /// How deep plugins may recurse, in bytes of stack [env: LOGGIA_WASM_STACK; default: 512KiB]
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = stack,
        default_value = variable("LOGGIA_WASM_STACK"),
        hide_default_value = true
    )]
    pub wasm_stack: Option<usize>,
    /// Where calls begin, for measuring: inline, second or same
    #[arg(long, value_name = "MODEL", default_value = "inline", hide = true)]
    threads: Threads,
}

/// A stack's size: one limit for all plugins, so no policy's.
fn stack(text: &str) -> Result<usize, String> {
    const LEAST: usize = 64 << 10;
    let bytes = units::parse_bytes(text)?;
    let within = usize::try_from(bytes).ok().filter(|bytes| (LEAST..=STACK_CEILING).contains(bytes));
    within.ok_or_else(|| {
        let [least, most] = [LEAST, STACK_CEILING].map(|bytes| units::format_bytes(bytes as u64));
        format!("must be {least} to {most}")
    })
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Threads {
    /// A first slice inline, the rest on the second runtime.
    Inline,
    /// All on the second runtime.
    Second,
    /// All on the runtime that answers clients.
    Same,
}

impl Common {
    /// How a host is started by these options.
    ///
    /// # Errors
    ///
    /// If the platform names no folder for the cache or the state.
    pub fn options(&self) -> anyhow::Result<HostOptions> {
        self.options_with(None, None)
    }

    /// The same, with folders that a settings file names for where the command line names none.
    pub fn options_with(
        &self,
        cache: Option<PathBuf>,
        state: Option<PathBuf>,
    ) -> anyhow::Result<HostOptions> {
        // One for each thread that answers clients. A slice lasts a millisecond at most, and a facade that uses it up
        // starts elsewhere for a while; keeping a thread free of them costs a fifth of the throughput, and made p99
        // beside looping guests no better (docs/design/performance.md).
        let slots = std::thread::available_parallelism().map_or(1, usize::from);
        let inline = match self.threads {
            Threads::Inline => Inline::Slots(slots),
            Threads::Second => Inline::Never,
            Threads::Same => Inline::Always,
        };
        let cache = self.cache.clone().or(cache).map_or_else(places::cache, Ok)?;
        let state = self.state.clone().or(state).map_or_else(places::state, Ok)?;
        Ok(HostOptions {
            cache,
            state,
            settings: None,
            audit: None,
            keys: None,
            inline,
            stack: self.wasm_stack.unwrap_or(STACK),
            publisher: Publisher::default(),
            quotas: Quotas::default(),
        })
    }
}

/// The runtime that answers clients.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().thread_name("loggia-io").enable_all().build()
}
