//! The order of an epic's open tasks: waves of tasks that can run side by side, and the critical path.

use crate::{outline::Task, view::EpicView};

/// Order of the open tasks, by their positions in the epic.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Each wave needs the ones before it.
    pub waves: Vec<Vec<usize>>,
    /// The longest chain of tasks that need each other, by estimate and then by number.
    pub critical_path: Vec<usize>,
    /// Sum of its estimates, in minutes.
    pub minutes: u64,
}

/// An open task with what it needs of the other open tasks.
struct Step {
    /// Steps that it needs.
    steps: Vec<usize>,
    /// Features, by position, all of whose steps it needs.
    features: Vec<usize>,
    /// Feature that it belongs to.
    feature: usize,
}

/// Length of a chain: minutes, tasks.
type Length = (u64, u32);

/// Schedules the open tasks. `None` if dependencies form a cycle.
pub fn schedule(view: &EpicView<'_>) -> Option<Schedule> {
    let tasks = in_order(view);
    let steps = steps(view, &tasks);
    let mut left = vec![0_usize; view.epic.features.len()];
    for step in &steps {
        left[step.feature] += 1;
    }
    let mut is_done = vec![false; steps.len()];
    let mut chains = Chains::new(steps.len(), left.len());
    let mut schedule = Schedule::default();
    let mut open: Vec<usize> = (0..steps.len()).collect();
    while !open.is_empty() {
        let is_ready = |step: &&usize| {
            let Step { steps, features, .. } = &steps[**step];
            steps.iter().all(|step| is_done[*step]) && features.iter().all(|feature| left[*feature] == 0)
        };
        let ready: Vec<usize> = open.iter().filter(is_ready).copied().collect();
        let first = *ready.first()?;
        let wave: Vec<usize> = if tasks[first].1.alone {
            vec![first]
        } else {
            ready.into_iter().filter(|step| !tasks[*step].1.alone).collect()
        };
        for &step in &wave {
            is_done[step] = true;
            left[steps[step].feature] -= 1;
            chains.extend(step, &steps[step], tasks[step].1.estimate.unwrap_or_default());
        }
        open.retain(|step| !is_done[*step]);
        schedule.waves.push(wave.into_iter().map(|step| tasks[step].0).collect());
    }
    let (path, (minutes, _)) = chains.longest();
    schedule.critical_path = path.into_iter().map(|step| tasks[step].0).collect();
    schedule.minutes = minutes;
    Some(schedule)
}

/// Open tasks with their positions, in the order of work.
fn in_order<'a>(view: &EpicView<'a>) -> Vec<(usize, &'a Task)> {
    let is_open = |task: &Task| task.state.is_open() && view.is_live(task);
    let tasks = view.features().into_iter().flat_map(|feature| view.tasks_of(&feature.id));
    tasks.filter(|task| is_open(task)).filter_map(|task| Some((view.epic.task_at(&task.id)?, task))).collect()
}

fn steps(view: &EpicView<'_>, tasks: &[(usize, &Task)]) -> Vec<Step> {
    let mut step_of = vec![None; view.epic.tasks.len()];
    for (step, (at, _)) in tasks.iter().enumerate() {
        step_of[*at] = Some(step);
    }
    let step = |(_, task): &(usize, &Task)| {
        let steps = task.depends_on.iter().filter_map(|id| step_of[view.epic.task_at(id)?]).collect();
        let feature = view.epic.feature_at(&task.feature).unwrap_or_default();
        let needed = &view.epic.features[feature].depends_on;
        let features = needed.iter().filter_map(|id| view.epic.feature_at(id)).collect();
        Step { steps, features, feature }
    };
    tasks.iter().map(step).collect()
}

/// The longest chain that ends at each step.
struct Chains {
    /// By step: the length, and the step before.
    chains: Vec<(Length, Option<usize>)>,
    /// By feature: its step with the longest chain.
    longest_of: Vec<Option<usize>>,
}

impl Chains {
    fn new(steps: usize, features: usize) -> Self {
        Self { chains: vec![Default::default(); steps], longest_of: vec![None; features] }
    }

    /// Adds a step, after all that it needs.
    fn extend(&mut self, at: usize, step: &Step, minutes: u32) {
        let features = step.features.iter().filter_map(|feature| self.longest_of[*feature]);
        let before = step.steps.iter().copied().chain(features).max_by_key(|step| self.chains[*step].0);
        let (sum, count) = before.map_or((0, 0), |step| self.chains[step].0);
        self.chains[at] = ((sum + u64::from(minutes), count + 1), before);
        let longest = &mut self.longest_of[step.feature];
        if longest.is_none_or(|longest| self.chains[longest].0 < self.chains[at].0) {
            *longest = Some(at);
        }
    }

    fn longest(&self) -> (Vec<usize>, Length) {
        // The first of several: `max_by_key` would return the last.
        let last = (0..self.chains.len()).rev().max_by_key(|step| self.chains[*step].0);
        let mut path = Vec::new();
        let mut at = last;
        while let Some(step) = at {
            path.push(step);
            at = self.chains[step].1;
        }
        path.reverse();
        (path, last.map_or((0, 0), |step| self.chains[step].0))
    }
}
