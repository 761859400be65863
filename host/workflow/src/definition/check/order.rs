//! Dependencies between steps: cycles, and the steps that have ended when a step begins.

use crate::{
    FileProblem,
    definition::{limits::STEPS, model::Workflow, place::join, report::ParseReport},
    yaml::excerpt,
};

/// Set of steps, one bit each.
pub(crate) type StepSet = u128;
const _: () = assert!(STEPS <= StepSet::BITS as usize);

/// Returns the transitive dependencies of each step, or `None` if there are cycles, which are reported.
pub(crate) fn check_order(workflow: &Workflow, report: &mut ParseReport) -> Option<Vec<StepSet>> {
    let mut walk =
        Walk { workflow, seen: vec![Seen::No; workflow.steps.len()], path: Vec::new(), circles: Vec::new() };
    let mut before = vec![0; workflow.steps.len()];
    for step in 0..workflow.steps.len() {
        walk.visit(step, &mut before);
    }
    if walk.circles.is_empty() {
        return Some(before);
    }
    let list = join(&workflow.path, "steps");
    let id = |step: &usize| excerpt(&workflow.steps[*step].id);
    for circle in walk.circles {
        let first = circle[0];
        let names: Vec<String> = circle.iter().chain([&first]).map(id).collect();
        let message = format!(
            "{list}: dependency cycle detected involving step \"{}\": {}",
            names[0],
            names.join(" -> ")
        );
        let path = format!("{list}[{first}].dependsOn");
        report.problem(FileProblem::new(workflow.steps[first].line, path, message));
    }
    None
}

#[derive(Clone, Copy, PartialEq)]
enum Seen {
    No,
    /// On the current path.
    Open,
    Yes,
}

struct Walk<'a> {
    workflow: &'a Workflow,
    seen: Vec<Seen>,
    path: Vec<usize>,
    circles: Vec<Vec<usize>>,
}

impl Walk<'_> {
    /// Visits a step and its dependencies. The limit on steps bounds the recursion.
    fn visit(&mut self, step: usize, before: &mut [StepSet]) {
        match self.seen[step] {
            Seen::Yes => return,
            Seen::Open => {
                let from = self.path.iter().position(|on| *on == step).unwrap_or(0);
                self.circles.push(self.path[from..].to_vec());
                return;
            }
            Seen::No => {}
        }
        self.seen[step] = Seen::Open;
        self.path.push(step);
        for &needed in &self.workflow.steps[step].depends_on {
            self.visit(needed, before);
            before[step] |= before[needed] | 1 << needed;
        }
        self.path.pop();
        self.seen[step] = Seen::Yes;
    }
}
