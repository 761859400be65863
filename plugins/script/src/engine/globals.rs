//! Global names that a program has besides the language: `console`, `input`, `call`, `CallError`.

use boa_engine::{
    Context, JsArgs, JsError, JsObject, JsResult, JsString, JsValue, JsVariant, NativeFunction, Source,
    js_string,
    object::{FunctionObjectBuilder, ObjectInitializer, builtins::JsFunction},
    property::{Attribute, PropertyDescriptor},
};
use loggia_sdk::{Value, serde_json};

use super::{
    calls::define_call,
    data::{from_json, to_json},
    errors::{error, syntax_error},
    state::{Builtins, RunState},
};

/// Bytes of one value on the console.
const VALUE: usize = 4 << 10;

/// The class of failed calls. Its prototype is frozen, so that a program cannot change how failures look.
const CALL_ERROR: &str = "(() => { class CallError extends Error {} \
    Object.defineProperty(CallError.prototype, 'name', { value: 'CallError' }); \
    Object.freeze(CallError.prototype); return Object.freeze(CallError); })()";

/// Names of other JavaScript hosts whose absence is explained.
const ABSENT: [&str; 3] = ["setTimeout", "setInterval", "queueMicrotask"];

/// Sets up the globals of a new realm, and keeps what later native functions need of it.
pub fn define_globals(input: Option<&Value>, context: &mut Context) -> JsResult<()> {
    let call_error = context.eval(Source::from_bytes(CALL_ERROR))?;
    let call_error = call_error.as_object().ok_or_else(|| error("no CallError"))?;
    context.register_global_property(js_string!("CallError"), call_error.clone(), Attribute::empty())?;
    let constructors = context.intrinsics().constructors();
    let (object, array, errors) = (
        constructors.object().constructor(),
        constructors.array().constructor(),
        constructors.error().prototype(),
    );
    let descriptor = context.intrinsics().constructors().object().constructor();
    let descriptor = function_of(&descriptor, "getOwnPropertyDescriptor", context)?;
    let stack =
        descriptor.call(&JsValue::undefined(), &[errors.into(), js_string!("stack").into()], context)?;
    let stack = stack.as_object().ok_or_else(|| error("no stack"))?;
    let builtins = Builtins {
        call_error,
        stack: function_of(&stack, "get", context)?,
        keys: function_of(&object, "keys", context)?,
        is_array: function_of(&array, "isArray", context)?,
    };
    RunState::of(context)?.set_builtins(builtins);
    define_call(context)?;
    define_console(context)?;
    define_json_parse(context)?;
    for name in ABSENT {
        let function = FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(no_timers))
            .name(JsString::from(name))
            .build();
        context.register_global_property(JsString::from(name), function, Attribute::all())?;
    }
    let input = match input {
        Some(input) => from_json(input, context)?,
        None => JsValue::undefined(),
    };
    context.register_global_property(js_string!("input"), input, Attribute::all())
}

fn function_of(object: &JsObject, name: &str, context: &mut Context) -> JsResult<JsFunction> {
    let value = object.get(JsString::from(name), context)?;
    value.as_function().ok_or_else(|| error(format!("no function {name}")))
}

fn no_timers(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Err(error("there are no timers: `await` calls of facades, and make several at once by `Promise.all`"))
}

fn define_console(context: &mut Context) -> JsResult<()> {
    let console = ObjectInitializer::new(context)
        .function(
            NativeFunction::from_fn_ptr(|_, args, context| log("", args, context)),
            js_string!("log"),
            0,
        )
        .function(
            NativeFunction::from_fn_ptr(|_, args, context| log("", args, context)),
            js_string!("info"),
            0,
        )
        .function(
            NativeFunction::from_fn_ptr(|_, args, context| log("", args, context)),
            js_string!("debug"),
            0,
        )
        .function(
            NativeFunction::from_fn_ptr(|_, args, context| log("warn", args, context)),
            js_string!("warn"),
            0,
        )
        .function(
            NativeFunction::from_fn_ptr(|_, args, context| log("error", args, context)),
            js_string!("error"),
            0,
        )
        .build();
    context.register_global_property(js_string!("console"), console, Attribute::all())
}

fn log(level: &str, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let state = RunState::of(context)?;
    let room = state.console.borrow().room();
    let mut line = String::new();
    if room > 0 {
        for (at, value) in args.iter().enumerate() {
            if at > 0 {
                line.push(' ');
            }
            line.push_str(&render(value, context)?);
            if line.len() > room {
                break;
            }
        }
    }
    state.console.borrow_mut().write(level, &line);
    Ok(JsValue::undefined())
}

/// Renders a value for the console.
fn render(value: &JsValue, context: &mut Context) -> JsResult<String> {
    Ok(match value.variant() {
        JsVariant::String(text) => {
            let units = text.iter().take(VALUE);
            String::from_utf16_lossy(&units.collect::<Vec<u16>>())
        }
        JsVariant::Undefined => "undefined".to_owned(),
        JsVariant::Symbol(symbol) => symbol.descriptive_string().to_std_string_lossy(),
        JsVariant::BigInt(number) => format!("{number}n"),
        JsVariant::Object(object) if object.is_callable() => "[function]".to_owned(),
        _ => match to_json(value, "value", VALUE, context) {
            Ok(json) => serde_json::to_string(&json).unwrap_or_default(),
            Err(error) => not_shown(error, context)?,
        },
    })
}

/// Passes errors on that programs cannot catch, and shows others.
fn not_shown(error: JsError, context: &mut Context) -> JsResult<String> {
    let error = error.into_opaque(context)?;
    let message = match error.as_object() {
        Some(error) => error.get(js_string!("message"), context)?,
        None => error,
    };
    Ok(message
        .as_string()
        .map_or_else(|| "[object]".to_owned(), |text| format!("[{}]", text.to_std_string_lossy())))
}

/// Replaces the engine's `JSON.parse`, which reads JSON as a program and recurses with its depth. Calls with a reviver
/// still reach it.
fn define_json_parse(context: &mut Context) -> JsResult<()> {
    let json = context.global_object().get(js_string!("JSON"), context)?;
    let Some(json) = json.as_object() else { return Ok(()) };
    let native = function_of(&json, "parse", context)?;
    let parse = NativeFunction::from_copy_closure_with_captures(
        |this, args, native, context| {
            if args.get_or_undefined(1).is_callable() {
                return native.call(this, args, context);
            }
            let text = args.get_or_undefined(0).to_string(context)?.to_std_string_lossy();
            match serde_json::from_str::<Value>(&text) {
                Ok(value) => from_json(&value, context),
                Err(error) => Err(syntax_error(format!("not valid JSON: {error}"))),
            }
        },
        native,
    );
    let parse =
        FunctionObjectBuilder::new(context.realm(), parse).name(js_string!("parse")).length(2).build();
    let parse =
        PropertyDescriptor::builder().value(parse).writable(true).enumerable(false).configurable(true);
    json.define_property_or_throw(js_string!("parse"), parse, context)?;
    Ok(())
}
