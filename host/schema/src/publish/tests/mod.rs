//! Tests of what is published.

mod describe;
