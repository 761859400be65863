//! Runs what stands in an action: pipelines, commands and values.

use super::{
    EvalError,
    ast::{Command, Operand, Pipeline, Span, Term},
    eval::Run,
    function::Function,
    lex::shown,
    missing::Missed,
    value::Val,
};

impl<'a> Run<'a> {
    /// What a pipeline gives; its variables get it too.
    pub fn pipeline(&mut self, pipeline: &'a Pipeline, dot: Val<'a>) -> Result<Val<'a>, EvalError> {
        let mut value = None;
        for command in &pipeline.commands {
            value = Some(self.command(command, dot, value)?);
        }
        let value = value.unwrap_or(Val::Missing);
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
        command: &'a Command,
        dot: Val<'a>,
        piped: Option<Val<'a>>,
    ) -> Result<Val<'a>, EvalError> {
        self.budget.spend(1)?;
        if let Operand { term: Term::Function(function), fields, .. } = &command.head
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
        function: Function,
        span: Span,
        arguments: &'a [Operand],
        dot: Val<'a>,
        piped: Option<Val<'a>>,
    ) -> Result<Val<'a>, EvalError> {
        if let Function::And | Function::Or = function {
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
        if self.strict && function.writes() && matches!(piped, Some(Val::Missing)) {
            return Err(self.missing(span));
        }
        let value = function.call(&values, self.budget).map_err(|error| {
            let missing = values.iter().any(|value| matches!(value, Val::Missing));
            let hint = if missing { self.missing(span).hint } else { None };
            EvalError { hint, ..self.failed(span, error) }
        })?;
        if matches!(value, Val::Missing)
            && let Function::Index = function
            && let [before @ .., Val::Text(name)] = values.as_slice()
            && let Ok(Val::Map(within)) = Function::Index.call(before, self.budget)
        {
            self.missed = Some(Missed::index(within, name));
        }
        Ok(value)
    }

    fn argument(
        &mut self,
        function: Function,
        operand: &'a Operand,
        dot: Val<'a>,
    ) -> Result<Val<'a>, EvalError> {
        let value = self.operand(operand, dot)?;
        if self.strict && function.writes() && matches!(value, Val::Missing) {
            return Err(self.missing(operand.whole()));
        }
        Ok(value)
    }

    /// `and` and `or`: the arguments after the one that decides are not looked at.
    fn first_that_decides(
        &mut self,
        function: Function,
        span: Span,
        arguments: &'a [Operand],
        dot: Val<'a>,
        piped: Option<Val<'a>>,
    ) -> Result<Val<'a>, EvalError> {
        let decides = |value: Val<'_>| value.is_true() == (function == Function::Or);
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

    fn operand(&mut self, operand: &'a Operand, dot: Val<'a>) -> Result<Val<'a>, EvalError> {
        self.budget.spend(1 + operand.fields.len())?;
        let value = match &operand.term {
            Term::Dot => dot,
            Term::Variable(variable) => {
                self.variables.get(self.base + variable).copied().unwrap_or(Val::Missing)
            }
            Term::Function(function) => self.call(*function, operand.span, &[], dot, None)?,
            Term::Pipeline(pipeline) => self.pipeline(pipeline, dot)?,
            constant => Self::constant(constant).unwrap_or(Val::Missing),
        };
        let mut value = value;
        for (number, name) in operand.fields.iter().enumerate() {
            value = match value {
                Val::Map(map) => match map.get(name) {
                    Some(value) => Val::from(value),
                    None => {
                        self.missed = Some(Missed::field(operand, number, value));
                        Val::Missing
                    }
                },
                Val::Null => {
                    self.missed = Some(Missed::field(operand, number, value));
                    Val::Missing
                }
                // What is missing stays what it was: the first name that is not there is the one to tell of.
                Val::Missing => Val::Missing,
                value => {
                    let (within, kind) = (Missed::path(self.source, operand, number), value.kind());
                    let message = format!("`{within}` is {kind}, so it has no `{}`", shown(name));
                    return Err(EvalError::new(message));
                }
            };
        }
        Ok(value)
    }

    /// An error, with the part of the template that it comes from.
    pub fn failed(&self, span: Span, error: EvalError) -> EvalError {
        let text = shown(&self.source[span.start..span.end]);
        EvalError { message: format!("`{text}`: {}", error.message), hint: error.hint }
    }
}

impl Operand {
    /// Where it stands with all its names.
    pub fn whole(&self) -> Span {
        let names: usize = self.fields.iter().map(|name| name.len() + 1).sum();
        Span { start: self.span.start, end: self.span.end + names }
    }
}
