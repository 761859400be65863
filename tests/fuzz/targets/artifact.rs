//! Loading any file of the plugin folder results in a surface or an error message.
//!
//! A `.wasm` file is used as it is. Other inputs start with a byte that selects the use of the rest: a component from
//! `wasm-smith`, our own with some bytes changed, our own with arbitrary data for its description.
#![no_main]

use std::{
    sync::{Arc, LazyLock, OnceLock},
    time::Duration,
};

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use loggia_fuzz::{guest, told};
use loggia_policy::model::PluginLimits;
use loggia_sandbox::{LoadError, PluginArtifact, PluginComponent, SandboxEngine};
use loggia_schema::{Contract, sanitise_surface};

static ENGINE: LazyLock<SandboxEngine> = LazyLock::new(|| SandboxEngine::new(loggia_sandbox::EngineOptions::default()).expect("an engine"));

/// Low limits: resource use is not under test.
fn limits() -> &'static PluginLimits {
    static LIMITS: OnceLock<PluginLimits> = OnceLock::new();
    LIMITS.get_or_init(|| {
        PluginLimits {
            memory: 1 << 20,
            describe_cpu: Duration::from_millis(50),
            describe_wall: Duration::from_secs(1),
            ..PluginLimits::default()
        }
    })
}

fuzz_target!(|data: &[u8]| -> Corpus {
    match bytes(data) {
        Some(bytes) => {
            load(bytes);
            Corpus::Keep
        }
        None => Corpus::Reject,
    }
});

fn bytes(data: &[u8]) -> Option<Vec<u8>> {
    let Some((kind @ 1..=3, rest)) = data.split_first().map(|(kind, rest)| (*kind, rest)) else {
        return Some(data.to_vec());
    };
    let mut rest = Unstructured::new(rest);
    match kind {
        1 => wasm_smith::Component::arbitrary(&mut rest).ok().map(|component| component.to_bytes()),
        2 => {
            let mut component = guest::component().to_vec();
            // Few changes at once, or nothing remains of the component.
            for _ in 0..rest.int_in_range(1..=8).ok()? {
                let at = rest.choose_index(component.len()).ok()?;
                component[at] = rest.arbitrary().ok()?;
            }
            Some(component)
        }
        _ => guest::Said::arbitrary_take_rest(rest).ok().map(|said| said.component()),
    }
}

fn load(bytes: Vec<u8>) {
    let artifact = match PluginArtifact::new(bytes) {
        Ok(artifact) => artifact,
        Err(error) => return refused(&error),
    };
    let component = match PluginComponent::in_process(&ENGINE, &artifact) {
        Ok(component) => component,
        Err(error) => return refused(&error),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    match runtime.block_on(component.read_surface(limits())) {
        Ok(surface) => {
            // A surface that was read can be examined.
            if let Err(problems) = Contract::new(Arc::new(sanitise_surface(surface))) {
                assert!(!problems.0.is_empty());
            }
        }
        Err(error) => refused(&error),
    }
}

/// Checks the operator's message: one line of a log, whatever text the plugin's author put into it.
fn refused(error: &LoadError) {
    told::line("the error", &error.to_string(), 4096);
}
