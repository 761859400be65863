//! Rows by age.

use serde::{Serialize, de::DeserializeOwned};

use super::{Collection, Item, Listing, id_with_number, number_in_id, table::decode};
use crate::{Failure, Result, failure::code};

/// Number of rows per read.
const PART: u64 = 100;

impl<T: Serialize + DeserializeOwned> Collection<T> {
    /// Lists rows whose ids [were generated](Self::create) with this prefix, newest first: at most `limit` of those
    /// that `keep` accepts, starting after the cursor of an earlier page. The cursor reveals an id to the caller.
    ///
    /// Rows are scanned until there are enough, so a selective `keep` reads many.
    ///
    /// ```
    /// # use loggia_sdk::{prelude::*, state::Collection, testing::{Host, Store}};
    /// static TASKS: Collection<String> = Collection::new("tasks");
    ///
    /// # Host::new().store(&Store::new()).run(|| {
    /// for title in ["milk", "bread", "music"] {
    ///     TASKS.create("t_", |_| title.to_owned()).unwrap();
    /// }
    /// let page = TASKS.newest("t_", None, 2, |title| title != "bread").unwrap();
    /// assert_eq!(page.items[0].id, "t_0003");
    /// assert_eq!(page.items[1].id, "t_0001");
    /// assert_eq!(page.cursor, None);
    /// # });
    /// ```
    ///
    /// # Errors
    ///
    /// `invalid_params` for an invalid cursor; otherwise like [`get`](Self::get).
    pub fn newest(
        &self,
        prefix: &str,
        cursor: Option<&str>,
        limit: u32,
        mut keep: impl FnMut(&T) -> bool,
    ) -> Result<Listing<T>> {
        let end = self.last()?.saturating_add(1);
        // A cursor is untrusted: there are no rows beyond the last.
        let mut below = cursor.map_or(Ok(end), |cursor| number(prefix, cursor))?.min(end);
        let limit = limit.max(1) as usize;
        let mut part = PART;
        let mut items: Vec<Item<T>> = Vec::new();
        while below > 1 {
            let from = below.saturating_sub(part).max(1);
            let ids: Vec<String> = (from..below).rev().map(|number| id_with_number(prefix, number)).collect();
            let rows = match self.get_many(&ids) {
                // The rows are too large to be read together.
                Err(failure) if failure.code == code::INVALID_PARAMS && part > 1 => {
                    part = part.div_ceil(8);
                    continue;
                }
                rows => rows?,
            };
            for (id, row) in ids.into_iter().zip(rows) {
                let Some(value) = row.filter(&mut keep) else { continue };
                if items.len() == limit {
                    let cursor = items.last().map(|item| item.id.clone());
                    return Ok(Listing::new(items, cursor));
                }
                items.push(Item::new(id, value));
            }
            below = from;
        }
        Ok(Listing::new(items, None))
    }

    /// The number in the newest id.
    fn last(&self) -> Result<u64> {
        let entry = self.space().get(&self.table.last())?;
        Ok(entry.map(|entry| decode(&entry.key, &entry.value)).transpose()?.unwrap_or_default())
    }
}

fn number(prefix: &str, id: &str) -> Result<u64> {
    number_in_id(prefix, id).ok_or_else(|| {
        Failure::invalid_params(format!("`cursor` is not one: \"{id}\""))
            .hint("Give the `cursor` of the last answer as it is, or none.")
    })
}
