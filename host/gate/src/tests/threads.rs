//! Runtimes on which calls are polled.

use std::time::Instant;

use tokio::runtime::{Builder, Runtime};

use super::*;

fn runtime(name: &'static str) -> Runtime {
    Builder::new_multi_thread().worker_threads(1).thread_name(name).enable_all().build().unwrap()
}

fn thread_name() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}

/// Calls a facade from a client's connection. Returns the result's data.
fn call_from_io(facade: PuppetFacade) -> Value {
    let (io, calls, heavy) = (runtime("io"), runtime("calls"), runtime("heavy"));
    let lanes = RuntimeHandles { calls: calls.handle().clone(), heavy: heavy.handle().clone() };
    let catalog = Arc::new(Catalog::default());
    catalog.mark_admitted();
    let entry = Arc::new(entry(facade, FacadeRules::default()));
    catalog.swap(BTreeMap::from([("a".to_owned(), CatalogSlot::Serving(entry))]));
    let gate = Gate::new(catalog, Executor::new(lanes, InlinePolicy::Slots(1)));
    let follower = io.spawn(async move { call(&gate, request("a", "look")).await });
    io.block_on(follower).unwrap()["data"].take()
}

/// Computes as a guest that loops does.
async fn compute(slices: u32, threads: &mut Vec<String>) {
    for _ in 0..slices {
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(1) {}
        threads.push(thread_name());
        tokio::task::yield_now().await;
    }
    threads.dedup();
}

#[test]
fn a_long_computation_leaves_the_runtime() {
    for is_io_bound in [false, true] {
        let looping = puppet("a", async |_| {
            let mut threads = Vec::new();
            compute(40, &mut threads).await;
            Ok(Reply::data(json!(threads)))
        });
        let threads = call_from_io(PuppetFacade { is_io_bound, ..looping });
        // The first slice runs where its follower is.
        assert_eq!(threads, json!(["io", "calls", "heavy"]), "{is_io_bound}");
    }
}

#[test]
fn only_io_bound_calls_stay_with_their_client() {
    for (is_io_bound, expected) in [(true, ["io", "io", "calls"]), (false, ["io", "calls", "calls"])] {
        let waiting = puppet("a", async |call: Call| {
            let mut threads = vec![thread_name()];
            tokio::task::yield_now().await;
            threads.push(thread_name());
            call.session.leave_io().await;
            threads.push(thread_name());
            Ok(Reply::data(json!(threads)))
        });
        let threads = call_from_io(PuppetFacade { is_io_bound, ..waiting });
        assert_eq!(threads, json!(expected), "{is_io_bound}");
    }
}
