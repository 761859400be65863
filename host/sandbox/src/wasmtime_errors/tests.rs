use wasmtime::{
    Store, StoreLimits, StoreLimitsBuilder, Trap,
    component::{Component, Linker},
};
use wasmtime_wasi::{WasiCtx, p2::bindings::random::random};

use super::*;
use crate::{
    LoadError, PluginArtifact, engine,
    engine::{AddressSpace, CodeTarget, EngineOptions, SandboxEngine},
};

/// Instantiates a component in a store with tight limits and calls its function `run`, which returns a string.
fn error_of(component: &str) -> wasmtime::Error {
    let engine = engine::compiler(CodeTarget::SHORT).unwrap();
    let component = Component::new(&engine, wat::parse_str(component).unwrap()).unwrap();
    let mut store: Store<StoreLimits> = Store::new(&engine, StoreLimitsBuilder::new().instances(1).build());
    store.limiter(|limits| limits);
    store.set_epoch_deadline(1);
    store.set_max_component_handles(4);
    store.set_hostcall_fuel(100);
    let ran = Linker::new(&engine).instantiate(&mut store, &component).and_then(|instance| {
        let run = instance.get_typed_func::<(), (String,)>(&mut store, "run")?;
        run.call(&mut store, ())
    });
    ran.expect_err("a limit")
}

#[test]
fn too_many_handles() {
    let error = error_of(
        r#"(component
            (type $r (resource (rep i32)))
            (core func $new (canon resource.new $r))
            (core module $m
                (import "" "new" (func $new (param i32) (result i32)))
                (memory (export "memory") 1)
                (func (export "run") (result i32)
                    (loop (drop (call $new (i32.const 0))) (br 0)) (i32.const 0)))
            (core instance $i (instantiate $m (with "" (instance (export "new" (func $new))))))
            (func (export "run") (result string)
                (canon lift (core func $i "run") (memory (core memory $i "memory")))))"#,
    );
    assert!(is_handle_limit(&error), "{error:#}");
}

#[test]
fn too_much_data_at_once() {
    let error = error_of(
        r#"(component
            (core module $m
                (memory (export "memory") 1)
                (func (export "run") (result i32)
                    (i32.store (i32.const 0) (i32.const 16))
                    (i32.store (i32.const 4) (i32.const 1000))
                    (i32.const 0)))
            (core instance $i (instantiate $m))
            (func (export "run") (result string)
                (canon lift (core func $i "run") (memory (core memory $i "memory")))))"#,
    );
    assert!(is_data_limit(&error), "{error:#}");
}

#[test]
fn too_many_parts() {
    let error = error_of(
        "(component (core module $m) (core instance (instantiate $m)) (core instance (instantiate $m)))",
    );
    assert!(is_parts_limit(&error), "{error:#}");
}

#[test]
fn too_many_random_bytes() {
    let mut context = WasiCtx::builder().max_random_size(10).build();
    let error = random::Host::get_random_bytes(context.random(), 11).expect_err("a limit");
    assert!(is_random_limit(&error), "{error:#}");
}

#[test]
fn more_than_the_pool_has_for_one_call() {
    let engine = SandboxEngine::new(EngineOptions::default()).unwrap();
    if engine.target().space == AddressSpace::Short {
        // There is no pool.
        return;
    }
    for parts in [
        "(core module $m (memory 20000)) (core instance (instantiate $m))",
        "(core module $m (table 2000000 funcref)) (core instance (instantiate $m))",
    ] {
        let artifact = PluginArtifact::new(wat::parse_str(format!("(component {parts})")).unwrap()).unwrap();
        match crate::PluginComponent::in_process(&engine, &artifact) {
            Err(LoadError::Code(reason)) => assert!(is_pool_limit(&reason), "{reason}"),
            Err(other) => panic!("{parts}: {other}"),
            Ok(_) => panic!("{parts}: it fits"),
        }
    }
}

#[test]
fn a_trap_without_its_prefix() {
    assert_eq!(trap_text(Trap::IntegerDivisionByZero), "integer divide by zero");
    assert!(Trap::IntegerDivisionByZero.to_string().starts_with("wasm trap: "));
}

#[test]
fn the_name_of_a_missing_import() {
    let engine = engine::compiler(CodeTarget::SHORT).unwrap();
    let component =
        wat::parse_str(r#"(component (import "acme:magic/wand@1.0.0" (instance (export "wave" (func)))))"#)
            .unwrap();
    let component = Component::new(&engine, component).unwrap();
    let error = Linker::<()>::new(&engine).instantiate_pre(&component).err().expect("an error");
    assert_eq!(missing_import(&error), "acme:magic/wand@1.0.0");
}
