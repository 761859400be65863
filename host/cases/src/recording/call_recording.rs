//! A recording as data, and its file. Texts that look like credentials are redacted before they come here.

use std::{collections::BTreeMap, fmt, fs, io::Read, path::Path};

use anyhow::{Context, ensure};
use data_encoding::HEXLOWER;
use loggia_facade::{Answer, Detail, Failure, Object, Reply, Stop};
use loggia_sandbox::SpaceChoice;
use loggia_text::redact;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{CassetteFile, RecordedBody};

/// Version of the format.
const VERSION: u32 = 1;
/// Bytes of a recording, at most.
pub(super) const MAX_BYTES: usize = 16 << 20;

/// One call of a plugin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRecording {
    version: u32,
    /// Time of the call, as RFC 3339.
    pub time: String,
    /// Facade that was called.
    pub facade: String,
    /// Digest of the plugin's file.
    pub artifact: String,
    /// Action.
    pub action: String,
    /// Parameters, with defaults.
    pub params: Object,
    /// Level of detail: `minimal`, `standard` or `full`.
    pub detail: String,
    /// State that it read before it wrote it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<StateValue>,
    /// State as it left it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<StateValue>,
    /// Readings of the wall clock, in nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<u64>,
    /// Seed of its randomness.
    #[serde(default)]
    pub seed: RandomSeed,
    /// Questions with their answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<RecordedQuestion>,
    /// Calls that it made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<RecordedCall>,
    /// Requests that it sent.
    pub http: CassetteFile,
    /// How it ended.
    pub end: RecordedEnd,
    /// Time that it took, in milliseconds.
    pub ms: f64,
}

/// An entry of the state. Without a value, there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateValue {
    /// Space of the state.
    pub space: SpaceName,
    /// Key.
    pub key: String,
    /// Value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<RecordedBody>,
}

/// Spaces of the state, as a plugin names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpaceName {
    /// Shared by all callers.
    Shared,
    /// The caller's own.
    Caller,
}

impl From<SpaceChoice> for SpaceName {
    fn from(choice: SpaceChoice) -> Self {
        match choice {
            SpaceChoice::Shared => Self::Shared,
            SpaceChoice::Caller => Self::Caller,
        }
    }
}

/// Seed of the randomness of a call, in hexadecimal.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RandomSeed(pub(super) [u8; 32]);

impl RandomSeed {
    fn new() -> Self {
        let mut bits = [0; 32];
        // Nothing of the host works without the system's random bytes.
        let _ = getrandom::fill(&mut bits);
        Self(bits)
    }
}

impl fmt::Debug for RandomSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RandomSeed")
    }
}

impl From<RandomSeed> for String {
    fn from(seed: RandomSeed) -> Self {
        HEXLOWER.encode(&seed.0)
    }
}

impl TryFrom<String> for RandomSeed {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bits = HEXLOWER.decode(text.as_bytes()).ok().and_then(|bits| bits.try_into().ok());
        bits.map(Self).ok_or("a seed has 64 hexadecimal digits")
    }
}

/// A question to the person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedQuestion {
    /// Text of the question.
    pub message: String,
    /// The answer, or why there is none.
    pub outcome: QuestionOutcome,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuestionOutcome {
    /// What the person answered.
    Answer(Answer),
    /// Why the person could not be asked.
    Failure(Box<Failure>),
}

/// A call of another facade.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedCall {
    /// Facade.
    pub facade: String,
    /// Action, and parameters.
    pub input: Object,
    /// Its outcome.
    pub end: RecordedEnd,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordedEnd {
    /// It succeeded.
    Reply(RecordedReply),
    /// It failed.
    Failure(Box<Failure>),
    /// The plugin failed: a trap, a limit.
    Fault {
        /// Kind, as in the log.
        kind: String,
        /// Text of the failure.
        message: String,
    },
    /// It was cancelled, or its clock ran out.
    Cancelled,
}

impl RecordedEnd {
    /// Takes an outcome, without credentials.
    pub(super) fn new(outcome: &Result<Reply, Stop>) -> Self {
        match outcome {
            Ok(reply) => Self::Reply(RecordedReply::new(reply)),
            Err(Stop::Failure(failure)) => Self::Failure(Box::new(redact_json(failure))),
            Err(Stop::Fault(fault)) => Self::Fault {
                kind: fault.kind.as_str().to_owned(),
                message: redact(&fault.message).into_owned(),
            },
            Err(Stop::Cancelled) => Self::Cancelled,
        }
    }

    /// Returns the outcome. A fault is one of another facade here, whose caller sees a failure.
    pub(super) fn to_outcome(&self) -> Result<Reply, Stop> {
        match self {
            Self::Reply(reply) => reply.to_reply().map_err(Stop::Failure),
            Self::Failure(failure) => Err(Stop::Failure((**failure).clone())),
            Self::Fault { message, .. } => {
                Err(Stop::Failure(Failure::new(loggia_facade::code::INTERNAL, message.as_str())))
            }
            Self::Cancelled => Err(Stop::Cancelled),
        }
    }
}

/// A reply as JSON, with its data as JSON too, and not as a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordedReply(Value);

impl RecordedReply {
    fn new(reply: &Reply) -> Self {
        let mut value = serde_json::to_value(reply).unwrap_or_default();
        value["data"] = Value::clone(&reply.data);
        Self(redact_json(&value))
    }

    fn to_reply(&self) -> Result<Reply, Failure> {
        let mut value = self.0.clone();
        let data = value.as_object_mut().and_then(|members| members.shift_remove("data")).unwrap_or_default();
        value["data"] = Value::String("null".to_owned());
        let reply = serde_json::from_value::<Reply>(value);
        reply.map(|reply| Reply { data: data.into(), ..reply }).map_err(|error| {
            let message = format!("the recorded reply cannot be read: {error}");
            Failure::new(loggia_facade::code::INTERNAL, message)
        })
    }
}

/// Replaces what looks like a credential anywhere in a value.
pub(super) fn redact_json<T: Serialize + DeserializeOwned + Default>(value: &T) -> T {
    let Ok(text) = serde_json::to_string(value) else { return T::default() };
    let redacted = serde_json::from_str(&redact(&text)).ok();
    // A redaction that spans several texts.
    redacted
        .or_else(|| serde_json::from_value(redact_texts(serde_json::from_str(&text).ok()?)).ok())
        .unwrap_or_default()
}

fn redact_texts(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(redact_texts).collect(),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(key, value)| (key, redact_texts(value))).collect())
        }
        other => other,
    }
}

impl CallRecording {
    /// A recording of a call that begins.
    pub(super) fn new(time: String, facade: &str, artifact: &str) -> Self {
        Self {
            version: VERSION,
            time,
            facade: facade.to_owned(),
            artifact: artifact.to_owned(),
            action: String::new(),
            params: Object::new(),
            detail: Detail::default().as_str().to_owned(),
            reads: Vec::new(),
            writes: Vec::new(),
            times: Vec::new(),
            seed: RandomSeed::new(),
            questions: Vec::new(),
            calls: Vec::new(),
            http: CassetteFile::default(),
            end: RecordedEnd::Cancelled,
            ms: 0.0,
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is no recording.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let mut text = String::new();
        let file = fs::File::open(path).with_context(|| format!("failed to read {shown}"))?;
        let read = file.take(MAX_BYTES as u64 + 1).read_to_string(&mut text);
        read.with_context(|| format!("failed to read {shown}"))?;
        ensure!(text.len() <= MAX_BYTES, "{shown} is larger than a recording may be, {MAX_BYTES} bytes");
        let recording: Self =
            serde_json::from_str(&text).with_context(|| format!("{shown} is no recording of a call"))?;
        ensure!(
            recording.version == VERSION,
            "{shown} has version {} of the format, and this program reads version {VERSION}",
            recording.version
        );
        recording.http.check().with_context(|| format!("{shown} has an invalid request"))?;
        Ok(recording)
    }

    /// Renders the text of its file; `None` if it is larger than a recording may be.
    pub(super) fn render(&self) -> Option<String> {
        // Neither texts nor maps with text keys fail.
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        (text.len() <= MAX_BYTES).then_some(text)
    }

    /// State that the call found: the values by space and key.
    pub fn found_state(&self) -> BTreeMap<(SpaceName, &str), &RecordedBody> {
        let values =
            self.reads.iter().filter_map(|read| Some(((read.space, &*read.key), read.value.as_ref()?)));
        values.collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn credentials_are_redacted_wherever_they_are() {
        let reply = Reply {
            data: json!({"access_token": "s3cr3ts3cr3t", "list": ["Authorization: Bearer s3cr3ts3cr3t"]})
                .into(),
            message: Some("password=s3cr3ts3cr3t".to_owned()),
            ..Reply::default()
        };
        let text = serde_json::to_string(&RecordedEnd::new(&Ok(reply))).unwrap();
        assert!(!text.contains("s3cr3t") && text.contains("[redacted]"), "{text}");
    }

    #[test]
    fn files_are_read_as_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let mut recording = CallRecording::new("2026-11-26T05:00:00.000Z".to_owned(), "notes", "sha256:1");
        recording.end = RecordedEnd::new(&Ok(Reply::data(json!([1, null]))));
        fs::write(&path, recording.render().unwrap()).unwrap();
        assert_eq!(CallRecording::read(&path).unwrap(), recording);
        for (text, reason) in [
            ("{".to_owned(), "is no recording of a call"),
            (
                recording
                    .render()
                    .unwrap()
                    .replace("\"version\": 1,\n  \"time\"", "\"version\": 2,\n  \"time\""),
                "has version 2 of the format",
            ),
            ("x".repeat(MAX_BYTES + 1), "is larger than a recording may be"),
        ] {
            fs::write(&path, text).unwrap();
            let error = format!("{:#}", CallRecording::read(&path).unwrap_err());
            assert!(error.contains(reason), "{error}");
        }
        let missing = format!("{:#}", CallRecording::read(&folder.path().join("b.json")).unwrap_err());
        assert!(missing.contains("failed to read"), "{missing}");
    }
}
