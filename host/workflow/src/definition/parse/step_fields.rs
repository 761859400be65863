//! Names of the fields of a step.

/// Fields of a step.
pub(crate) const FIELDS: [&str; 18] = [
    "id",
    "type",
    "tool",
    "arguments",
    "condition",
    "dependsOn",
    "timeout",
    "onError",
    "defaultResults",
    "message",
    "schema",
    "onDecline",
    "onCancel",
    "collection",
    "itemVar",
    "maxParallel",
    "maxIterations",
    "step",
];
