//! What is recorded of one call, or answers it.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use loggia_egress::{HttpTape, SendError, TapeChoice, TapedRequest, TapedResponse};
use loggia_facade::{Answer, Call, Failure, Input, Object, Reply, Request, Stop, code};
use loggia_sandbox::{GuestTape, SpaceChoice};
use loggia_state::{ChangeOperation, StateChange};
use loggia_text::redact;
use serde_json::Value;

use super::call_recording::{
    CallRecording, MAX_BYTES, QuestionOutcome, RecordedCall, RecordedEnd, RecordedQuestion, SpaceName,
    StateValue, redact_json,
};
use crate::{CaseTape, RecordedBody, TapeMode};

/// Readings of the clock that are kept.
const MAX_TIMES: usize = 100_000;

/// The tape of one call. While it plays, requests, calls and questions are answered from a recording; either way it records.
#[derive(Debug)]
pub(super) struct CallTape {
    http: CaseTape,
    is_playing: bool,
    /// Locked for a moment by each operation, never across an await.
    state: Mutex<TapeState>,
}

#[derive(Debug)]
struct TapeState {
    recording: CallRecording,
    /// Bytes of the values so far.
    bytes: usize,
    /// Keys that were read or written.
    touched: BTreeSet<(SpaceName, String)>,
    /// Last value of each key that was written.
    written: BTreeMap<(SpaceName, String), Option<RecordedBody>>,
    /// Times that have not been played, and the last one that was read.
    times: VecDeque<u64>,
    last_time: Option<u64>,
    /// Calls and questions that have not been played.
    calls: Vec<RecordedCall>,
    questions: VecDeque<RecordedQuestion>,
    /// What the call asked for and the recording lacks.
    missing: Vec<String>,
}

/// A tape that has ended.
#[derive(Debug)]
pub struct EndedTape {
    /// What was recorded.
    pub recording: CallRecording,
    /// What the call asked for and the played recording lacks.
    pub missing: Vec<String>,
}

impl TapeState {
    /// Counts bytes that are to be kept; false if there is no room: then nothing more is kept, and the call is not recorded.
    fn count(&mut self, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.bytes <= MAX_BYTES
    }
}

impl CallTape {
    /// Creates the tape of a call that begins. `played`: its recording.
    pub(super) fn new(mut recording: CallRecording, played: Option<CallRecording>) -> Self {
        let is_playing = played.is_some();
        let mode = if is_playing { TapeMode::Play } else { TapeMode::Record };
        let played = played.unwrap_or_else(|| recording.clone());
        recording.seed.clone_from(&played.seed);
        let CallRecording { calls, questions, times, http, .. } = played;
        let http = CaseTape::new(mode, http);
        let state = TapeState {
            recording,
            bytes: 0,
            touched: BTreeSet::new(),
            written: BTreeMap::new(),
            times: times.into(),
            last_time: None,
            calls,
            questions: questions.into(),
            missing: Vec::new(),
        };
        Self { http, is_playing, state: Mutex::new(state) }
    }

    fn with<T>(&self, use_state: impl FnOnce(&mut TapeState) -> T) -> T {
        use_state(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps what is called, with the secrets of the action's schema hidden.
    pub(super) fn keep_call(&self, call: &Call, schema: Option<&Object>) {
        let hidden = schema.map(|schema| loggia_schema::redact(schema, &Value::Object(call.params.clone())));
        let params = match hidden {
            Some(Value::Object(params)) => redact_json(&params),
            // A schema that cannot be used, or none.
            _ => Object::new(),
        };
        self.with(|state| {
            state.count(Value::Object(params.clone()).to_string().len());
            let recording = &mut state.recording;
            (recording.action, recording.params, recording.detail) =
                (call.action.clone(), params, call.detail.as_str().to_owned());
        });
    }

    /// Answers a question from the recording; `None`: the person is asked.
    pub(super) fn play_question(&self, message: &str) -> Option<Result<Answer, Failure>> {
        if !self.is_playing {
            return None;
        }
        self.with(|state| match state.questions.pop_front() {
            Some(RecordedQuestion { outcome: QuestionOutcome::Answer(answer), .. }) => Some(Ok(answer)),
            Some(RecordedQuestion { outcome: QuestionOutcome::Failure(failure), .. }) => Some(Err(*failure)),
            None => {
                state.missing.push(format!("the question “{}”", redact(message)));
                Some(Ok(Answer::Cancelled))
            }
        })
    }

    /// Keeps a question.
    pub(super) fn keep_question(&self, message: &str, outcome: &Result<Answer, Failure>) {
        let outcome = match outcome {
            Ok(Answer::Accepted(value)) => QuestionOutcome::Answer(Answer::Accepted(redact_json(value))),
            Ok(answer) => QuestionOutcome::Answer(answer.clone()),
            Err(failure) => QuestionOutcome::Failure(Box::new(redact_json(failure))),
        };
        let question = RecordedQuestion { message: redact(message).into_owned(), outcome };
        self.with(|state| state.recording.questions.push(question));
    }

    /// Answers a call of another facade from the recording; `None`: it is made.
    pub(super) fn play_call(&self, request: &Request) -> Option<Result<Reply, Stop>> {
        if !self.is_playing {
            return None;
        }
        let input = describe_input(&request.input);
        self.with(|state| {
            let is_same = |call: &RecordedCall| call.facade == request.facade && call.input == input;
            match state.calls.iter().position(is_same) {
                Some(at) => Some(state.calls.remove(at).end.to_outcome()),
                None => {
                    let action = input.get("action").and_then(Value::as_str).unwrap_or_default();
                    state.missing.push(format!("the call {}.{action}", request.facade));
                    let failure = Failure::new(code::UNAVAILABLE, "unavailable: the call is not recorded");
                    Some(Err(failure.into()))
                }
            }
        })
    }

    /// Keeps a call of another facade.
    pub(super) fn keep_nested(&self, facade: &str, input: Object, outcome: &Result<Reply, Stop>) {
        let bytes = Value::Object(input.clone()).to_string().len() + outcome.as_ref().map_or(0, Reply::size);
        if self.with(|state| state.count(bytes)) {
            let call = RecordedCall { facade: facade.to_owned(), input, end: RecordedEnd::new(outcome) };
            self.with(|state| state.recording.calls.push(call));
        }
    }

    /// Ends the tape; `None` if the call was too large to be recorded.
    pub(super) fn end(&self, outcome: &Result<Reply, Stop>, took: Duration) -> Option<EndedTape> {
        let http = self.http.end();
        self.with(|state| {
            let mut recording =
                std::mem::replace(&mut state.recording, CallRecording::new(String::new(), "", ""));
            let written = std::mem::take(&mut state.written).into_iter();
            recording.writes =
                written.map(|((space, key), value)| StateValue { space, key, value }).collect();
            recording.http = http.recorded;
            recording.end = RecordedEnd::new(outcome);
            recording.ms = (took.as_secs_f64() * 1e6).round() / 1e3;
            let mut missing = std::mem::take(&mut state.missing);
            missing.extend(http.unrecorded.into_iter().map(|request| format!("the request {request}")));
            (state.bytes <= MAX_BYTES).then_some(EndedTape { recording, missing })
        })
    }
}

impl HttpTape for CallTape {
    fn choose(&self, request: &TapedRequest) -> TapeChoice {
        self.http.choose(request)
    }

    fn keep(&self, request: TapedRequest, response: Result<&TapedResponse, &SendError>) {
        let bytes = request.body.len() + response.map_or(0, |response| response.body.len());
        let is_kept = self.with(|state| state.count(bytes + request.uri.to_string().len()));
        if is_kept {
            self.http.keep(request, response);
        }
    }
}

impl GuestTape for CallTape {
    fn keep_value(&self, space: SpaceChoice, key: &str, value: Option<&[u8]>) {
        let space = SpaceName::from(space);
        self.with(|state| {
            // What it wrote itself is no state that it found.
            if state.touched.contains(&(space, key.to_owned()))
                || !state.count(key.len() + value.map_or(0, <[u8]>::len))
            {
                return;
            }
            state.touched.insert((space, key.to_owned()));
            let value = value.map(RecordedBody::new);
            state.recording.reads.push(StateValue { space, key: key.to_owned(), value });
        });
    }

    fn keep_changes(&self, space: SpaceChoice, changes: &[StateChange]) {
        let space = SpaceName::from(space);
        self.with(|state| {
            for change in changes {
                let value = match &change.operation {
                    ChangeOperation::Check => continue,
                    ChangeOperation::Delete => None,
                    ChangeOperation::Put(value) | ChangeOperation::PutUntil(value, _) => Some(value),
                };
                if !state.count(change.key.len() + value.map_or(0, Vec::len)) {
                    return;
                }
                state.touched.insert((space, change.key.clone()));
                state
                    .written
                    .insert((space, change.key.clone()), value.map(|value| RecordedBody::new(value)));
            }
        });
    }

    fn read_clock(&self, now: Duration) -> Duration {
        self.with(|state| {
            // A call that reads more often than its recording sees the time stand still.
            let time = match state.times.pop_front().or(state.last_time.filter(|_| self.is_playing)) {
                Some(nanos) => nanos,
                None => u64::try_from(now.as_nanos()).unwrap_or(u64::MAX),
            };
            state.last_time = Some(time);
            if state.recording.times.len() < MAX_TIMES {
                state.recording.times.push(time);
            }
            Duration::from_nanos(time)
        })
    }

    fn seed(&self) -> [u8; 32] {
        self.with(|state| state.recording.seed.0)
    }
}

/// Describes the input of a call, without credentials.
pub(super) fn describe_input(input: &Input) -> Object {
    match input {
        Input::Arguments(arguments) => redact_json(arguments),
        Input::Action { action, params, detail } => {
            let mut described = Object::new();
            described.insert("action".into(), action.as_str().into());
            described.insert("params".into(), Value::Object(redact_json(params)));
            described.insert("detail".into(), detail.as_str().into());
            described
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, Method, StatusCode, Uri};

    use super::*;

    fn tape(played: Option<CallRecording>) -> CallTape {
        CallTape::new(CallRecording::new("2026-11-26T05:00:00.000Z".to_owned(), "notes", "sha256:1"), played)
    }

    fn put(key: &str, value: &[u8]) -> StateChange {
        let operation = ChangeOperation::Put(value.to_vec());
        StateChange { key: key.to_owned(), expect: loggia_state::ChangeCondition::Any, operation }
    }

    fn end(tape: &CallTape) -> Option<EndedTape> {
        tape.end(&Ok(Reply::default()), Duration::from_millis(2))
    }

    #[test]
    fn what_a_call_wrote_is_no_state_that_it_found() {
        let tape = tape(None);
        tape.keep_value(SpaceChoice::Shared, "a", Some(b"1"));
        tape.keep_changes(SpaceChoice::Shared, &[put("b", b"2"), put("a", b"3")]);
        for (space, key) in
            [(SpaceChoice::Shared, "a"), (SpaceChoice::Shared, "b"), (SpaceChoice::Caller, "b")]
        {
            tape.keep_value(space, key, None);
        }
        let recording = end(&tape).unwrap().recording;
        let keys = |values: &[StateValue]| -> Vec<_> {
            values.iter().map(|value| (value.space, value.key.clone(), value.value.is_some())).collect()
        };
        let (shared, caller) = (SpaceName::Shared, SpaceName::Caller);
        assert_eq!(keys(&recording.reads), [(shared, "a".to_owned(), true), (caller, "b".to_owned(), false)]);
        assert_eq!(keys(&recording.writes), [(shared, "a".to_owned(), true), (shared, "b".to_owned(), true)]);
    }

    #[test]
    fn a_played_clock_stands_still_at_its_end() {
        let recorded = tape(None);
        for second in [5, 6] {
            recorded.read_clock(Duration::from_secs(second));
        }
        let recorded = end(&recorded).unwrap().recording;
        let played = tape(Some(recorded.clone()));
        let read: Vec<u64> = (0..4).map(|_| played.read_clock(Duration::from_secs(90)).as_secs()).collect();
        assert_eq!((read, played.seed()), (vec![5, 6, 6, 6], recorded.seed.0));
    }

    #[test]
    fn a_large_call_keeps_no_more_than_its_room() {
        let tape = tape(None);
        let body = Bytes::from(vec![b'x'; 6 << 20]);
        for _ in 0..5 {
            let request = TapedRequest {
                method: Method::GET,
                uri: Uri::from_static("https://a.example/"),
                headers: HeaderMap::new(),
                body: Bytes::new(),
            };
            let response =
                TapedResponse { status: StatusCode::OK, headers: HeaderMap::new(), body: body.clone() };
            tape.keep(request, Ok(&response));
        }
        assert_eq!(tape.http.end().recorded.describe().len(), 2);
        assert!(end(&tape).is_none());
    }
}
