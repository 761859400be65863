//! The interface `state`: denied until a policy can grant a store.

use loggia_facade::{Failure, code};

use crate::{
    abi::v0_1::{
        failure_down,
        state::{Change, Entries, Entry, Host, Space},
        types,
    },
    guest::Guest,
};

fn denied() -> types::Failure {
    let hint = "the policy of this plugin does not grant `store`";
    failure_down(Failure::new(code::DENIED, "access denied").hint(hint))
}

impl Host for Guest {
    fn get(&mut self, _space: Space, _keys: Vec<String>) -> Result<Vec<Option<Entry>>, types::Failure> {
        Err(denied())
    }

    fn scan(
        &mut self,
        _space: Space,
        _prefix: String,
        _after: Option<String>,
        _limit: u32,
        _at: Option<u64>,
    ) -> Result<Entries, types::Failure> {
        Err(denied())
    }

    fn commit(&mut self, _space: Space, _changes: Vec<Change>) -> Result<u64, types::Failure> {
        Err(denied())
    }
}
