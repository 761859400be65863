//! Names of variables in a program.

use std::{
    collections::{BTreeMap, HashSet},
    mem,
    ops::ControlFlow,
};

use boa_engine::{
    ast::{
        Spanned,
        declaration::Binding,
        expression::{Identifier, access::PropertyAccessField},
        function::{
            AsyncFunctionDeclaration, ClassDeclaration, FunctionBody, FunctionDeclaration,
            GeneratorDeclaration,
        },
        pattern::Pattern,
        property::PropertyName,
        visitor::{VisitWith, Visitor},
    },
    interner::{Interner, Sym},
};

use crate::place::Place;

/// Names of a program.
pub struct Names {
    /// All of them, each with the place where it is used first.
    pub used: BTreeMap<String, Place>,
    /// Those that the program declares somewhere, in any scope.
    pub declared: HashSet<String>,
}

impl Names {
    /// Collects the names of a program.
    pub fn of(body: &FunctionBody, interner: &Interner) -> Self {
        let mut finder = Finder { used: BTreeMap::new(), declared: HashSet::new(), in_pattern: false };
        let _ = finder.visit_function_body(body);
        let text = |name: Sym| interner.resolve_expect(name).to_string();
        Self {
            used: finder.used.into_iter().map(|(name, place)| (text(name), place)).collect(),
            declared: finder.declared.into_iter().map(text).collect(),
        }
    }
}

struct Finder {
    used: BTreeMap<Sym, Place>,
    declared: HashSet<Sym>,
    in_pattern: bool,
}

impl<'ast> Visitor<'ast> for Finder {
    type BreakTy = ();

    fn visit_identifier(&mut self, node: &'ast Identifier) -> ControlFlow<()> {
        if self.in_pattern {
            self.declared.insert(node.sym());
        }
        if let Some(place) = Place::of(node.span().start()) {
            self.used.entry(node.sym()).or_insert(place);
        }
        ControlFlow::Continue(())
    }

    fn visit_binding(&mut self, node: &'ast Binding) -> ControlFlow<()> {
        if let Binding::Identifier(name) = node {
            self.declared.insert(name.sym());
        }
        node.visit_with(self)
    }

    /// All names of a pattern count as declared, those of its default values, too.
    fn visit_pattern(&mut self, node: &'ast Pattern) -> ControlFlow<()> {
        let was = mem::replace(&mut self.in_pattern, true);
        let flow = node.visit_with(self);
        self.in_pattern = was;
        flow
    }

    fn visit_property_access_field(&mut self, node: &'ast PropertyAccessField) -> ControlFlow<()> {
        match node {
            PropertyAccessField::Const(_) => ControlFlow::Continue(()),
            PropertyAccessField::Expr(_) => node.visit_with(self),
        }
    }

    fn visit_property_name(&mut self, node: &'ast PropertyName) -> ControlFlow<()> {
        match node {
            PropertyName::Literal(_) => ControlFlow::Continue(()),
            PropertyName::Computed(_) => node.visit_with(self),
        }
    }

    fn visit_function_declaration(&mut self, node: &'ast FunctionDeclaration) -> ControlFlow<()> {
        self.declared.insert(node.name().sym());
        node.visit_with(self)
    }

    fn visit_async_function_declaration(&mut self, node: &'ast AsyncFunctionDeclaration) -> ControlFlow<()> {
        self.declared.insert(node.name().sym());
        node.visit_with(self)
    }

    fn visit_generator_declaration(&mut self, node: &'ast GeneratorDeclaration) -> ControlFlow<()> {
        self.declared.insert(node.name().sym());
        node.visit_with(self)
    }

    fn visit_class_declaration(&mut self, node: &'ast ClassDeclaration) -> ControlFlow<()> {
        self.declared.insert(node.name().sym());
        node.visit_with(self)
    }
}
