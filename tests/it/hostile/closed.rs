//! Settings that lack what protects: the host refuses to start.
