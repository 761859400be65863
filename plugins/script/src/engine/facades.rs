//! Facades as global objects of a program. Their functions are made when they are first used.

use boa_engine::{
    Context, JsArgs, JsObject, JsResult, JsString, JsValue, NativeFunction, js_string,
    object::builtins::JsProxy,
    property::{Attribute, PropertyDescriptor, PropertyKey},
};
use loggia_sdk::{
    failure::code,
    host::{Peer, Request},
};

use super::{
    calls::{action_function, has_action},
    errors::{reference_error, type_error},
    state::RunState,
};
use crate::names::Names;

/// Key of the target's facade. A program never sees the target.
fn name_key() -> PropertyKey {
    PropertyKey::from(js_string!(" facade"))
}

/// Defines the facades among the names of a program. The host is asked about one name at a time: a list of all facades
/// would take milliseconds where some have a thousand actions.
pub fn define_facades(names: &Names, context: &mut Context) -> JsResult<()> {
    let global = context.global_object();
    for name in names.used.keys() {
        if name == "globalThis" {
            define_all(context)?;
        }
        if !may_be_facade(name) || global.has_property(JsString::from(name.as_str()), context)? {
            continue;
        }
        if names.declared.contains(name) {
            // Mostly the program's own variable; if not, it is looked up when it is used.
            define_on_use(name, context)?;
        } else if is_facade(name, context)? {
            define(name, context)?;
        }
    }
    Ok(())
}

/// Tests whether a name is written like those of facades.
fn may_be_facade(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn define(name: &str, context: &mut Context) -> JsResult<()> {
    let facade = facade_object(name, context)?;
    context.register_global_property(JsString::from(name), facade, Attribute::empty())
}

/// Defines all facades, for programs that look for them.
fn define_all(context: &mut Context) -> JsResult<()> {
    let state = RunState::of(context)?;
    let global = context.global_object();
    for peer in state.peers().as_ref().map_or(&[][..], Vec::as_slice) {
        if !global.has_property(JsString::from(peer.name.as_str()), context)? {
            define(&peer.name, context)?;
        }
    }
    Ok(())
}

/// Defines a property that becomes the facade when it is read first.
fn define_on_use(name: &str, context: &mut Context) -> JsResult<()> {
    let getter = NativeFunction::from_copy_closure_with_captures(
        |_, _, name, context| {
            let text = name.to_std_string_lossy();
            if !is_facade(&text, context)? {
                return Err(reference_error(format!("{text} is not defined")));
            }
            let facade = facade_object(&text, context)?;
            let property =
                PropertyDescriptor::builder().value(facade.clone()).writable(false).configurable(false);
            context.global_object().define_property_or_throw(name.clone(), property, context)?;
            Ok(facade)
        },
        JsString::from(name),
    );
    let getter = getter.to_js_function(context.realm());
    let property = PropertyDescriptor::builder().get(getter).enumerable(false).configurable(true);
    context.global_object().define_property_or_throw(JsString::from(name), property, context)?;
    Ok(())
}

/// Tests whether the program may call something of this facade.
fn is_facade(name: &str, context: &Context) -> JsResult<bool> {
    let Err(failure) = Request::new(name, "").check() else { return Ok(true) };
    Ok(match (&*failure.code, &failure.details) {
        (code::NOT_FOUND, _) => false,
        // The facade is there, and only its default action is refused.
        (code::DENIED, Some(details)) => details["effect"].is_string() || details["scope"].is_string(),
        // It may be that some of its actions are granted.
        (code::DENIED, None) => with_peer(name, context, |_| ())?.is_some(),
        _ => true,
    })
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
    // `await`, `JSON.stringify` and conversions look for these.
    let is_looked_for = matches!(action.as_str(), "then" | "toJSON" | "constructor" | "toString" | "valueOf");
    if is_looked_for && !with_peer(&facade, context, |peer| has_action(peer, &action))?.unwrap_or_default() {
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
