//! Calls of facades in a program: `facade.action(…)`, `facade.action.full(…)`, `call("facade", "action", …)`.

use std::ops::ControlFlow;

use boa_engine::{
    ast::{
        Expression, Spanned,
        expression::{
            Call,
            access::{PropertyAccess, PropertyAccessField},
            literal::LiteralKind,
        },
        visitor::{VisitWith, Visitor},
    },
    interner::Interner,
};

use super::literal::{Argument, has_open_members, read_argument, text};
use crate::{place::Place, program::Program};

/// A call of an action.
pub struct FoundCall {
    pub facade: String,
    pub action: String,
    /// True for `call("facade", "action")`.
    pub is_by_name: bool,
    pub argument: Argument,
    /// True if the argument may have more members than it shows.
    pub has_spread: bool,
    pub place: Option<Place>,
}

/// Finds the calls of a program.
pub fn find_calls(program: &Program<'_>, interner: &Interner) -> Vec<FoundCall> {
    let mut finder = Finder { interner, calls: Vec::new() };
    let _ = finder.visit_function_body(&program.body);
    finder.calls
}

struct Finder<'a> {
    interner: &'a Interner,
    calls: Vec<FoundCall>,
}

impl Finder<'_> {
    /// Reads `target.name`, or `target["name"]`.
    fn access<'e>(&self, expression: &'e Expression) -> Option<(&'e Expression, String)> {
        let Expression::PropertyAccess(PropertyAccess::Simple(access)) = expression else { return None };
        let name = match access.field() {
            PropertyAccessField::Const(name) => text(name.sym(), self.interner),
            PropertyAccessField::Expr(name) => self.literal(name)?,
        };
        Some((access.target(), name))
    }

    fn literal(&self, expression: &Expression) -> Option<String> {
        let Expression::Literal(literal) = expression else { return None };
        match literal.kind() {
            LiteralKind::String(value) => Some(text(*value, self.interner)),
            _ => None,
        }
    }

    fn identifier(&self, expression: &Expression) -> Option<String> {
        let Expression::Identifier(name) = expression else { return None };
        Some(text(name.sym(), self.interner))
    }

    /// Reads the facade and the action of a called function. The action is empty for `call`.
    fn callee(&self, function: &Expression) -> Option<(String, String)> {
        if let Some(name) = self.identifier(function) {
            return (name == "call").then(|| (name, String::new()));
        }
        let (target, name) = self.access(function)?;
        let is_full = name == "full";
        if let Some(facade) = self.identifier(target) {
            return if is_full && facade == "call" {
                Some((facade, String::new()))
            } else {
                Some((facade, name))
            };
        }
        let (facade, action) = self.access(target).filter(|_| is_full)?;
        Some((self.identifier(facade)?, action))
    }
}

impl<'ast> Visitor<'ast> for Finder<'_> {
    type BreakTy = ();

    fn visit_call(&mut self, node: &'ast Call) -> ControlFlow<()> {
        if let Some((facade, action)) = self.callee(node.function()) {
            let place = Place::of(node.function().span().start());
            if !action.is_empty() {
                let argument = read_argument(node.args(), self.interner);
                let has_spread = has_open_members(node.args());
                let is_by_name = false;
                self.calls.push(FoundCall { facade, action, is_by_name, argument, has_spread, place });
            } else if let [facade, action, rest @ ..] = node.args()
                && let (Some(facade), Some(action)) = (self.literal(facade), self.literal(action))
            {
                let argument = read_argument(rest, self.interner);
                let has_spread = has_open_members(rest);
                self.calls.push(FoundCall { facade, action, is_by_name: true, argument, has_spread, place });
            }
        }
        node.visit_with(self)
    }
}
