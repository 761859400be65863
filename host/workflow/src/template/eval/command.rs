//! Runs what stands in an action: pipelines, commands and values.

use super::{evaluator::TemplateRun, missing::MissingField};
use crate::template::{
    error::EvalError,
    excerpt::excerpt,
    function::BuiltinFunction,
    syntax::{CommandNode, OperandNode, OperandTerm, PipelineNode, SourceSpan},
    value::TemplateValue,
};

impl<'a> TemplateRun<'a> {
    /// What a pipeline gives; its variables get it too.
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
                self.set(*variable, value);
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
            let error = EvalError::new("it gets arguments and is no function");
            return Err(self.failed(command.span, error));
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
            return self.first_that_decides(function, span, arguments, dot, piped);
        }
        if piped.is_none() {
            // What is looked for in vain from here on is an argument.
            self.missed = None;
        }
        let mut values = Vec::with_capacity(arguments.len() + 1);
        for argument in arguments {
            values.push(self.argument(function, argument, dot)?);
        }
        values.extend(piped);
        self.budget.spend(values.len())?;
        if self.strict && function.writes() && matches!(piped, Some(TemplateValue::Missing)) {
            return Err(self.missing(span));
        }
        let value = function.call(&values, self.budget).map_err(|error| {
            let missing = values.iter().any(|value| matches!(value, TemplateValue::Missing));
            let hint = if missing { self.missing(span).hint } else { None };
            EvalError { hint, ..self.failed(span, error) }
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
        if self.strict && function.writes() && matches!(value, TemplateValue::Missing) {
            return Err(self.missing(operand.whole()));
        }
        Ok(value)
    }

    /// `and` and `or`: the arguments after the one that decides are not looked at.
    fn first_that_decides(
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
            None => function.call(&[], self.budget).map_err(|error| self.failed(span, error)),
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
        for (number, name) in operand.fields.iter().enumerate() {
            value = match value {
                TemplateValue::Map(map) => match map.get(name) {
                    Some(value) => TemplateValue::from(value),
                    None => {
                        self.missed = Some(MissingField::field(operand, number, value));
                        TemplateValue::Missing
                    }
                },
                TemplateValue::Null => {
                    self.missed = Some(MissingField::field(operand, number, value));
                    TemplateValue::Missing
                }
                // What is missing stays what it was: the first name that is not there is the one to tell of.
                TemplateValue::Missing => TemplateValue::Missing,
                value => {
                    let (within, kind) = (MissingField::path(self.source, operand, number), value.kind());
                    let message = format!("`{within}` is {kind}, so it has no `{}`", excerpt(name));
                    return Err(EvalError::new(message));
                }
            };
        }
        Ok(value)
    }

    /// An error, with the part of the template that it comes from.
    pub(super) fn failed(&self, span: SourceSpan, error: EvalError) -> EvalError {
        let text = excerpt(&self.source[span.start..span.end]);
        EvalError { message: format!("`{text}`: {}", error.message), hint: error.hint }
    }
}

impl OperandNode {
    /// Where it stands with all its names.
    pub(crate) fn whole(&self) -> SourceSpan {
        let names: usize = self.fields.iter().map(|name| name.len() + 1).sum();
        SourceSpan { start: self.span.start, end: self.span.end + names }
    }
}
