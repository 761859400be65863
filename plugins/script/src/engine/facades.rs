//! Facades as global objects of a program. Their functions are made when they are first used.

use boa_engine::{
    Context, JsArgs, JsObject, JsResult, JsString, JsValue, js_string,
    object::builtins::JsProxy,
    property::{Attribute, PropertyDescriptor, PropertyKey},
};
use loggia_sdk::host::Peer;

use super::{
    calls::{action_function, has_action},
    errors::type_error,
    state::RunState,
};

/// Key of the target's facade. A program never sees the target.
fn name_key() -> PropertyKey {
    PropertyKey::from(js_string!(" facade"))
}

/// Defines the facades among these names. The host is only asked if a name may be a facade's.
pub fn define_facades<'a>(names: impl Iterator<Item = &'a str>, context: &mut Context) -> JsResult<()> {
    let global = context.global_object();
    let mut unknown = Vec::new();
    for name in names {
        if name == "globalThis" || !global.has_property(JsString::from(name), context)? {
            unknown.push(name);
        }
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let is_any = unknown.contains(&"globalThis");
    let state = RunState::of(context)?;
    let Ok(peers) = state.peers() else { return Ok(()) };
    for peer in peers {
        if is_any || unknown.contains(&peer.name.as_str()) {
            let facade = facade_object(&peer.name, context)?;
            context.register_global_property(
                JsString::from(peer.name.as_str()),
                facade,
                Attribute::empty(),
            )?;
        }
    }
    Ok(())
}

/// Creates the object of a facade: a proxy that makes functions on demand and refuses changes.
fn facade_object(name: &str, context: &mut Context) -> JsResult<JsValue> {
    let target = JsObject::with_null_proto();
    let hidden = PropertyDescriptor::builder().value(JsString::from(name)).configurable(true);
    target.define_property_or_throw(name_key(), hidden, context)?;
    let proxy = JsProxy::builder(target)
        .get(get)
        .has(has)
        .own_keys(own_keys)
        .set(refuse)
        .define_property(refuse)
        .delete_property(refuse)
        .set_prototype_of(refuse)
        .prevent_extensions(refuse)
        .build(context)?;
    Ok(proxy.into())
}

fn refuse(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(false.into())
}

/// Returns the target of a trap, and the name of its facade.
fn target_of(args: &[JsValue], context: &mut Context) -> JsResult<(JsObject, String)> {
    let target = args.get_or_undefined(0).as_object().ok_or_else(|| type_error("not a facade"))?;
    let name = target.get(name_key(), context)?.to_string(context)?.to_std_string_lossy();
    Ok((target, name))
}

/// Finds a facade that may be called.
fn with_peer<T>(name: &str, context: &Context, use_peer: impl FnOnce(&Peer) -> T) -> JsResult<Option<T>> {
    let state = RunState::of(context)?;
    let peers = state.peers().as_ref().ok();
    Ok(peers.and_then(|peers| peers.iter().find(|peer| peer.name == name)).map(use_peer))
}

/// `facade.action`.
fn get(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, facade) = target_of(args, context)?;
    let Some(action) = args.get_or_undefined(1).as_string() else { return Ok(JsValue::undefined()) };
    let action = action.to_std_string_lossy();
    let key = JsString::from(action.as_str());
    if target.has_own_property(key.clone(), context)? {
        return if PropertyKey::from(key.clone()) == name_key() {
            Ok(JsValue::undefined())
        } else {
            target.get(key, context)
        };
    }
    let is_known = with_peer(&facade, context, |peer| has_action(peer, &action))?.unwrap_or(true);
    // `await`, `JSON.stringify` and conversions look for these.
    if !is_known && matches!(action.as_str(), "then" | "toJSON" | "constructor" | "toString" | "valueOf") {
        return Ok(JsValue::undefined());
    }
    // The call of an unknown action fails and names the nearest one.
    let function = action_function(&facade, &action, context)?;
    target.create_data_property_or_throw(key, function.clone(), context)?;
    Ok(function.into())
}

/// `"action" in facade`.
fn has(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (_, facade) = target_of(args, context)?;
    let action = args.get_or_undefined(1).as_string().map(|name| name.to_std_string_lossy());
    let Some(action) = action else { return Ok(false.into()) };
    Ok(with_peer(&facade, context, |peer| has_action(peer, &action))?.unwrap_or_default().into())
}

/// `Object.keys(facade)`: makes all functions, because a listed property must exist.
fn own_keys(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, facade) = target_of(args, context)?;
    let names = with_peer(&facade, context, |peer| -> Vec<String> {
        peer.actions.iter().map(|action| action.name.clone()).collect()
    })?;
    let mut keys = Vec::new();
    for name in names.unwrap_or_default() {
        let key = JsString::from(name.as_str());
        if !target.has_own_property(key.clone(), context)? {
            let function = action_function(&facade, &name, context)?;
            target.create_data_property_or_throw(key.clone(), function, context)?;
        }
        keys.push(key.into());
    }
    Ok(boa_engine::object::builtins::JsArray::from_iter(keys, context).into())
}
