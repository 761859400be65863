//! Shares the rates of callers with the other servers of a database.

use std::sync::Arc;

use futures_util::{FutureExt, future::BoxFuture};
use loggia_postgres::{CallerCount, DatabaseAccess, DatabaseOptions, SharedUsage};
use loggia_server::{
    http::{CallerUsage, SharedRates, UsageExchange},
    mcp::SealSecret,
};
use sha2::{Digest, Sha256};

/// Exchange by a database.
struct DatabaseExchange(SharedUsage);

impl UsageExchange for DatabaseExchange {
    fn exchange(&self, admitted: Vec<CallerUsage>) -> BoxFuture<'_, Result<Vec<CallerUsage>, String>> {
        async move {
            let counts = admitted.into_iter().map(|CallerUsage { caller, admitted }| (caller, admitted));
            let counts: Vec<CallerCount> = counts.collect();
            let others = self.0.exchange(&counts).await.map_err(|error| error.to_string())?;
            Ok(others.into_iter().map(|(caller, admitted)| CallerUsage { caller, admitted }).collect())
        }
        .boxed()
    }
}

/// Shares rates by a database, if there is one. Without its secret, each server counts alone.
pub async fn share_rates(secret: SealSecret, database: Option<&DatabaseOptions>) -> Option<SharedRates> {
    let access = DatabaseAccess::new(database?).map_err(|error| error.to_string());
    let usage = access.and_then(|access| SharedUsage::new(access).map_err(|error| error.to_string()));
    let secret = tokio::task::spawn_blocking(move || secret()).await.ok().flatten();
    match usage.and_then(|usage| Ok((usage, secret.ok_or("the database gave no secret")?))) {
        Ok((usage, secret)) => Some(SharedRates {
            // Another key than those of runs and questions.
            secret: Sha256::new().chain_update(b"loggia rates").chain_update(secret).finalize().into(),
            exchange: Arc::new(DatabaseExchange(usage)),
        }),
        Err(error) => {
            tracing::warn!("the rates of callers apply to this server alone: {error}");
            None
        }
    }
}
