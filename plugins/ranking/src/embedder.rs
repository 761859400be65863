//! Vectors from an embeddings endpoint of OpenAI's shape, which many servers speak, local ones too.

use std::time::Duration;

use loggia_sdk::{failure::code, http, prelude::*};

use crate::Vector;

/// Texts in one request: few enough that the answer stays far below what the host takes.
const BATCH: usize = 32;
/// What is sent of a text, in bytes, where the operator says nothing else: many models take some 8,000 tokens.
const LONGEST: usize = 16_000;
/// How long something else may wait for vectors.
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
/// `dimensions` is for models that can give shorter vectors, `longest` for those that take less than 16,000 bytes of a text. `reads` lets a search, which only reads, send its POST.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Embedder {
    url: String,
    model: String,
    dimensions: Option<u32>,
    /// What meaning counts beside words where both are searched.
    #[serde(default = "half")]
    weight: f32,
    longest: Option<usize>,
    #[serde(skip)]
    patience: Option<Duration>,
}

/// What helps against nonsense.
const CHECK: &str = "The operator checks `config.embeddings`: the url, the model and its dimensions.";

/// What helps where texts are refused.
const SHORTER: &str = "A text may be too long for the model: the operator sets `config.embeddings.longest`, the bytes that are sent of \
    a text, such as 2000.";

/// Says what helps where waiting does not.
fn explained(failure: Failure) -> Failure {
    match failure.code.as_str() {
        code::UNAVAILABLE | code::TIMED_OUT => failure,
        code::INVALID_PARAMS => failure.hint(SHORTER),
        code::DENIED => {
            failure.hint("The operator checks the plugin's `secrets`: the endpoint turned the key away.")
        }
        _ => failure.hint(CHECK),
    }
}

fn half() -> f32 {
    0.5
}

impl Embedder {
    /// The endpoint, where there is one.
    ///
    /// # Errors
    ///
    /// `internal` where its configuration does not fit.
    pub fn configured() -> Result<Option<Self>> {
        host::config("embeddings")
    }

    /// The endpoint.
    ///
    /// # Errors
    ///
    /// `unavailable` where there is none, with what the operator has to write.
    pub fn required() -> Result<Self> {
        Self::configured()?.ok_or_else(|| {
            Failure::unavailable("not configured: meaning needs an embeddings endpoint").hint(
                "The operator adds to the plugin's policy file, under [grants]: \
                 `config.embeddings = { url = \"https://api.openai.com/v1/embeddings\", model = \"text-embedding-3-small\" }`, \
                 `http = [{ url = \"https://api.openai.com\", methods = [\"POST\"], reads = [\"POST\"] }]` \
                 and a `secrets` entry for the key; any server of that shape will do.",
            )
        })
    }

    /// The same for a search or a write, which shall not wait long for an endpoint that is slow.
    #[must_use]
    pub fn hasty(&self) -> Self {
        Self { patience: Some(PATIENCE), ..self.clone() }
    }

    /// What meaning counts beside words, from 0 to 1.
    pub fn weight(&self) -> f32 {
        self.weight
    }

    /// Tells models apart: the vectors of two cannot be compared.
    pub(crate) fn tag(&self) -> u32 {
        let text = format!("{}/{}", self.model, self.dimensions.unwrap_or_default());
        text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    /// The directions of these texts, in their order.
    ///
    /// # Errors
    ///
    /// `denied` where the policy does not grant the endpoint; what it answers otherwise than by vectors; `unavailable`,
    /// `timed_out`.
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

/// The endpoint is as little trusted as any other: it may answer too few, or nonsense. (Read by hand: types for it would
/// make every plugin some kilobytes larger.)
fn read(answer: &Value, wanted: usize) -> Result<Vec<Vector>> {
    let odd = |said: &str| {
        Failure::unavailable(format!("the embeddings endpoint gave no usable vectors: {said}")).hint(CHECK)
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
        // What is no number is no part of a direction.
        let parts: Vec<f32> = parts.iter().map(|part| part.as_f64().unwrap_or(f64::NAN) as f32).collect();
        *slot = Vector::new(&parts);
    }
    vectors.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| odd("one has no direction"))
}
