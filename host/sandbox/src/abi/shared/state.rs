//! The interface `state`: the plugin's own durable state.

use super::{
    bindings::{
        state::{Change, Entries, Entry, Host, Space},
        types::Failure,
    },
    from_guest, to_guest,
};
use crate::guest::GuestState;

impl Host for GuestState {
    async fn get(&mut self, space: Space, keys: Vec<String>) -> Result<Vec<Option<Entry>>, Failure> {
        let state = self.capabilities.state().map_err(to_guest::failure)?;
        let found = state.get(from_guest::space(space), keys).await;
        let found = found.map_err(to_guest::failure)?;
        Ok(found.into_iter().map(|entry| entry.map(to_guest::entry)).collect())
    }

    async fn scan(
        &mut self,
        space: Space,
        prefix: String,
        after: Option<String>,
        limit: u32,
        at: Option<u64>,
    ) -> Result<Entries, Failure> {
        let state = self.capabilities.state().map_err(to_guest::failure)?;
        let page = state.scan(from_guest::space(space), prefix, after, limit, at).await;
        page.map(to_guest::entries).map_err(to_guest::failure)
    }

    async fn commit(&mut self, space: Space, changes: Vec<Change>) -> Result<u64, Failure> {
        let state = self.capabilities.state().map_err(to_guest::failure)?;
        let changes = changes.into_iter().map(from_guest::change).collect();
        let version = state.commit(from_guest::space(space), changes).await;
        version.map_err(to_guest::failure)
    }
}
