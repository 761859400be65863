//! Ranked search for plugins.
