//! Whatever lies in the plugin folder, loading it ends in a facade's surface or in a sentence.
//!
//! A `.wasm` file is an input as it is. Other inputs begin with a byte that says what is made of the rest: a component by
//! `wasm-smith`, our own with some bytes changed, our own with data that says anything of itself.
#![no_main]

use std::sync::{Arc, LazyLock, OnceLock};

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use loggia_fuzz::{guest, told};
use loggia_policy::model::{CallBudget, PluginLimits};
use loggia_sandbox::{LoadError, PluginArtifact, PluginComponent, SandboxEngine};
use loggia_schema::{Contract, sanitise_surface};

static ENGINE: LazyLock<SandboxEngine> = LazyLock::new(|| SandboxEngine::new(loggia_sandbox::engine::STACK).expect("an engine"));

/// Little of everything: what a guest may use is not what is looked for.
fn limits() -> &'static PluginLimits {
    static LIMITS: OnceLock<PluginLimits> = OnceLock::new();
    LIMITS.get_or_init(|| {
        let mut limits = PluginLimits::default();
        limits.memory = 1 << 20;
        limits.describe =
            CallBudget { cpu: std::time::Duration::from_millis(50), wall: std::time::Duration::from_secs(1) };
        limits
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
            // Few at once, or nothing of it is left.
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
            // What is read can be looked at.
            if let Err(problems) = Contract::new(Arc::new(sanitise_surface(surface))) {
                assert!(!problems.0.is_empty());
            }
        }
        Err(error) => refused(&error),
    }
}

/// What an operator reads: one line of a log, whatever the plugin's author put into it.
fn refused(error: &LoadError) {
    told::line("the error", &error.to_string(), 4096);
}
