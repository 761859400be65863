//! Successful results with more than data.

use serde::Serialize;

use crate::{Content, Object};

/// Data with a message, a page of a longer list, a suggested next call, or media.
///
/// ```
/// # use loggia_sdk::prelude::*;
/// fn answer(notes: Vec<String>) -> Result<Reply<Vec<String>>> {
///     let page = Page::of(notes.len()).total(112).cursor("20");
///     Ok(Reply::new(notes).message("The newest notes first.").page(page))
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Reply<T> {
    /// The result itself.
    pub data: T,
    /// A sentence for the model or the person.
    pub message: Option<String>,
    /// Set if `data` is part of a longer list.
    pub page: Option<Page>,
    /// Suggested next call.
    pub next: Option<Next>,
    /// Content besides the JSON: images, audio, resources, text.
    pub content: Vec<Content>,
}

impl<T> Reply<T> {
    /// A reply that is nothing but data.
    pub fn new(data: T) -> Self {
        Self { data, message: None, page: None, next: None, content: Vec::new() }
    }

    /// Adds a sentence for the model or the person.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets the position in a longer list.
    #[must_use]
    pub fn page(mut self, page: Page) -> Self {
        self.page = Some(page);
        self
    }

    /// Sets the suggested next call.
    #[must_use]
    pub fn next(mut self, next: Next) -> Self {
        self.next = Some(next);
        self
    }

    /// Adds a content block; may be repeated.
    #[must_use]
    pub fn content(mut self, content: impl Into<Content>) -> Self {
        self.content.push(content.into());
        self
    }

    /// Sets the number of items unless the author did.
    pub(crate) fn counted(mut self, items: Option<usize>) -> Self {
        if let Some(count) = items.and_then(|items| u64::try_from(items).ok()) {
            self.page.get_or_insert_default().count.get_or_insert(count);
        }
        self
    }

    /// Replaces the data.
    pub(crate) fn with<U>(self, data: U) -> Reply<U> {
        let Self { message, page, next, content, .. } = self;
        Reply { data, message, page, next, content }
    }
}

/// Position of a list in a longer one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Page {
    /// Number of items in this reply; filled in if the data is a list.
    pub count: Option<u64>,
    /// Total number of items.
    pub total: Option<u64>,
    /// Opaque cursor for the next page; `None` on the last.
    pub cursor: Option<String>,
}

impl Page {
    /// A page of this many items. If the data is a list, the SDK fills in the count of `Page::default()`.
    pub fn of(count: usize) -> Self {
        Self { count: u64::try_from(count).ok(), ..Self::default() }
    }

    /// Sets the total number of items.
    #[must_use]
    pub fn total(mut self, total: usize) -> Self {
        self.total = u64::try_from(total).ok();
        self
    }

    /// Sets the cursor of the next page.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }
}

/// The call that should follow this one.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Next {
    /// Facade; `None` for the plugin's own.
    pub facade: Option<String>,
    /// Action.
    pub action: String,
    /// Parameters.
    pub params: Object,
    /// Why.
    pub reason: Option<String>,
}

impl Next {
    /// An action of the plugin's own facade.
    pub fn action(action: impl Into<String>) -> Self {
        Self { action: action.into(), ..Self::default() }
    }

    /// An action of another facade.
    pub fn of(facade: impl Into<String>, action: impl Into<String>) -> Self {
        Self { facade: Some(facade.into()), ..Self::action(action) }
    }

    /// Adds a parameter. One that cannot be written as JSON is left out, for the caller to fill in.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        if let Ok(value) = serde_json::to_value(value) {
            self.params.insert(name.into(), value);
        }
        self
    }

    /// Sets the reason.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}
