//! items
