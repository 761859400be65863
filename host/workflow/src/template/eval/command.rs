//! Evaluation of pipelines, commands and operands.

use serde_json::Value;

use super::{evaluator::TemplateRun, missing::MissingField};
use crate::template::{
    error::EvalError,
    excerpt::excerpt,
    function::BuiltinFunction,
    syntax::{CommandNode, OperandNode, OperandTerm, PipelineNode, SourceSpan},
    value::TemplateValue,
};

impl<'a> TemplateRun<'a> {
    /// Evaluates a pipeline and assigns its variables.
    pub(super) fn pipeline(
        &mut self,
        pipeline: &'a PipelineNode,
        dot: TemplateValue<'a>,
    ) -> Result<TemplateValue<'a>, EvalError> {
        let mut value = None;
        for command in &pipeline.commands {
            value = Some(self.command(command, dot, value)?);
        }
        let value = value.unwrap_or(TemplateValue::Missing);
        for variable in &pipeline.variables {
            if pipeline.assigns {
                self.assign(*variable, value);
            } else {
                self.variables.push(value);
            }
        }
        Ok(value)
    }

    fn command(
        &mut self,
        command: &'a CommandNode,
        dot: TemplateValue<'a>,
        piped: Option<TemplateValue<'a>>,
    ) -> Result<TemplateValue<'a>, EvalError> {
        self.budget.spend(1)?;
        if let OperandNode { term: OperandTerm::Function(function), fields, .. } = &command.head
            && fields.is_empty()
        {
            return self.call(*function, command.span, &command.arguments, dot, piped);
        }
        if piped.is_some() || !command.arguments.is_empty() {
            let error = EvalError::new("it is not a function but has arguments");
            return Err(self.with_span(command.span, error));
        }
        self.operand(&command.head, dot)
    }

    fn call(
        &mut self,
        function: BuiltinFunction,
        span: SourceSpan,
        arguments: &'a [OperandNode],
        dot: TemplateValue<'a>,
        piped: Option<TemplateValue<'a>>,
    ) -> Result<TemplateValue<'a>, EvalError> {
        if let BuiltinFunction::And | BuiltinFunction::Or = function {
            return self.short_circuit(function, span, arguments, dot, piped);
        }
        if piped.is_none() {
            // From here on, a missing value is an argument.
            self.missed = None;
        }
        let mut values = Vec::with_capacity(arguments.len() + 1);
        for argument in arguments {
            values.push(self.argument(function, argument, dot)?);
        }
        values.extend(piped);
        self.budget.spend(values.len())?;
        if self.strict && function.prints_arguments() && matches!(piped, Some(TemplateValue::Missing)) {
            return Err(self.missing(span));
        }
        let value = function.call(&values, self.budget).map_err(|error| {
            let missing = values.iter().any(|value| matches!(value, TemplateValue::Missing));
            let hint = if missing { self.missing(span).hint } else { None };
            EvalError { hint, ..self.with_span(span, error) }
        })?;
        if matches!(value, TemplateValue::Missing)
            && let BuiltinFunction::Index = function
            && let [before @ .., TemplateValue::Text(name)] = values.as_slice()
            && let Ok(TemplateValue::Map(within)) = BuiltinFunction::Index.call(before, self.budget)
        {
            self.missed = Some(MissingField::index(within, name));
        }
        Ok(value)
    }

    fn argument(
        &mut self,
        function: BuiltinFunction,
        operand: &'a OperandNode,
        dot: TemplateValue<'a>,
    ) -> Result<TemplateValue<'a>, EvalError> {
        let value = self.operand(operand, dot)?;
        if self.strict && function.prints_arguments() && matches!(value, TemplateValue::Missing) {
            return Err(self.missing(operand.full_span()));
        }
        Ok(value)
    }

    /// Evaluates `and` and `or`. Arguments after the deciding one are not evaluated.
    fn short_circuit(
        &mut self,
        function: BuiltinFunction,
        span: SourceSpan,
        arguments: &'a [OperandNode],
        dot: TemplateValue<'a>,
        piped: Option<TemplateValue<'a>>,
    ) -> Result<TemplateValue<'a>, EvalError> {
        let decides = |value: TemplateValue<'_>| value.is_true() == (function == BuiltinFunction::Or);
        let mut last = None;
        for argument in arguments {
            let value = self.operand(argument, dot)?;
            if decides(value) {
                return Ok(value);
            }
            last = Some(value);
        }
        match piped.or(last) {
            Some(value) => Ok(value),
            None => function.call(&[], self.budget).map_err(|error| self.with_span(span, error)),
        }
    }

    fn operand(
        &mut self,
        operand: &'a OperandNode,
        dot: TemplateValue<'a>,
    ) -> Result<TemplateValue<'a>, EvalError> {
        self.budget.spend(1 + operand.fields.len())?;
        let value = match &operand.term {
            OperandTerm::Dot => dot,
            OperandTerm::Variable(variable) => {
                self.variables.get(self.base + variable).copied().unwrap_or(TemplateValue::Missing)
            }
            OperandTerm::Function(function) => self.call(*function, operand.span, &[], dot, None)?,
            OperandTerm::Pipeline(pipeline) => self.pipeline(pipeline, dot)?,
            constant => Self::constant(constant).unwrap_or(TemplateValue::Missing),
        };
        let mut value = value;
        let mut within = TemplateValue::Missing;
        for (number, name) in operand.fields.iter().enumerate() {
            let parent = std::mem::replace(&mut within, value);
            value = match value {
                TemplateValue::Map(map) => {
                    match map.get(name).or_else(|| output_text(operand, number, parent)) {
                        Some(value) => TemplateValue::from(value),
                        None => {
                            self.missed = Some(MissingField::field(operand, number, value));
                            TemplateValue::Missing
                        }
                    }
                }
                TemplateValue::Null => {
                    self.missed = Some(MissingField::field(operand, number, value));
                    TemplateValue::Missing
                }
                // A missing value stays missing: the error names the first missing field.
                TemplateValue::Missing => TemplateValue::Missing,
                value => {
                    let (within, kind) =
                        (MissingField::path(self.source, operand, number), value.kind_name());
                    let message = format!("`{within}` is {kind}, so it has no `{}`", excerpt(name));
                    return Err(EvalError::new(message));
                }
            };
        }
        Ok(value)
    }

    /// Prefixes an error with its part of the source.
    pub(super) fn with_span(&self, span: SourceSpan, error: EvalError) -> EvalError {
        let text = excerpt(&self.source[span.start..span.end]);
        EvalError { message: format!("`{text}`: {}", error.message), hint: error.hint }
    }
}

/// Looks up `.steps.x.output.text` of a result that has no `text`: in ToolHive, JSON that a server sends as text is not parsed,
/// and its files parse it by `fromJson`. Here it is `output`, and `content` has the text. `entry` is that of the step.
fn output_text<'a>(operand: &OperandNode, number: usize, entry: TemplateValue<'a>) -> Option<&'a Value> {
    let [steps, _, output, text] = operand.fields.get(..=number)? else { return None };
    let TemplateValue::Map(entry) = entry else { return None };
    let is_text = (steps.as_str(), output.as_str(), text.as_str()) == ("steps", "output", "text");
    if is_text { entry.get("content")?.get("text") } else { None }
}

impl OperandNode {
    /// Returns the span including field names.
    pub(crate) fn full_span(&self) -> SourceSpan {
        let names: usize = self.fields.iter().map(|name| name.len() + 1).sum();
        SourceSpan { start: self.span.start, end: self.span.end + names }
    }
}
