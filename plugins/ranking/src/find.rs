//! Search of a plugin's data: by words, by meaning, or by both.

use loggia_sdk::prelude::*;

use crate::{Embedder, Hit, Index, Vectors, close, mix};

/// Search method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "what is said of a mode stands in every tool list")]
pub enum Mode {
    /// By both, if there are vectors.
    #[default]
    Hybrid,
    Words,
    Meaning,
}

/// Search results, and remarks on the method.
#[derive(Debug, Default)]
pub struct Found {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Number of texts without a vector, if meaning was requested.
    pub lacking: usize,
    /// Reason why meaning was not used although an endpoint is configured: the search then falls back to words.
    pub failure: Option<Failure>,
}

/// Finds texts, best first.
///
/// # Errors
///
/// By meaning only: `unavailable` if no endpoint is configured, and the endpoint's errors; errors of the state.
pub fn find(index: &Index, vectors: &Vectors, query: &str, mode: Mode) -> Result<Found> {
    let (words, embedder) = match mode {
        Mode::Words => (Some(index.search(query)?), None),
        Mode::Meaning => (None, Some(Embedder::required()?)),
        Mode::Hybrid => (Some(index.search(query)?), Embedder::configured()?),
    };
    let Some(embedder) = embedder else {
        return Ok(Found { hits: words.unwrap_or_default(), ..Found::default() });
    };
    let compared = match (compared(vectors, &embedder, query), words.is_some()) {
        (Ok(compared), _) => compared,
        (Err(failure), false) => return Err(failure),
        (Err(failure), true) => {
            return Ok(Found { hits: words.unwrap_or_default(), failure: Some(failure), lacking: 0 });
        }
    };
    let lacking = (index.count()? as usize).saturating_sub(compared.len());
    let meaning = close(compared);
    let hits = match words {
        Some(words) => mix(&words, &meaning, embedder.weight()),
        None => meaning,
    };
    Ok(Found { hits, lacking, failure: None })
}

fn compared(vectors: &Vectors, embedder: &Embedder, query: &str) -> Result<Vec<Hit>> {
    let query = embedder.hasty().embed(&[query])?;
    query.first().map_or_else(|| Ok(Vec::new()), |query| vectors.nearest(embedder, query))
}
