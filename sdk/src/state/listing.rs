//! Rows as a list gives them.

use crate::{Page, Reply};

/// A value of a collection, with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Item<T> {
    /// Under which it is kept.
    pub id: String,
    /// The value.
    pub value: T,
}

impl<T> Item<T> {
    pub(super) fn new(id: String, value: T) -> Self {
        Self { id, value }
    }
}

/// A part of a collection, ordered by id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing<T> {
    /// The values.
    pub items: Vec<Item<T>>,
    /// Gives the next part; none on the last one.
    pub cursor: Option<String>,
}

impl<T> Listing<T> {
    pub(super) fn new(items: Vec<Item<T>>, cursor: Option<String>) -> Self {
        Self { items, cursor }
    }

    /// The values alone, as an action returns them: counted, and with the cursor of the next part.
    pub fn reply(self) -> Reply<Vec<T>> {
        self.reply_with(|item| item.value)
    }

    /// The same, of something made of each.
    ///
    /// ```
    /// # use loggia_sdk::{prelude::*, state::Collection};
    /// static TITLES: Collection<String> = Collection::new("titles");
    ///
    /// #[derive(Serialize, JsonSchema)]
    /// struct Titled {
    ///     id: String,
    ///     title: String,
    /// }
    ///
    /// fn list(cursor: Option<&str>) -> Result<Reply<Vec<Titled>>> {
    ///     Ok(TITLES.page(cursor, 20)?.reply_with(|item| Titled { id: item.id, title: item.value }))
    /// }
    /// ```
    pub fn reply_with<U>(self, make: impl FnMut(Item<T>) -> U) -> Reply<Vec<U>> {
        let items: Vec<U> = self.items.into_iter().map(make).collect();
        let mut page = Page::of(items.len());
        page.cursor = self.cursor;
        Reply::new(items).page(page)
    }
}
