//! Upstreams as real processes, well-behaved and hostile.

mod calls;
mod hostile;
mod lifecycle;
mod support;
