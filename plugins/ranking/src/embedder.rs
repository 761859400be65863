//! Vectors of texts: from the endpoint that the operator has configured, or else from the built-in model.

use loggia_sdk::prelude::*;
use ranking_meaning::{DIMENSIONS, direction};

use crate::{Vector, endpoint::Endpoint};

/// Identifies the vectors of the built-in model. Changes with `vectors.bin`: stored vectors then count as missing.
const TAG: u32 = 1;

/// Weight of the built-in model's meaning relative to words.
const WEIGHT: f32 = 0.5;

/// Minimum cosine of the built-in model's vectors: below, two texts share little but common words.
const FLOOR: f32 = 0.3;

/// Computes vectors by the endpoint of `config.embeddings`, or without one by the built-in model, which knows English
/// only and needs neither grants nor requests.
#[derive(Debug, Clone)]
pub struct Embedder {
    endpoint: Option<Endpoint>,
}

impl Embedder {
    /// Returns the embedder for this plugin's configuration.
    ///
    /// # Errors
    ///
    /// `internal` if the configuration of the endpoint does not fit.
    pub fn configured() -> Result<Self> {
        Ok(Self { endpoint: host::config("embeddings")? })
    }

    /// Returns the built-in model, unless an endpoint is configured: its vectors are computed with the texts, in one
    /// transaction.
    pub fn built_in() -> Option<Self> {
        Self::configured().ok().filter(Self::is_built_in)
    }

    /// Whether vectors are computed here, without requests.
    pub fn is_built_in(&self) -> bool {
        self.endpoint.is_none()
    }

    /// Returns the embedder with a short timeout, for searches and writes.
    #[must_use]
    pub fn hasty(&self) -> Self {
        Self { endpoint: self.endpoint.as_ref().map(Endpoint::hasty) }
    }

    /// Weight of meaning relative to words, from 0 to 1.
    pub fn weight(&self) -> f32 {
        self.endpoint.as_ref().map_or(WEIGHT, Endpoint::weight)
    }

    /// Minimum similarity of a hit by meaning. Endpoints have various models, so theirs is 0.
    pub(crate) fn floor(&self) -> f32 {
        if self.is_built_in() { FLOOR } else { 0.0 }
    }

    /// Identifies the model: vectors of different models are not comparable.
    pub(crate) fn tag(&self) -> u32 {
        self.endpoint.as_ref().map_or(TAG, Endpoint::tag)
    }

    /// The directions of these texts, in their order.
    ///
    /// # Errors
    ///
    /// Of an endpoint: `denied` if the policy does not grant it; its own; `unavailable`, `timed_out`.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>> {
        match &self.endpoint {
            Some(endpoint) => endpoint.embed(texts),
            // A text without known words gets a vector too, which is like no other: it is not missing.
            None => Ok(texts.iter().map(|text| known(text).unwrap_or(Vector::none(DIMENSIONS))).collect()),
        }
    }
}

fn known(text: &str) -> Option<Vector> {
    Vector::new(&direction(text))
}
