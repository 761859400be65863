//! JSON from values of programs, and values from JSON. JSON is data: nothing of it is ever evaluated.

use boa_engine::{
    Context, JsObject, JsResult, JsString, JsValue, JsVariant,
    builtins::{
        error::Error as ErrorData, map::ordered_map::OrderedMap, promise::Promise,
        set::ordered_set::OrderedSet,
    },
    js_string,
    object::builtins::JsArray,
    property::PropertyKey,
};
use loggia_sdk::{Object, Value, serde_json::Number};

use super::{
    errors::{range_error, type_error},
    state::RunState,
};

/// Depth of values. The host's parser reads no deeper ones.
const DEPTH: usize = 100;
/// Characters of a path in a message.
const PATH: usize = 100;
/// Largest whole number that a JavaScript number holds exactly.
const EXACT: f64 = 9_007_199_254_740_991.0;

/// Converts JSON to a value.
pub fn from_json(json: &Value, context: &mut Context) -> JsResult<JsValue> {
    Ok(match json {
        Value::Null => JsValue::null(),
        Value::Bool(value) => JsValue::new(*value),
        Value::Number(number) => match number.as_i64().and_then(|whole| i32::try_from(whole).ok()) {
            Some(whole) => JsValue::new(whole),
            None => JsValue::new(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => JsString::from(text.as_str()).into(),
        Value::Array(items) => {
            let items: JsResult<Vec<JsValue>> = items.iter().map(|item| from_json(item, context)).collect();
            JsArray::from_iter(items?, context).into()
        }
        Value::Object(members) => {
            let object = JsObject::with_object_proto(context.intrinsics());
            for (name, member) in members {
                let member = from_json(member, context)?;
                // A member `__proto__` is a property like others.
                object.create_data_property_or_throw(
                    PropertyKey::from(JsString::from(name.as_str())),
                    member,
                    context,
                )?;
            }
            object.into()
        }
    })
}

/// Converts a value to JSON as `JSON.stringify` does, but refuses what that would lose silently: promises, maps, sets and
/// big integers. `None` is a value without JSON: undefined, a function, a symbol. `what` names the value in messages.
pub fn to_json(value: &JsValue, what: &str, bytes: usize, context: &mut Context) -> JsResult<Option<Value>> {
    let mut writer = Writer { path: vec![what.to_owned()], left: bytes, most: bytes };
    writer.write(value, "", context)
}

struct Writer {
    path: Vec<String>,
    /// Bytes that may follow.
    left: usize,
    most: usize,
}

impl Writer {
    fn path(&self) -> String {
        let path = self.path.concat();
        let shown: String = path.chars().take(PATH).collect();
        if shown.len() < path.len() { format!("`{shown}…`") } else { format!("`{shown}`") }
    }

    fn spend(&mut self, bytes: usize) -> JsResult<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(range_error(format!("`{}` has more than {} bytes of JSON", self.path[0], self.most))),
        }
    }

    fn write(&mut self, value: &JsValue, key: &str, context: &mut Context) -> JsResult<Option<Value>> {
        self.spend(4)?;
        Ok(Some(match value.variant() {
            JsVariant::Null => Value::Null,
            JsVariant::Undefined | JsVariant::Symbol(_) => return Ok(None),
            JsVariant::Boolean(value) => value.into(),
            JsVariant::Integer32(number) => number.into(),
            JsVariant::Float64(number) => from_float(number),
            JsVariant::String(text) => {
                // UTF-16 may take three bytes each in UTF-8.
                self.spend(text.len())?;
                text.to_std_string_lossy().into()
            }
            JsVariant::BigInt(_) => {
                let path = self.path();
                return Err(type_error(format!(
                    "{path} is a BigInt, which JSON has not: use Number() or String()"
                )));
            }
            JsVariant::Object(object) => return self.write_object(&object, key, context),
        }))
    }

    fn write_object(
        &mut self,
        object: &JsObject,
        key: &str,
        context: &mut Context,
    ) -> JsResult<Option<Value>> {
        if self.path.len() > DEPTH {
            self.path.truncate(4);
            let path = self.path();
            return Err(type_error(format!("{path} is nested more than {DEPTH} deep, or contains itself")));
        }
        let to_json = object.get(js_string!("toJSON"), context)?;
        if let Some(to_json) = to_json.as_callable() {
            let value = to_json.call(&object.clone().into(), &[JsString::from(key).into()], context)?;
            // Only the result's own members have another `toJSON`.
            return match value.as_object() {
                Some(object) if !object.is_callable() => self.write_members(&object, context).map(Some),
                _ => self.write(&value, key, context),
            };
        }
        if object.is_callable() {
            return Ok(None);
        }
        self.write_members(object, context).map(Some)
    }

    fn write_members(&mut self, object: &JsObject, context: &mut Context) -> JsResult<Value> {
        if let Some(remedy) = remedy(object) {
            let path = self.path();
            return Err(type_error(format!("{path} {remedy}")));
        }
        if is_array(object, context)? {
            let length = object.get(js_string!("length"), context)?.to_length(context)?;
            let mut items = Vec::new();
            for index in 0..length {
                let item = object.get(index, context)?;
                self.path.push(format!("[{index}]"));
                let item = self.write(&item, &index.to_string(), context)?;
                self.path.pop();
                items.push(item.unwrap_or_default());
            }
            return Ok(Value::Array(items));
        }
        let mut members = Object::new();
        if object.is::<ErrorData>() {
            for name in ["name", "message"] {
                let text = object.get(JsString::from(name), context)?.to_string(context)?;
                members.insert(name.to_owned(), text.to_std_string_lossy().into());
            }
        }
        for key in enumerable_keys(object, context)? {
            let name = key.to_std_string_lossy();
            self.spend(name.len())?;
            let member = object.get(PropertyKey::from(key), context)?;
            self.path.push(format!(".{name}"));
            let member = self.write(&member, &name, context)?;
            self.path.pop();
            if let Some(member) = member {
                members.insert(name, member);
            }
        }
        Ok(Value::Object(members))
    }
}

/// Whole numbers are written without a fraction. JSON has no NaN and no infinity.
fn from_float(number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and exact")]
    if number.fract() == 0.0 && number.abs() <= EXACT {
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

/// Says what to do with an object that JSON would show as `{}`.
fn remedy(object: &JsObject) -> Option<&'static str> {
    if object.is::<Promise>() {
        Some("is a promise: `await` it")
    } else if object.is::<OrderedMap<JsValue>>() {
        Some("is a Map: use `Object.fromEntries(map)`")
    } else if object.is::<OrderedSet>() {
        Some("is a Set: use `[...set]`")
    } else {
        None
    }
}

/// `Array.isArray`, which also sees through proxies.
fn is_array(object: &JsObject, context: &mut Context) -> JsResult<bool> {
    let is_array = RunState::of(context)?.builtins()?.is_array.clone();
    Ok(is_array.call(&JsValue::undefined(), &[object.clone().into()], context)?.to_boolean())
}

/// `Object.keys`: names of the object's own enumerable properties.
fn enumerable_keys(object: &JsObject, context: &mut Context) -> JsResult<Vec<JsString>> {
    let keys = RunState::of(context)?.builtins()?.keys.clone();
    let keys = keys.call(&JsValue::undefined(), &[object.clone().into()], context)?;
    let Some(keys) = keys.as_object() else { return Ok(Vec::new()) };
    let length = keys.get(js_string!("length"), context)?.to_length(context)?;
    (0..length).map(|index| keys.get(index, context)?.to_string(context)).collect()
}
