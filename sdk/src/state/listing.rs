//! Rows as a list gives them.

use crate::{Page, Reply};

/// A value of a collection, with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Item<T> {
    /// Id of the row.
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
    /// Cursor of the next page; `None` on the last.
    pub cursor: Option<String>,
}

impl<T> Listing<T> {
    pub(super) fn new(items: Vec<Item<T>>, cursor: Option<String>) -> Self {
        Self { items, cursor }
    }

    /// Converts to a reply with the values, the count, and the cursor of the next page.
    pub fn reply(self) -> Reply<Vec<T>> {
        self.reply_with(|item| item.value)
    }

    /// Like [`reply`](Self::reply), with a conversion of each value.
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
