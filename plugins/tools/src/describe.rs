//! `get`: one action.

use loggia_sdk::prelude::*;

use crate::{
    call_name::{CallName, caller_of, effect_word},
    list::find_facade,
    unknown::explain,
};

/// Describes an action. [`Detail::Minimal`] leaves the schema out, [`Detail::Full`] adds that of the result.
pub fn describe(call: &CallName, detail: Detail) -> Result<Value> {
    let found = host::lookup(&call.facade, &call.action).map_err(|failure| explain(failure, call))?;
    let name = call.resolved(&found);
    let mut out = Object::new();
    let mut insert = |key: &str, value: Value| out.insert(key.to_owned(), value);
    insert("call", name.to_string().into());
    if let Some(summary) = summary(&name)? {
        insert("summary", summary.into());
    }
    if let Some(effect) = found.effect {
        insert("effect", effect_word(effect).into());
    }
    if found.confirm {
        insert("confirm", true.into());
    }
    if let Some(signature) = &found.signature {
        insert("signature", signature.as_str().into());
    }
    if detail > Detail::Minimal {
        insert("params", found.params);
        let example = |params: Value| json!({"action": caller_of(found.effect), "call": name.to_string(), "arguments": params});
        let examples: Vec<Value> = found.examples.into_iter().map(example).collect();
        if !examples.is_empty() {
            insert("examples", examples.into());
        }
    }
    if let Some(data) = found.data.filter(|_| detail == Detail::Full) {
        insert("data", data);
    }
    Ok(Value::Object(out))
}

fn summary(name: &CallName) -> Result<Option<String>> {
    let peers = host::facades()?;
    let peer = find_facade(&peers, &name.facade);
    let action = peer.and_then(|peer| peer.actions.iter().find(|action| action.name == name.action));
    Ok(action.map(|action| action.summary.clone()))
}
