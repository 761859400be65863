//! Programs that end well.

use super::*;

#[test]
fn a_program_returns_json() {
    for (code, result) in [
        ("return 1 + 1", json!(2)),
        ("const x = await 5; return x", json!(5)),
        (
            "return { a: [1, 'b', null, true], n: 0.5, big: 2 ** 40, skipped: undefined }",
            json!({"a": [1, "b", null, true], "n": 0.5, "big": 1_099_511_627_776_u64}),
        ),
        ("return [NaN, Infinity, undefined, () => 1]", json!([null, null, null, null])),
        ("return new Date(0)", json!("1970-01-01T00:00:00.000Z")),
        ("return { toJSON() { return { a: 1 } } }", json!({"a": 1})),
        ("return Object.fromEntries(new Map([['a', [...new Set([1, 1])]]]))", json!({"a": [1]})),
        ("return new Proxy([1, 2], {})", json!([1, 2])),
        (
            "return Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true }, hidden: { value: 3 } })",
            json!({"own": 2}),
        ),
        ("return new RangeError('far')", json!({"name": "RangeError", "message": "far"})),
        ("return JSON.parse('{\"a\": [1, {\"b\": null}]}').a[1]", json!({"b": null})),
        ("return JSON.parse('[1, 2]', (k, v) => Array.isArray(v) ? v : v + 1)", json!([2, 3])),
        ("if (false) return 1", json!(null)),
        ("return '😀'.length", json!(2)),
        ("return '\\ud800'", json!("\u{fffd}")),
    ] {
        assert_eq!(run(code), Ok(result), "{code}");
    }
}

#[test]
fn input_is_data() {
    let input = json!({"text": "${1}", "__proto__": {"x": 1}, "0": "zero", "n": 12_345_678_901_u64});
    let reply = world().call(
        &Script,
        "run",
        json!({"code": "return [input, input.x, Object.keys(input)[0]]", "input": input}),
    );
    assert_eq!(reply.unwrap().data["result"], json!([input, null, "0"]));
    assert_eq!(run("return typeof input"), Ok(json!("undefined")));
}

#[test]
fn facades_are_called_by_name() {
    for (code, result) in [
        ("return (await memories.list())[0].title", json!("Tea")),
        ("return await memories.add({ title: 'Milk' })", json!({"id": "m_0002", "title": "Milk"})),
        ("return await memories['list']().then(all => all.length)", json!(1)),
        ("const { list } = memories; return (await list()).length", json!(1)),
        ("return await call('my-files', 'read-all')", json!("all")),
        ("return (await call.full('my-files', 'read-all')).data", json!("all")),
        ("return await globalThis.memories.get({ id: 'm_0001' })", json!({"id": "m_0001", "title": "Tea"})),
        (
            "return [typeof memories, typeof memory, 'list' in memories, 'lst' in memories]",
            json!(["object", "undefined", true, false]),
        ),
        ("return Object.keys(memories)", json!(["list", "get", "add", "delete"])),
        ("return memories.list === memories.list && await memories === memories", json!(true)),
        ("const memories = 5; return memories", json!(5)),
    ] {
        assert_eq!(run(code), Ok(result), "{code}");
    }
    let full = run("return await memories.list.full()").unwrap();
    insta::assert_snapshot!(pretty(&full));
}

#[test]
fn calls_at_once_are_answered_in_order() {
    let host = world();
    let code = "const ids = Array.from({ length: 70 }, (_, i) => i); \
        return (await Promise.all(ids.map(i => memories.add({ title: 't' + i })))).map(m => m.title)";
    let reply = host.call(&Script, "run", json!({"code": code})).unwrap();
    let titles: Vec<String> = (0..70).map(|i| format!("t{i}")).collect();
    assert_eq!((&reply.data["result"], &reply.data["calls"]), (&json!(titles), &json!(70)));
    let sent: Vec<Value> = host.requests().iter().map(|request| request.params["title"].clone()).collect();
    assert_eq!(json!(sent), json!(titles));
}

#[test]
fn each_call_has_its_own_key() {
    let host = world().idempotency_key("k");
    let code = "await memories.add({ title: 'a', detail: 'full' }); await memories.list()";
    host.call(&Script, "run", json!({"code": code})).unwrap();
    let requests = host.requests();
    let keys: Vec<Option<&str>> = requests.iter().map(|request| request.idempotency_key.as_deref()).collect();
    assert_eq!(keys, [Some("k/1"), Some("k/2")]);
    assert_eq!((requests[0].detail, requests[0].params.contains_key("detail")), (Detail::Full, false));
}

#[test]
fn failures_are_caught_as_errors() {
    let code = "try { await memories.get({ id: 'm_0009' }) } catch (e) { \
        return [e instanceof CallError, e instanceof Error, `${e}`, e.call, e.code, e.hint, e.details, e.next, e] }";
    insta::assert_snapshot!(pretty(&run(code).unwrap()));
    let all = "const all = await Promise.allSettled([memories.list(), memories.get({ id: 'no' })]); \
        return all.map(one => one.status)";
    assert_eq!(run(all), Ok(json!(["fulfilled", "rejected"])));
}

#[test]
fn the_console_is_returned() {
    let code = "console.log('a', 1, { b: [2] }, undefined, null, 3n, Symbol('s'), () => 1, new Error('e'));\n\
        console.warn('careful'); console.error(); return 1";
    let reply = world().call(&Script, "run", json!({"code": code})).unwrap();
    insta::assert_snapshot!(pretty(&reply.data));
}

#[test]
fn a_large_result_is_cut() {
    let reply =
        world().call(&Script, "run", json!({"code": "return 'é'.repeat(100)", "limit": 100})).unwrap();
    assert_eq!(reply.data["cut"], true);
    assert!(reply.data["result"].as_str().unwrap().len() <= 100, "{:?}", reply.data);
    insta::assert_snapshot!(reply.message.unwrap());
    let fits = world().call(&Script, "run", json!({"code": "return 'é'.repeat(49)", "limit": 100})).unwrap();
    assert!(fits.message.is_none() && fits.data.get("cut").is_none(), "{fits:?}");
    let silent = world().call(&Script, "run", json!({"code": "await memories.list()"})).unwrap();
    insta::assert_snapshot!(silent.message.unwrap());
}

/// The host enforces the effect; both actions are one code path.
#[test]
fn a_reading_program_runs_alike() {
    let call = |action: &str| {
        world().call(&Script, action, json!({"code": "return (await memories.list()).length"}))
    };
    assert_eq!(call("run").unwrap().data, call("run_read").unwrap().data);
    let denied = Failure::denied("access denied: a read action may not call `memories.add`, which is write")
        .details(json!({"effect": "write"}));
    let host = world().refuse("memories", "add", denied);
    let failure =
        host.call(&Script, "run_read", json!({"code": "await memories.add({ title: 'a' })"})).unwrap_err();
    assert_eq!(failure.hint.as_deref(), Some("`run_read` calls only actions that read: use `run`."));
}
