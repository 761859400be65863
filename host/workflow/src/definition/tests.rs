use super::*;

/// A file's workflows by name, with their paths; or its problems.
fn outline(text: &str) -> String {
    match read(text) {
        Err(problems) => problems.0.iter().map(|problem| format!("{problem}\n")).collect(),
        Ok(read) => {
            let names = read.workflows.iter().map(|w| format!("{} at {}:{}", w.name, w.path, w.line));
            format!("{:?} {}", read.form, names.collect::<Vec<_>>().join(", "))
        }
    }
}

const STEPS_OF_ONE: &str = "steps: [{id: a, tool: x.y}]";

#[test]
fn a_file_is_written_in_one_of_four_forms() {
    let check = |text: &str, expected: &str| assert_eq!(outline(text), expected, "{text}");
    check(&format!("facade: f\nname: one\ndescription: d\n{STEPS_OF_ONE}\n"), "Bare one at :1");
    let tool = format!("{{name: one, description: d, {STEPS_OF_ONE}}}");
    let other = format!("{{name: two, description: d, {STEPS_OF_ONE}}}");
    check(
        &format!("title: T\ncompositeTools:\n- {tool}\n- {other}\n"),
        "List one at compositeTools[0]:3, two at compositeTools[1]:4",
    );
    check(
        &format!("kind: VirtualMCPCompositeToolDefinition\nmetadata: {{name: r}}\nspec: {tool}\n"),
        "Resource one at spec:3",
    );
    check(&format!("spec: {tool}\n"), "Resource one at spec:1");
    let server = format!("spec: {{config: {{compositeTools: [{tool}]}}}}\n");
    check(&format!("kind: VirtualMCPServer\n{server}"), "Server one at spec.config.compositeTools[0]:2");
    check(&server, "Server one at spec.config.compositeTools[0]:1");
}
