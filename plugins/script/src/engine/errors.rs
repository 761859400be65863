//! Errors of native functions.

use boa_engine::{JsError, JsNativeError};

pub fn type_error(message: impl Into<String>) -> JsError {
    JsNativeError::typ().with_message(message.into()).into()
}

pub fn range_error(message: impl Into<String>) -> JsError {
    JsNativeError::range().with_message(message.into()).into()
}

pub fn error(message: impl Into<String>) -> JsError {
    JsNativeError::error().with_message(message.into()).into()
}

pub fn syntax_error(message: impl Into<String>) -> JsError {
    JsNativeError::syntax().with_message(message.into()).into()
}

pub fn reference_error(message: impl Into<String>) -> JsError {
    JsNativeError::reference().with_message(message.into()).into()
}
