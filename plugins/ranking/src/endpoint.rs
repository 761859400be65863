//! Vectors from an embeddings endpoint of OpenAI's shape, which many servers speak, local ones too.

use std::time::Duration;

use loggia_sdk::{failure::code, http, prelude::*};

use crate::Vector;

/// Texts per request: few enough that the response stays far below the host's limit.
const BATCH: usize = 32;
/// Default maximum length of a text, in bytes: many models accept about 8,000 tokens.
const LONGEST: usize = 16_000;
/// Timeout of requests on which other operations wait.
const PATIENCE: Duration = Duration::from_secs(5);

/// An endpoint that the operator has configured:
///
/// ```toml
/// [grants]
/// http = [{ url = "https://api.openai.com", methods = ["POST"], reads = ["POST"] }]
/// secrets = [{ from-env = "OPENAI_API_KEY", host = "api.openai.com", header = "Authorization", format = "Bearer {}" }]
/// config.embeddings = { url = "https://api.openai.com/v1/embeddings", model = "text-embedding-3-small", dimensions = 256 }
/// ```
///
/// `dimensions` is for models that can return shorter vectors, `longest` for those that accept less than 16,000 bytes
/// of text. `reads` allows a search, a read action, to send its POST.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    url: String,
    model: String,
    dimensions: Option<u32>,
    /// Weight of meaning relative to words if both are searched.
    #[serde(default = "half")]
    weight: f32,
    longest: Option<usize>,
    #[serde(skip)]
    patience: Option<Duration>,
}

/// Hint for malformed responses.
const CHECK: &str = "The operator checks `config.embeddings`: the url, the model and its dimensions.";

/// Hint for rejected texts.
const SHORTER: &str = "A text may be too long for the model: the operator sets `config.embeddings.longest`, the bytes that are sent of \
    a text, such as 2000.";

/// Adds a hint to failures that a retry cannot resolve.
fn explained(failure: Failure) -> Failure {
    match failure.code.as_str() {
        code::UNAVAILABLE | code::TIMED_OUT => failure,
        code::INVALID_PARAMS => failure.hint(SHORTER),
        code::DENIED => {
            failure.hint("The operator checks the plugin's `secrets`: the endpoint rejected the key.")
        }
        _ => failure.hint(CHECK),
    }
}

fn half() -> f32 {
    0.5
}

impl Endpoint {
    /// Returns the endpoint with a short timeout, for searches and writes.
    #[must_use]
    pub fn hasty(&self) -> Self {
        Self { patience: Some(PATIENCE), ..self.clone() }
    }

    /// Weight of meaning relative to words, from 0 to 1.
    pub fn weight(&self) -> f32 {
        self.weight
    }

    /// Identifies the model: vectors of different models are not comparable.
    pub fn tag(&self) -> u32 {
        let text = format!("{}/{}", self.model, self.dimensions.unwrap_or_default());
        text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    /// The directions of these texts, in their order.
    ///
    /// # Errors
    ///
    /// `denied` if the policy does not grant the endpoint; errors of the endpoint; `unavailable`, `timed_out`.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>> {
        let batches: Vec<&[&str]> = texts.chunks(BATCH).collect();
        let answers = http::send_all(batches.iter().map(|batch| self.request(batch)).collect());
        let mut vectors = Vec::with_capacity(texts.len());
        for (batch, answer) in batches.into_iter().zip(answers) {
            let answer = answer?.ok().and_then(|answer| answer.json()).map_err(explained)?;
            vectors.extend(read(&answer, batch.len())?);
        }
        Ok(vectors)
    }

    fn request(&self, batch: &[&str]) -> http::Request {
        let longest = self.longest.unwrap_or(LONGEST);
        let cut = |text: &&str| text[..text.floor_char_boundary(longest)].to_owned();
        let mut body = json!({"model": self.model, "input": batch.iter().map(cut).collect::<Vec<_>>()});
        if let Some(dimensions) = self.dimensions {
            body["dimensions"] = dimensions.into();
        }
        let request = http::post(&self.url).json(&body);
        match self.patience {
            Some(patience) => request.timeout(patience),
            None => request,
        }
    }
}

/// Parses a response. The endpoint is untrusted: it may return too few vectors, or malformed ones. (Parsed by hand:
/// types for it would make every plugin some kilobytes larger.)
fn read(answer: &Value, wanted: usize) -> Result<Vec<Vector>> {
    let odd = |said: &str| {
        Failure::unavailable(format!("the embeddings endpoint returned no usable vectors: {said}"))
            .hint(CHECK)
    };
    let data = answer["data"].as_array().ok_or_else(|| odd("its answer has no list `data`"))?;
    if data.len() != wanted {
        return Err(odd(&format!("{} for {wanted} texts", data.len())));
    }
    let mut vectors = vec![None; wanted];
    for one in data {
        let index = one["index"].as_u64().and_then(|index| usize::try_from(index).ok());
        let slot = index.and_then(|index| vectors.get_mut(index));
        let slot = slot.ok_or_else(|| odd("one for a text that was not sent"))?;
        let parts = one["embedding"].as_array().map(Vec::as_slice).unwrap_or_default();
        // A value that is not a number makes the vector invalid.
        let parts: Vec<f32> = parts.iter().map(|part| part.as_f64().unwrap_or(f64::NAN) as f32).collect();
        *slot = Vector::new(&parts);
    }
    vectors.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| odd("one has no direction"))
}
