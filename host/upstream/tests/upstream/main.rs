//! Upstreams as real processes, well-behaved and hostile.

mod calls;
mod hostile;
mod http;
mod lifecycle;
mod links;
mod support;
mod tasks;
