//! Limits and defaults of workflows.

use std::time::Duration;

/// Steps of a workflow.
pub const STEPS: usize = 100;
/// Steps of a run that are under way at once.
pub const PARALLEL: usize = 10;
/// How often a step is tried again at most, whatever its definition says.
pub const RETRIES: u32 = 10;
/// How long a run takes at most, where its definition does not say.
pub const TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// How long a step takes at most, with all its retries, where its definition does not say.
pub const STEP_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// How long a question stays open at most, whatever its definition says.
pub const QUESTION_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// How long a step waits before it is tried again, where its definition does not say.
pub const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Items of a `forEach`, where its definition does not say, and at most.
pub const ITERATIONS: (usize, usize) = (100, 1000);
/// Items of a `forEach` that are under way at once, where its definition does not say, and at most.
pub const ITERATIONS_PARALLEL: (usize, usize) = (10, 50);
