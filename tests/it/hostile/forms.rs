//! Forms that a plugin shows to a person: what they may hold, and what they cost.
