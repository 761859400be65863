//! Parser of templates.

use crate::{
    FileProblem,
    definition::{
        place::{NodePlace, subject},
        report::ParseReport,
        template_use::{TemplateSite, TemplateUse},
    },
    template::TextTemplate,
};

/// Parses a template.
pub(crate) fn parse_template(
    place: &NodePlace<'_>,
    at: TemplateSite,
    report: &mut ParseReport,
) -> Option<TextTemplate> {
    let text = place.text(report)?;
    match TextTemplate::parse(text) {
        Ok(template) => {
            let (line, path) = (place.node.line, place.path.clone());
            report.uses.push(TemplateUse { line, path, at, template: template.clone() });
            Some(template)
        }
        Err(error) => {
            let message = format!("{}: invalid template: {error}", subject(&place.path));
            // In a multi-line text, point to the line of the error.
            let before = error.at.and_then(|at| text.get(..at)).unwrap_or_default();
            let line = place.node.line + before.matches('\n').count();
            report.problem(FileProblem::new(line, &*place.path, message));
            None
        }
    }
}
