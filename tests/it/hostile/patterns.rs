//! Regular expressions of a schema: what they cost to compile, to keep and to match.
