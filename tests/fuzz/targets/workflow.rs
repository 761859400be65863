//! Any workflow file yields a definition that can be drawn, bound and published, or at most 101 lines of problems.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use loggia_facade::{Failure, code};
use loggia_fuzz::told;
use loggia_schema::{Contract, limits, sanitise_surface};
use loggia_workflow::{FileProblem, definition, graph, surface};

fuzz_target!(|text: &str| {
    let read = definition::parse_file_with_notes(text);
    let (definition, notes) = match read {
        Ok(read) => read,
        Err(problems) => {
            assert!(!problems.0.is_empty());
            return check(&problems.0);
        }
    };
    check(&definition.warnings);
    check(&notes);
    let workflows: Vec<_> = definition.workflows.iter().cloned().map(Arc::new).collect();
    for workflow in &workflows {
        assert!(workflow.steps.len() <= definition::STEPS);
        assert!(graph::render_mermaid(workflow).starts_with("flowchart"));
    }
    // No facade is available, so every binding fails and is reported, except of steps with `onMissing: continue`.
    let nobody =
        |facade: &str, _: &str| Err(Failure::new(code::UNAVAILABLE, format!("there is no {facade:.40}")));
    let outlook = surface::build_surface("any", &definition, &workflows, &nobody);
    outlook.unavailable.iter().for_each(|(_, problems)| check(problems));
    let published = sanitise_surface(outlook.surface);
    assert!(published.summary.len() <= limits::SUMMARY);
    if let Err(problems) = Contract::new(Arc::new(published)) {
        problems.0.iter().for_each(|problem| told::fit("a problem of the surface", problem, 4096));
    }
    let others = [definition.clone()];
    if let Err(problems) = definition::link(definition, &others) {
        check(&problems.0);
    }
});

/// At most a hundred problems, and one line with the number of further ones.
fn check(problems: &[FileProblem]) {
    assert!(problems.len() <= 101, "{} problems", problems.len());
    for FileProblem { message, path, hint, .. } in problems {
        assert!(!message.is_empty());
        told::line("a problem", message, 4096);
        told::line("its place", path, 2048);
        told::line("its hint", hint.as_deref().unwrap_or_default(), 2048);
    }
}
