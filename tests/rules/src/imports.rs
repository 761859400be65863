//! Every path that a module names: in `use` trees however they are nested, in expressions, types and patterns, and in the
//! tokens of macros.

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, ImplItem, Item, ItemUse, Macro, TraitItem, UseTree,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::source::{ModuleSource, attributes, is_test};

/// One path, as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The line of the file, from 1.
    pub line: usize,
    /// `["crate", "gate", "Plan"]`.
    pub path: Vec<String>,
}

/// Adds the paths that these items name to their module. Modules within it are not looked into.
pub fn collect(module: &mut ModuleSource, items: &[Item]) {
    let mut collector = PathCollector { module };
    for item in items.iter().filter(|item| !matches!(item, Item::Mod(_))) {
        collector.visit_item(item);
    }
}

struct PathCollector<'a> {
    module: &'a mut ModuleSource,
}

impl PathCollector<'_> {
    fn add(&mut self, line: usize, path: Vec<String>) {
        self.module.imports.push(Import { line, path });
    }

    fn tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: &str| {
            let own = (name != "self").then(|| name.to_owned());
            before.iter().cloned().chain(own).collect::<Vec<_>>()
        };
        let line = tree.span().start().line;
        match tree {
            UseTree::Path(path) => {
                let name = path.ident.to_string();
                let under = before.iter().cloned().chain([name]).collect::<Vec<_>>();
                self.tree(&under, &path.tree);
            }
            UseTree::Name(name) => {
                let path = with(&name.ident.to_string());
                if let Some(last) = path.last() {
                    self.module.aliases.insert(last.clone(), path.clone());
                }
                self.add(line, path);
            }
            UseTree::Rename(name) => {
                let path = with(&name.ident.to_string());
                self.module.aliases.insert(name.rename.to_string(), path.clone());
                self.add(line, path);
            }
            UseTree::Glob(_) => {
                self.module.globs.push(before.to_vec());
                self.add(line, before.to_vec());
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(before, tree)),
        }
    }

    /// Paths within the tokens of a macro: names that `::` joins.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.end(line, &mut path);
                        line = name.span().start().line;
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.end(line, &mut path);
                    self.tokens(group.stream());
                    colons = 0;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    self.end(line, &mut path);
                    colons = 0;
                }
            }
        }
        self.end(line, &mut path);
    }

    fn end(&mut self, line: usize, path: &mut Vec<String>) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.add(line, path);
        }
    }
}

impl<'ast> Visit<'ast> for PathCollector<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let test = matches!(item, ImplItem::Fn(item) if is_test(&item.attrs));
        if !test {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let test = matches!(item, TraitItem::Fn(item) if is_test(&item.attrs));
        if !test {
            visit::visit_trait_item(self, item);
        }
    }

    // Attributes name derives and tools, not what the code does.
    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    // `pub(in crate::x)` is no import.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 {
            self.add(path.span().start().line, names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast Macro) {
        self.tokens(called.tokens.clone());
        self.visit_path(&called.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths that a text names, each with its line.
    fn check(text: &str, expected: &[&str]) {
        let mut module = ModuleSource::default();
        collect(&mut module, &syn::parse_file(text).expect("Rust").items);
        let got: Vec<String> = module.imports.iter().map(|import| import.path.join("::")).collect();
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn paths_are_found_wherever_they_stand() {
        check(
            "use std::{\n    fs,\n    path::{Path, PathBuf},\n};",
            &["std::fs", "std::path::Path", "std::path::PathBuf"],
        );
        check("use std::fs::{self, File as Opened};", &["std::fs", "std::fs::File"]);
        check("use std::net::*;", &["std::net"]);
        check("fn f() { use std::fs; }", &["std::fs"]);
        check("fn f() { std::fs::read(\"x\"); }", &["std::fs::read"]);
        check("struct S { f: Option<std::fs::File> }", &["std::fs::File"]);
        check("fn f() { println!(\"{}\", std::process::id()); }", &["std::process::id"]);
        check("impl S { fn f(&self) { if let std::net::IpAddr::V4(_) = x {} } }", &["std::net::IpAddr::V4"]);
    }

    #[test]
    fn what_is_compiled_for_tests_alone_is_left_out() {
        check("#[cfg(test)] use std::fs; #[cfg(test)] fn f() { std::fs::read(\"x\"); }", &[]);
        check("impl S { #[cfg(test)] fn f() { std::fs::read(\"x\"); } }", &[]);
        check("/// `std::fs::read`\nfn f() {} // std::fs", &[]);
    }
}
