//! Gets, pages and lists: each is one statement, and so sees one state.

use std::collections::HashMap;

use loggia_state::{
    ChangeMark, ChangedKey, GET_BYTES, ListedEntry, OVERHEAD, SpaceChanges, StateChange, StateEntry,
    StateError, StatePage, StateSpace, StoreUsage,
    backend::{ChangeRange, ScanRange, check_versions, space_from_key, space_key},
};
use tokio_postgres::{Row, Statement};

use super::{
    pool::{SessionPool, StoreFault, StoreSession, StoreTarget},
    statements::StoreStatements,
};
use crate::params::Params;

/// Runs one statement that reads.
async fn query(
    pool: &SessionPool,
    statement: impl Fn(&StoreStatements) -> &Statement,
    params: Params<'_>,
) -> Result<Vec<Row>, StateError> {
    pool.run(|session: StoreSession, _| async {
        let rows = session.database.client.query(statement(&session.statements), params).await?;
        Ok::<_, StoreFault>((session, rows))
    })
    .await
}

/// Converts a column that a store did not write so.
pub(crate) fn damaged(what: impl std::fmt::Display) -> StateError {
    StateError::Storage(format!("the tables are damaged: {what}"))
}

pub(crate) fn column<'a, T: tokio_postgres::types::FromSql<'a>>(
    row: &'a Row,
    index: usize,
) -> Result<T, StateError> {
    row.try_get(index).map_err(damaged)
}

pub(crate) fn number(row: &Row, index: usize) -> Result<u64, StateError> {
    column::<i64>(row, index).and_then(|number| u64::try_from(number).map_err(damaged))
}

pub(crate) fn text(bytes: &[u8]) -> Result<String, StateError> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(damaged)
}

fn bytes_of<'a>(keys: impl IntoIterator<Item = &'a String>) -> Vec<&'a [u8]> {
    keys.into_iter().map(|key| key.as_bytes()).collect()
}

fn too_large() -> StateError {
    let message = format!("these keys have values of more than {GET_BYTES} bytes: get fewer at once");
    StateError::Invalid(message)
}

pub(crate) async fn get(
    pool: &SessionPool,
    target: &StoreTarget,
    space: StateSpace,
    keys: &[String],
) -> Result<Vec<Option<StateEntry>>, StateError> {
    let (name, space, now) = (&*target.name, space_key(&space), target.now);
    if let [key] = keys {
        let params: Params<'_> = &[&name, &space, &key.as_bytes(), &now];
        let rows = query(pool, |statements| &statements.get_one, params).await?;
        let entry = rows.first().map(|row| {
            Ok::<_, StateError>(StateEntry {
                key: key.clone(),
                value: column(row, 1)?,
                version: number(row, 0)?,
            })
        });
        return Ok(vec![entry.transpose()?]);
    }
    let params: Params<'_> = &[&name, &space, &bytes_of(keys), &now];
    let rows = query(pool, |statements| &statements.get, params).await?;
    let mut found: HashMap<&[u8], (u64, &[u8])> = HashMap::new();
    for row in &rows {
        let value: Option<&[u8]> = column(row, 2)?;
        found.insert(column(row, 0)?, (number(row, 1)?, value.ok_or_else(too_large)?));
    }
    // A key may be asked for twice.
    let sizes = keys.iter().filter_map(|key| found.get(key.as_bytes())).map(|(_, value)| value.len());
    if sizes.sum::<usize>() > GET_BYTES {
        return Err(too_large());
    }
    let entries = keys.iter().map(|key| {
        let (version, value) = *found.get(key.as_bytes())?;
        Some(StateEntry { key: key.clone(), value: value.to_vec(), version })
    });
    Ok(entries.collect())
}

pub(crate) async fn scan(
    pool: &SessionPool,
    target: &StoreTarget,
    space: StateSpace,
    range: &ScanRange,
) -> Result<StatePage, StateError> {
    let limit = i64::try_from(range.limit).unwrap_or(i64::MAX - 1);
    let params: Params<'_> =
        &[&&*target.name, &space_key(&space), &range.from, &range.to, &limit, &target.now];
    let rows = query(pool, |statements| &statements.scan, params).await?;
    let Some(first) = rows.first() else { return range.page_of_nothing() };
    let (revision, written) = (number(first, 0)?, number(first, 1)?);
    if range.at.is_some_and(|at| at > revision || at < written) {
        return Err(StateError::Moved);
    }
    let mut page = StatePage { items: Vec::new(), more: false, revision };
    for row in &rows {
        let Some(key) = column::<Option<&[u8]>>(row, 2)? else { break };
        let Some(value) = column::<Option<Vec<u8>>>(row, 4)? else {
            page.more = true;
            break;
        };
        page.items.push(StateEntry { key: text(key)?, value, version: number(row, 3)? });
    }
    Ok(page)
}

pub(crate) async fn changes(
    pool: &SessionPool,
    target: &StoreTarget,
    space: StateSpace,
    range: &ChangeRange,
) -> Result<SpaceChanges, StateError> {
    let limit = i64::try_from(range.limit).unwrap_or(i64::MAX - 1);
    let ChangeMark { version, key } = &range.after;
    let version = i64::try_from(*version).unwrap_or(i64::MAX);
    let last = key.as_ref().map_or_else(|| vec![0xff], |key| key.as_bytes().to_vec());
    let params: Params<'_> = &[
        &&*target.name,
        &space_key(&space),
        &range.from,
        &range.to,
        &version,
        &last,
        &key.is_some(),
        &limit,
        &target.now,
    ];
    let rows = query(pool, |statements| &statements.changes, params).await?;
    let mut found = Vec::new();
    for row in &rows {
        if let Some(key) = column::<Option<&[u8]>>(row, 1)? {
            found.push(ChangedKey { key: text(key)?, version: number(row, 2)? });
        }
    }
    let revision = rows.first().map_or(Ok(0), |row| number(row, 0))?;
    Ok(range.list(found, revision))
}

pub(crate) async fn check(
    pool: &SessionPool,
    target: &StoreTarget,
    space: StateSpace,
    changes: &[StateChange],
) -> Result<u64, StateError> {
    let keys = bytes_of(changes.iter().map(|change| &change.key));
    let params: Params<'_> = &[&&*target.name, &space_key(&space), &keys, &target.now];
    let rows = query(pool, |statements| &statements.versions, params).await?;
    let mut found: HashMap<&[u8], u64> = HashMap::new();
    for row in &rows {
        if let Some(key) = column::<Option<&[u8]>>(row, 1)? {
            found.insert(key, number(row, 2)?);
        }
    }
    check_versions(changes, changes.iter().map(|change| found.get(change.key.as_bytes()).copied()))?;
    rows.first().map_or(Ok(0), |row| number(row, 0))
}

pub(crate) async fn usage(pool: &SessionPool, target: &StoreTarget) -> Result<StoreUsage, StateError> {
    let rows = query(pool, |statements| &statements.usage, &[&&*target.name, &target.now]).await?;
    let Some(row) = rows.first() else { return Ok(StoreUsage::default()) };
    Ok(StoreUsage { revision: number(row, 0)?, entries: number(row, 1)?, bytes: number(row, 2)? })
}

pub(crate) async fn list(pool: &SessionPool, target: &StoreTarget) -> Result<Vec<ListedEntry>, StateError> {
    let rows = query(pool, |statements| &statements.list, &[&&*target.name, &target.now]).await?;
    let listed = rows.iter().map(|row| {
        let key: &[u8] = column(row, 1)?;
        let until: Option<i64> = column(row, 4)?;
        Ok(ListedEntry {
            space: space_from_key(column(row, 0)?).ok_or_else(|| damaged("an unknown space"))?,
            bytes: number(row, 2)?.saturating_sub(OVERHEAD + key.len() as u64),
            key: text(key)?,
            version: number(row, 3)?,
            until: until.map(|until| u64::try_from(until).unwrap_or_default()),
        })
    });
    listed.collect()
}
