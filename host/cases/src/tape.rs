//! Answers the requests of a case from its cassette, or records them.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use loggia_egress::{
    HttpTape, HttpTapes, RequestRefusal, SendError, TapeChoice, TapedRequest, TapedResponse,
};

use super::{
    cassette::CassetteFile,
    taped::{RecordedRequest, TapedExchange},
};

/// What becomes of the requests of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapeMode {
    /// They are sent.
    Live,
    /// They are answered from the cassette.
    Play,
    /// They are sent and recorded.
    Record,
}

/// What became of them.
#[derive(Debug, Default)]
pub struct TapeReport {
    /// Requests that the cassette lacks, each by method and URL.
    pub unrecorded: BTreeSet<String>,
    /// What was recorded or played, in the order in which the requests ended.
    pub recorded: CassetteFile,
}

/// The tapes of a file's cases, one at a time: cases run one after another.
#[derive(Debug, Default)]
pub struct CaseTapes(Mutex<Option<Arc<CaseTape>>>);

/// Requests of one call.
#[derive(Debug)]
pub(crate) struct CaseTape {
    mode: TapeMode,
    /// Locked for a moment by each request, never across an await.
    state: Mutex<TapeState>,
}

#[derive(Debug, Default)]
struct TapeState {
    /// Exchanges that have not answered a request yet.
    left: Vec<TapedExchange>,
    recorded: Vec<TapedExchange>,
    unrecorded: BTreeSet<String>,
}

impl CaseTapes {
    /// Begins a case.
    pub fn begin(&self, mode: TapeMode, cassette: CassetteFile) {
        let tape = (mode != TapeMode::Live).then(|| Arc::new(CaseTape::new(mode, cassette)));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = tape;
    }

    /// Ends the case.
    pub fn end(&self) -> TapeReport {
        let tape = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        tape.map(|tape| tape.end()).unwrap_or_default()
    }
}

impl CaseTape {
    /// Creates a tape that plays these exchanges, or records others.
    pub(crate) fn new(mode: TapeMode, cassette: CassetteFile) -> Self {
        let state = TapeState { left: cassette.into_exchanges(), ..TapeState::default() };
        Self { mode, state: Mutex::new(state) }
    }

    /// Ends the tape.
    pub(crate) fn end(&self) -> TapeReport {
        let state = std::mem::take(&mut *self.state.lock().unwrap_or_else(PoisonError::into_inner));
        TapeReport { unrecorded: state.unrecorded, recorded: CassetteFile::new(state.recorded) }
    }
}

impl HttpTapes for CaseTapes {
    fn tape(&self, _call: &str) -> Option<Arc<dyn HttpTape>> {
        let tape = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        tape.map(|tape| tape as _)
    }
}

impl HttpTape for CaseTape {
    fn choose(&self, request: &TapedRequest) -> TapeChoice {
        if self.mode == TapeMode::Record {
            return TapeChoice::Send;
        }
        let request = RecordedRequest::new(request);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let found = state.left.iter().position(|exchange| exchange.request == request);
        let played = found.map(|at| state.left.remove(at));
        state.recorded.extend(played.clone());
        match played.map(|exchange| exchange.outcome()) {
            Some(Ok(Ok(response))) => TapeChoice::Answer(response),
            Some(Ok(Err(error))) => TapeChoice::Fail(error),
            // An invalid exchange was refused when the cassette was read.
            None | Some(Err(_)) => {
                state.unrecorded.insert(request.describe());
                TapeChoice::Fail(RequestRefusal::Unrecorded.into())
            }
        }
    }

    fn keep(&self, request: TapedRequest, response: Result<&TapedResponse, &SendError>) {
        let exchange = TapedExchange::new(&request, response);
        self.state.lock().unwrap_or_else(PoisonError::into_inner).recorded.push(exchange);
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, Method, StatusCode, Uri};

    use super::*;

    fn request(path: &str) -> TapedRequest {
        let uri: Uri = format!("https://a.example{path}").parse().unwrap();
        TapedRequest { method: Method::GET, uri, headers: HeaderMap::new(), body: bytes::Bytes::new() }
    }

    fn response(text: &'static str) -> TapedResponse {
        TapedResponse { status: StatusCode::OK, headers: HeaderMap::new(), body: text.into() }
    }

    #[test]
    fn what_is_recorded_is_played_back() {
        let tapes = CaseTapes::default();
        tapes.begin(TapeMode::Record, CassetteFile::default());
        let tape = tapes.tape("").unwrap();
        for (path, text) in [("/a", "first"), ("/b", "other"), ("/a", "second")] {
            assert!(matches!(tape.choose(&request(path)), TapeChoice::Send));
            tape.keep(request(path), Ok(&response(text)));
        }
        let recorded = tapes.end().recorded;
        tapes.begin(TapeMode::Play, recorded);
        let tape = tapes.tape("").unwrap();
        let play = |path: &str| match tape.choose(&request(path)) {
            TapeChoice::Answer(response) => String::from_utf8(response.body.to_vec()).unwrap(),
            TapeChoice::Fail(error) => error.to_string(),
            TapeChoice::Send => "sent".to_owned(),
        };
        // Equal requests are answered in their order, others in any.
        let missing = "access denied: the request is not recorded";
        assert_eq!(["/b", "/a", "/a", "/a"].map(play), ["other", "first", "second", missing]);
        let unrecorded: Vec<_> = tapes.end().unrecorded.into_iter().collect();
        assert_eq!(unrecorded, ["GET https://a.example/a"]);
        tapes.begin(TapeMode::Live, CassetteFile::default());
        assert!(tapes.tape("").is_none());
    }
}
