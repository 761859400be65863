//! What holds for every workflow.
