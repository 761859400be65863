//! Tests of the model.

mod pattern;
