//! Where [`crate::host`] leads natively.
use crate::{
    Failure, Level, Reply, Result, Value,
    host::{Peer, Request},
};
pub(crate) fn log(_: Level, _: &str) {}
pub(crate) fn progress(_: f64, _: Option<f64>, _: Option<&str>) {}
pub(crate) fn is_cancelled() -> bool {
    false
}
pub(crate) fn config(_: &str) -> Option<String> {
    None
}
pub(crate) fn facades() -> Result<Vec<Peer>> {
    Err(Failure::denied("access denied"))
}
pub(crate) fn invoke(requests: Vec<Request>) -> Vec<Result<Reply<Value>>> {
    requests.iter().map(|_| Err(Failure::denied("access denied"))).collect()
}
