//! Search of a plugin's data: by words, by meaning, or by both.

use loggia_sdk::prelude::*;

use crate::{Embedder, Hit, Index, Vectors, close, mix};

/// Search method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "what is said of a mode stands in every tool list")]
pub enum Mode {
    /// By both.
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
    /// Whether no text has a word of the query: the hits are only near in meaning.
    pub guessed: bool,
    /// Number of texts without a vector, if meaning was requested.
    pub lacking: usize,
    /// Reason why meaning was not used although an endpoint is configured: the search then falls back to words.
    pub failure: Option<Failure>,
}

/// Finds texts, best first.
///
/// # Errors
///
/// By meaning only: the endpoint's errors; errors of the state.
pub fn find(index: &Index, vectors: &Vectors, query: &str, mode: Mode) -> Result<Found> {
    if mode == Mode::Words {
        return Ok(Found { hits: index.search(query)?, ..Found::default() });
    }
    let words = if mode == Mode::Hybrid { Some(index.weighed(query)?) } else { None };
    let embedder = Embedder::configured()?;
    let compared = match (compared(vectors, &embedder, query), &words) {
        (Ok(compared), _) => compared,
        (Err(failure), None) => return Err(failure),
        (Err(failure), Some((hits, _))) => {
            return Ok(Found { hits: hits.clone(), failure: Some(failure), ..Found::default() });
        }
    };
    let lacking = (index.count()? as usize).saturating_sub(compared.len());
    let meaning = close(compared, embedder.floor());
    let (hits, guessed) = match words {
        Some((words, whole)) => {
            let hits = mix(&words, whole, &meaning, embedder.weight());
            let guessed = words.is_empty() && !hits.is_empty();
            (hits, guessed)
        }
        None => (Hit::sorted(meaning), false),
    };
    Ok(Found { hits, guessed, lacking, failure: None })
}

fn compared(vectors: &Vectors, embedder: &Embedder, query: &str) -> Result<Vec<Hit>> {
    let query = embedder.hasty().embed(&[query])?;
    query.first().map_or_else(|| Ok(Vec::new()), |query| vectors.compared(embedder, query))
}
