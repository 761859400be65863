//! A whole facade block: its texts and its actions.

use syn::{Error, ImplItem, ItemImpl, LitStr, Result, Type, spanned::Spanned};

use crate::{
    action::{Action, Errors, is_action},
    attr::{FacadeOptions, View, Want},
    docs::Docs,
    names,
};

/// A facade, as its block declares it.
pub struct Facade {
    pub ty: Type,
    pub name: String,
    pub title: String,
    pub summary: String,
    pub instructions: Option<String>,
    pub default: Option<LitStr>,
    pub views: Vec<View>,
    pub wants: Vec<Want>,
    pub actions: Vec<Action>,
}

impl Facade {
    /// Parses a block; the error contains all mistakes.
    pub fn read(block: &ItemImpl, options: Result<FacadeOptions>) -> Result<Self> {
        let mut errors = Errors::default();
        let options = errors.take(options).unwrap_or_default();
        if let Some((_, path, _)) = &block.trait_ {
            let sentence = "`#[facade]` goes on a block of the type's own methods: `impl Notes { … }`";
            errors.push(Error::new(path.span(), sentence));
        }
        if !block.generics.params.is_empty() {
            errors.push(Error::new(block.generics.span(), "a facade is one concrete type, without generics"));
        }
        let name = match &options.name {
            Some(name) => {
                errors.take(names::facade(&name.value(), name.span()));
                name.value()
            }
            None => {
                // Cargo sets it for every crate that it compiles.
                let name = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
                let hint = "the crate's name is the facade's; or give another with `#[facade(name = \"…\")]`";
                if let Err(error) = names::facade(&name, block.self_ty.span()) {
                    errors.push(Error::new(block.self_ty.span(), format!("{error}; {hint}")));
                }
                name
            }
        };
        let docs = Docs::read(&block.attrs);
        let summary = options.summary.map_or(docs.summary, |text| text.value());
        if summary.is_empty() {
            let sentence = "a facade needs a doc comment above its `impl` block: \
                            its first paragraph tells the model what the facade is for";
            errors.push(Error::new(block.self_ty.span(), sentence));
        }
        let instructions = match options.instructions {
            Some(text) => Some(text.value()),
            None => Some(docs.rest).filter(|text| !text.is_empty()),
        };
        let marked = block
            .items
            .iter()
            .filter(|item| matches!(item, ImplItem::Fn(f) if f.attrs.iter().any(is_action)));
        if block.trait_.is_none() && marked.count() == 0 {
            let sentence = "a facade has at least one action: a method with `#[action(read)]`";
            errors.push(Error::new(block.self_ty.span(), sentence));
        }
        let methods = block.items.iter().filter_map(|item| match item {
            ImplItem::Fn(method) => Some(method),
            _ => None,
        });
        let read: Vec<_> = methods.map(|method| errors.take(Action::read(method))).collect();
        let complete = read.iter().all(Option::is_some);
        let actions: Vec<Action> = read.into_iter().flatten().flatten().collect();
        errors.take(distinct(&actions));
        if let Some(default) = options.default.as_ref().filter(|_| complete) {
            let names: Vec<_> = actions.iter().map(|action| action.name.value()).collect();
            errors.take(known(default, "there is no action", &names));
        }
        errors.take(once(
            options.wants.iter().map(|want| &want.grant),
            "is requested twice: keep one, with its reason",
        ));
        errors.take(once(options.views.iter().map(|view| &view.name), "is the name of two views"));
        for action in &actions {
            errors.take(once(action.options.needs.iter(), "is given twice"));
        }
        let views: Vec<_> = options.views.iter().map(|view| view.name.value()).collect();
        for view in actions.iter().filter_map(|action| action.options.view.as_ref()) {
            errors.take(known(view, "the facade has no view", &views));
        }
        errors.finish()?;
        Ok(Self {
            ty: (*block.self_ty).clone(),
            title: options.title.map_or_else(|| title(&name), |text| text.value()),
            name,
            summary,
            instructions,
            default: options.default,
            views: options.views,
            wants: options.wants,
            actions,
        })
    }
}

/// `issue-tracker` → `Issue tracker`.
fn title(name: &str) -> String {
    let words = name.replace(['-', '_'], " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Checks that names and aliases are unique. Entries with `cfg` may exclude each other, so the host checks them.
fn distinct(actions: &[Action]) -> Result<()> {
    let mut seen: Vec<(String, &str)> = Vec::new();
    let mut errors = Errors::default();
    for action in actions.iter().filter(|action| action.cfgs.is_empty()) {
        let names = std::iter::once((&action.name, "action"))
            .chain(action.options.aliases.iter().map(|a| (a, "alias")));
        for (name, kind) in names {
            match seen.iter().find(|(other, _)| *other == name.value()) {
                Some((_, other)) => {
                    let sentence =
                        format!("`{}` is already the name of an {other} of this facade", name.value());
                    errors.push(Error::new(name.span(), sentence));
                }
                None => seen.push((name.value(), kind)),
            }
        }
    }
    errors.finish()
}

/// Checks that no text occurs twice.
fn once<'a>(texts: impl Iterator<Item = &'a LitStr>, complaint: &str) -> Result<()> {
    let mut seen = Vec::new();
    for text in texts {
        if seen.contains(&text.value()) {
            return Err(Error::new(text.span(), format!("`{}` {complaint}", text.value())));
        }
        seen.push(text.value());
    }
    Ok(())
}

fn known(given: &LitStr, lack: &str, names: &[String]) -> Result<()> {
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    if names.contains(&given.value().as_str()) {
        return Ok(());
    }
    Err(Error::new(given.span(), names::unknown(lack, &given.value(), &names)))
}
