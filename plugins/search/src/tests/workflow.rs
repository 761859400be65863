//! A few calls that belong together.

use super::*;

#[test]
fn results_open_in_their_source() {
    let host = world().answer("conversations", "get", |params| {
        assert_eq!(Value::Object(params.clone()), json!({"conversation": "c_0004", "from": 12}));
        Ok(Reply::new(json!({"conversation": "c_0004", "messages": []})))
    });
    // The default action.
    assert_eq!(testing::describe(&Search)["default_action"], "hybrid");
    let reply = host
        .call(&Search, "hybrid", json!({"query": "how to get there", "sources": ["conversations"]}))
        .unwrap();
    let next = reply.next.unwrap();
    let open = host::Request::new(next.facade.unwrap(), next.action);
    let open = next.params.into_iter().fold(open, |open, (name, value)| open.param(name, value));
    assert_eq!(host.run(|| open.call()).unwrap().data["conversation"], "c_0004");
}
