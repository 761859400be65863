//! Positions in a program, from the engine's stack traces.

use boa_engine::{Context, JsObject};

use super::state::RunState;
use crate::{place::Place, program::PATH};

/// Creates an error whose trace ends at the code that called the running native function.
pub fn trace_here(context: &mut Context) -> Option<JsObject> {
    let error = context.intrinsics().constructors().error().constructor();
    error.construct(&[], None, context).ok()
}

/// Position of the innermost frame of an error's trace.
pub fn place_of(error: &JsObject, context: &mut Context) -> Option<Place> {
    let state = RunState::of(context).ok()?;
    let stack = state.builtins().ok()?.stack.call(&error.clone().into(), &[], context).ok()?;
    innermost_place(&stack.as_string()?.to_std_string_lossy())
}

/// Reads the innermost position of a trace: `    at f (program:3:14)`. A frame outside of the program has none.
pub fn innermost_place(trace: &str) -> Option<Place> {
    let start = format!("({PATH}:");
    let lines = trace.lines().filter(|line| line.trim_start().starts_with("at "));
    let mut frames = lines.filter_map(|line| line.rsplit_once(&start)?.1.strip_suffix(')')?.split_once(':'));
    let (line, column) = frames.next()?;
    Place::unwrapped(line.parse().ok()?, column.parse().ok()?)
}
