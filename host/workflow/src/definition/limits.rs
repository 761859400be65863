//! Limits and defaults of workflows.

use std::time::Duration;

/// Maximum number of steps in a workflow.
pub const STEPS: usize = 100;
/// Maximum number of concurrent tasks in a run.
pub const PARALLEL: usize = 10;
/// Maximum number of retries of a step.
pub const RETRIES: u32 = 10;
/// Default timeout of a run.
pub const TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// Default timeout of a step, including its retries.
pub const STEP_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// Maximum time for which a question stays open. A host that records no runs closes it after half an hour.
pub const QUESTION_TIMEOUT: Duration = Duration::from_secs(30 * 24 * 3600);
/// Default time for all compensations of a run.
pub const COMPENSATION_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Default number of retries of a compensation.
pub const COMPENSATION_RETRIES: u32 = 3;
/// Default pause before the first retry of a step.
pub const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Default and maximum number of items of a `forEach`.
pub const ITERATIONS: (usize, usize) = (100, 1000);
/// Default and maximum number of concurrent items of a `forEach`.
pub const ITERATIONS_PARALLEL: (usize, usize) = (10, 50);
