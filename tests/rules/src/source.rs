//! The modules of a crate, as its `mod` declarations give them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta, Visibility};

use crate::{
    imports::{self, Import},
    root,
};

/// A crate of the workspace.
pub struct CrateSource {
    /// As paths name it: `loggia_schema`.
    pub name: String,
    /// Its modules, by their paths; the root's is empty.
    pub modules: BTreeMap<Vec<String>, ModuleSource>,
}

/// One module, without its tests.
#[derive(Default)]
pub struct ModuleSource {
    /// The file it stands in, from the root of the repository.
    pub file: String,
    /// The paths that it names.
    pub imports: Vec<Import>,
    /// What `use` declarations call something else's: the name, and the path as it is written.
    pub aliases: BTreeMap<String, Vec<String>>,
    /// Modules all of whose items are imported.
    pub globs: Vec<Vec<String>>,
    /// Modules that are declared here.
    pub children: BTreeSet<String>,
    /// Types and traits that are visible outside of this module, with the line.
    pub types: Vec<(String, usize)>,
    /// Whether it defines anything but modules and imports.
    pub has_items: bool,
}

impl CrateSource {
    /// Parses the crate whose `Cargo.toml` is in this folder.
    ///
    /// # Panics
    ///
    /// If a file is missing or does not parse.
    pub fn of(folder: &str) -> Self {
        let manifest = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("a manifest");
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = ")).expect("a name");
        let name = name.trim_matches('"').replace('-', "_");
        let src = root().join(folder).join("src");
        let mut modules = BTreeMap::new();
        let file = src.join("lib.rs");
        read(&mut modules, Vec::new(), &file, &src);
        Self { name, modules }
    }

    /// A crate of one file with this text.
    ///
    /// # Panics
    ///
    /// If it does not parse.
    pub fn parsed(name: &str, file: &str, text: &str) -> Self {
        let mut modules = BTreeMap::new();
        let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        take(&mut modules, Vec::new(), file, &parsed.items, Path::new(""));
        Self { name: name.to_owned(), modules }
    }

    /// The module that a path names or is within, by as many of its segments as are modules.
    pub fn deepest(&self, path: &[String]) -> usize {
        (0..=path.len()).rev().find(|&n| self.modules.contains_key(&path[..n])).unwrap_or(0)
    }
}

fn read(modules: &mut BTreeMap<Vec<String>, ModuleSource>, path: Vec<String>, file: &Path, below: &Path) {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let name = file.strip_prefix(root()).expect("below the root").display().to_string();
    take(modules, path, &name, &parsed.items, below);
}

/// Takes the items of one module, and goes on with the modules that it declares.
fn take(
    modules: &mut BTreeMap<Vec<String>, ModuleSource>,
    path: Vec<String>,
    file: &str,
    items: &[Item],
    below: &Path,
) {
    let mut module = ModuleSource { file: file.to_owned(), ..ModuleSource::default() };
    for item in items.iter().filter(|item| !is_test(attributes(item))) {
        match item {
            Item::Mod(declared) => {
                let name = declared.ident.to_string();
                module.children.insert(name.clone());
                let child: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
                match &declared.content {
                    Some((_, items)) => take(modules, child, file, items, &below.join(&name)),
                    None => {
                        let flat = below.join(format!("{name}.rs"));
                        let file: PathBuf = match path_of(&declared.attrs) {
                            Some(given) => beside(file, &given),
                            None if flat.exists() => flat,
                            None => below.join(&name).join("mod.rs"),
                        };
                        read(modules, child, &file, &below.join(&name));
                    }
                }
            }
            Item::Use(_) => {}
            _ => module.has_items = true,
        }
        if let Some((name, line)) = visible_type(item) {
            module.types.push((name, line));
        }
    }
    imports::collect(&mut module, items);
    modules.insert(path, module);
}

/// The file that `#[path = "…"]` gives a module.
fn path_of(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("path") => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    })
}

/// A path from the folder of a file.
fn beside(file: &str, path: &str) -> PathBuf {
    let mut found = root().join(file).parent().expect("a folder").to_owned();
    for part in path.split('/') {
        match part {
            ".." => _ = found.pop(),
            part => found.push(part),
        }
    }
    found
}

/// A type or trait that other modules can name.
fn visible_type(item: &Item) -> Option<(String, usize)> {
    let (visibility, name) = match item {
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        Item::Union(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    let visible = !matches!(visibility, Visibility::Inherited);
    visible.then(|| (name.to_string(), name.span().start().line))
}

/// The attributes of an item.
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether something is compiled for tests alone.
pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}
