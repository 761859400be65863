//! What an action gives back when it worked and has more to say than its data.

use serde::Serialize;

use crate::{Content, Object};

/// Data, with a message, a place in a longer list, the call that should come next, or media.
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
    /// Where `data` is a part of a longer list.
    pub page: Option<Page>,
    /// The call that should come next.
    pub next: Option<Next>,
    /// Content beside the JSON: images, audio, resources, further text.
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

    /// Says where the data stands in a longer list.
    #[must_use]
    pub fn page(mut self, page: Page) -> Self {
        self.page = Some(page);
        self
    }

    /// Names the call that should come next.
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

    /// Says how many items there are in this reply, where the author did not.
    pub(crate) fn counted(mut self, items: Option<usize>) -> Self {
        if let Some(count) = items.and_then(|items| u64::try_from(items).ok()) {
            self.page.get_or_insert_default().count.get_or_insert(count);
        }
        self
    }

    /// The same reply around other data.
    pub(crate) fn with<U>(self, data: U) -> Reply<U> {
        let Self { message, page, next, content, .. } = self;
        Reply { data, message, page, next, content }
    }
}

/// Where a list stands in a longer one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Page {
    /// Items in this reply; filled in where the data is a list.
    pub count: Option<u64>,
    /// Items there are.
    pub total: Option<u64>,
    /// Opaque to the caller, who gives it back to get the next part; none on the last page.
    pub cursor: Option<String>,
}

impl Page {
    /// A page of so many items. Where the data is a list, the SDK counts what `Page::default()` leaves open.
    pub fn of(count: usize) -> Self {
        Self { count: u64::try_from(count).ok(), ..Self::default() }
    }

    /// Says how many items there are in all.
    #[must_use]
    pub fn total(mut self, total: usize) -> Self {
        self.total = u64::try_from(total).ok();
        self
    }

    /// Says how to get the next page.
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
    /// Which facade; none for the plugin's own.
    pub facade: Option<String>,
    /// Which of its actions.
    pub action: String,
    /// With what parameters.
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

    /// Says why.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}
