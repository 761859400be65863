//! Work that the host does for a call: whatever thread does it, the call pays.
