//! JSON that is small as text and large in memory.
