//! Names of the fields of a step.

/// Fields of a step.
pub(crate) const FIELDS: [&str; 24] = [
    "id",
    "type",
    "tool",
    "arguments",
    "condition",
    "dependsOn",
    "timeout",
    "onError",
    "onUnknown",
    "onMissing",
    "effect",
    "idempotencyKey",
    "compensate",
    "irreversible",
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
