//! How a guest opens something.

use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorFlags, OpenFlags, PathFlags};

/// Flags with which a guest opens something.
#[derive(Clone, Copy)]
pub(in super::super) struct OpenHow {
    pub path: PathFlags,
    pub open: OpenFlags,
    pub descriptor: DescriptorFlags,
}
