//! A source of offers beside the folder, whatever their kind.

use futures_util::future::BoxFuture;

use super::event::SourceEvent;
use crate::offer::{FacadeOffer, OfferMap};

/// Keeps the offers of one kind of facades that the settings name, and reports changes.
pub trait OfferSource: Send {
    /// Lists its offers by key.
    fn offers(&self) -> Vec<(&str, &FacadeOffer)>;

    /// Returns its offers for assembly.
    fn offers_mut(&mut self) -> OfferMap<'_>;

    /// Decides again about versions that wait, since the lock was changed; returns whether an offer changed.
    fn settle_pins(&mut self) -> bool;

    /// Waits for the next event. Reports `Complete` once, even without offers. Cancel-safe. Requires a multi-threaded runtime.
    fn next_event(&mut self) -> BoxFuture<'_, SourceEvent>;

    /// Waits until each offer has a version or an error, for commands that load once.
    fn settle(&mut self) -> BoxFuture<'_, ()>;

    /// Ends all connections.
    fn stop(self: Box<Self>) -> BoxFuture<'static, ()>;
}
