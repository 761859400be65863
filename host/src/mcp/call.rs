//! One `tools/call`, from the request to whatever answers it: a result, a run, a task, or a question.

use std::{collections::BTreeSet, time::Duration};

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use loggia_facade::{Answer, Command, Envelope, Failure, Progress, code};
use loggia_gate::{
    access::Origin,
    call::Exec,
    run::{Event, Look, RunId},
};
use rmcp::{
    ErrorData,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ProgressNotificationParam,
    },
};
use tokio::time::Instant;

use super::{
    elicitation::{self, CallBinding, ElicitationMode, ParkedCall},
    handler::{McpContext, McpHandler},
    operation::request_ids,
    result::to_result,
    tasks,
};

impl McpHandler {
    /// Answers a call.
    pub(super) async fn handle_call(
        &self,
        request: CallToolRequestParams,
        context: &McpContext,
    ) -> Result<CallToolResponse, ErrorData> {
        let _counted = self.shared.calls.token();
        let way = ElicitationMode::of_client(context);
        let origin = self
            .origin(&context.extensions)
            .asking(way != ElicitationMode::Unsupported)
            .marked(request_ids(context));
        let tool = request.name.clone();
        // Only what may go through the client's hands is bound to anything.
        let bound = (way == ElicitationMode::Retry || request.request_state.is_some())
            .then(|| CallBinding::new(&request.name, request.arguments.as_ref()));
        let exec = match self.resume_call(&request, &origin, bound.as_ref())? {
            Some(Ok(exec)) => exec,
            Some(Err(failure)) => {
                let envelope = Envelope::new(Command { key: "action", name: None }, Err(failure));
                return Ok(self.to_result(envelope, &tool).into());
            }
            None => self.start_call(request, way, origin.clone()).await?,
        };
        let tasks = context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
        if tasks && exec.may_become_run() {
            return Ok(match exec.part_with_handle() {
                Some(id) => tasks::to_created(&id).into(),
                None => cancelled().into(),
            });
        }
        self.follow_call(exec, (way, bound), &origin, &tool, context).await
    }

    fn to_result(&self, envelope: Envelope, tool: &str) -> CallToolResult {
        to_result(envelope, &self.shared.gate.catalog().snapshot(), tool)
    }

    /// Begins a call.
    async fn start_call(
        &self,
        request: CallToolRequestParams,
        way: ElicitationMode,
        origin: Origin,
    ) -> Result<Exec, ErrorData> {
        let catalog = self.shared.gate.catalog();
        if !catalog.snapshot().knows(&request.name) {
            // A client may call before it lists, while plugins still load: it waits for its own.
            catalog.arrived(&request.name).await;
        }
        let arguments = request.arguments.unwrap_or_default();
        let rights = origin.rights.clone();
        let exec = self.shared.gate.call_tool(origin, &request.name, arguments);
        let exec = exec.ok_or_else(|| match catalog.is_admitted() {
            true => unknown_tool(&request.name, &catalog.snapshot().names(&rights)),
            false => no_tool_yet(&request.name),
        })?;
        if let Some(responses) = request.input_responses.filter(|_| way == ElicitationMode::Retry) {
            exec.prepare(elicitation::parse_answers(responses));
        }
        Ok(exec)
    }

    /// Takes up a call again that asked for answers; none where the request is a new call, or one that only asks about a
    /// run again. An error where the state is none that this host gave for this call.
    fn resume_call(
        &self,
        request: &CallToolRequestParams,
        origin: &Origin,
        bound: Option<&CallBinding>,
    ) -> Result<Option<Result<Exec, Failure>>, ErrorData> {
        let Some(state) = request.request_state.as_deref() else { return Ok(None) };
        let gone = || {
            let said = "unavailable: the question is no longer open";
            Failure::new(code::UNAVAILABLE, said).hint("make the call again, without `requestState`")
        };
        let parked = bound.and_then(|bound| self.shared.sealer.open(state, &origin.caller, bound));
        let parked = parked.ok_or_else(foreign_state)?;
        let answers = elicitation::parse_answers(request.input_responses.clone().unwrap_or_default());
        if parked.is_watched {
            if let Ok(run) = self.shared.gate.look(&parked.run(), origin) {
                answers.for_each(|(key, answer)| _ = run.answer(&key, answer));
            }
            return Ok(None);
        }
        let exec = self.shared.gate.attach(&parked.run(), origin).map_err(|_| gone());
        Ok(Some(exec.inspect(|exec| answers.for_each(|(key, answer)| _ = exec.answer(&key, answer)))))
    }

    /// Follows a call for as long as its client waits.
    async fn follow_call(
        &self,
        mut exec: Exec,
        (way, bound): (ElicitationMode, Option<CallBinding>),
        origin: &Origin,
        tool: &str,
        context: &McpContext,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut reporter = ProgressReporter::new(context);
        let mut asking: OpenForms = FuturesUnordered::new();
        let mut asked = BTreeSet::new();
        let soft = exec.patience();
        let patience = tokio::time::sleep(soft.unwrap_or_default());
        tokio::pin!(patience);
        // Who does not want to wait is not made to.
        let waits = soft != Some(Duration::ZERO);
        loop {
            let event = tokio::select! {
                biased;
                event = exec.next(), if waits => event,
                Some((key, answer)) = asking.next(), if !asking.is_empty() => {
                    exec.answer(&key, answer);
                    continue;
                }
                () = tokio::time::sleep_until(reporter.next_at), if reporter.pending.is_some() => {
                    reporter.flush(context).await;
                    continue;
                }
                // Dropping the call ends it; rmcp drops the answer to a cancelled request.
                () = context.ct.cancelled() => {
                    drop(exec);
                    withdraw(&mut asking).await;
                    return Ok(cancelled().into());
                }
                () = &mut patience, if soft.is_some() => {
                    // A person who thinks is not hurried: the answer would be lost.
                    if !asking.is_empty() && exec.is_asking() {
                        patience.as_mut().reset(Instant::now() + Duration::from_secs(1));
                        continue;
                    }
                    return Ok(exec.part().map_or_else(cancelled, |e| self.to_result(e, tool)).into());
                }
            };
            match event {
                Event::Done(envelope) => {
                    // The last is told in any case.
                    reporter.flush(context).await;
                    withdraw(&mut asking).await;
                    return Ok(self.to_result(*envelope, tool).into());
                }
                Event::Progress(progress) => reporter.report(context, progress).await,
                Event::Asks(asks) if asks.values().any(|question| !elicitation::has_form(question)) => {
                    // MCP has no form for it, so nobody will answer.
                    let unput = asks.iter().filter(|(_, question)| !elicitation::has_form(question));
                    unput.for_each(|(key, _)| _ = exec.answer(key, Answer::Cancelled));
                }
                Event::Asks(asks) => match way {
                    ElicitationMode::Unsupported => match exec.watched() {
                        // Its questions are told with its status.
                        Some(_) => {
                            return Ok(exec
                                .part()
                                .map_or_else(cancelled, |e| self.to_result(e, tool))
                                .into());
                        }
                        None => exec.decline(&asks),
                    },
                    ElicitationMode::Request => {
                        for (key, question) in asks {
                            if asked.insert(key.clone()) {
                                let peer = context.peer.clone();
                                let closed = exec.closed(key.clone());
                                asking.push(
                                    async move { (key, elicitation::elicit(peer, question, closed).await) }
                                        .boxed(),
                                );
                            }
                        }
                    }
                    ElicitationMode::Retry => {
                        let watched = exec.watched();
                        let is_watched = watched.is_some();
                        let Some(id) = watched.or_else(|| exec.detach()) else {
                            return Ok(cancelled().into());
                        };
                        let parked = ParkedCall::new(&id, is_watched);
                        let bound = bound.unwrap_or_else(|| CallBinding::new(tool, None));
                        let result = self.shared.sealer.seal(&parked, &asks, &origin.caller, &bound);
                        return Ok(result.into());
                    }
                },
            }
        }
    }

    pub(super) fn find_task(&self, id: &str, context: &McpContext) -> Result<(RunId, Look), ErrorData> {
        let (id, origin) = (RunId::from_client(id), self.origin(&context.extensions));
        let run = self.shared.gate.look(&id, &origin).map_err(|_| tasks::unknown_task())?;
        Ok((id, run))
    }
}

/// Forms that may be open before a person.
type OpenForms = FuturesUnordered<BoxFuture<'static, (String, Answer)>>;

/// Takes back what is still open of a call that ends.
async fn withdraw(asking: &mut OpenForms) {
    let taken_back = async { while asking.next().await.is_some() {} };
    let _ = tokio::time::timeout(WITHDRAW_TIMEOUT, taken_back).await;
}

/// A call that is cancelled has ended after a little less.
const WITHDRAW_TIMEOUT: Duration = Duration::from_secs(2);

/// What a request is answered with whose caller is gone.
fn cancelled() -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text("cancelled")])
}

fn unknown_tool(name: &str, names: &str) -> ErrorData {
    let name: String = name.chars().take(80).collect();
    ErrorData::invalid_params(format!("Unknown tool: {name:?}. Available tools: {names}."), None)
}

/// The state was changed, is another call's or another caller's, is too old, or the host was started again since.
fn foreign_state() -> ErrorData {
    let said = "`requestState` is not valid for this call (any more): make the call again without it";
    ErrorData::invalid_params(said, None)
}

/// While the first plugins load, nobody knows what there will be.
fn no_tool_yet(name: &str) -> ErrorData {
    let name: String = name.chars().take(80).collect();
    let said = format!("No tool {name:?} yet: plugins are still being loaded. Try again in some seconds.");
    ErrorData::invalid_params(said, None)
}

/// Progress notifications of one request: only where the client gave a token, and only upwards, as MCP wants them.
struct ProgressReporter {
    token: Option<rmcp::model::ProgressToken>,
    last: f64,
    /// When the next may be told.
    next_at: Instant,
    /// What was too soon to be told, and is the latest.
    pending: Option<Progress>,
}

/// A plugin may report as often as it likes; a client is told at most so often.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(20);

impl ProgressReporter {
    fn new(context: &McpContext) -> Self {
        Self {
            token: context.meta.get_progress_token(),
            last: f64::NEG_INFINITY,
            next_at: Instant::now(),
            pending: None,
        }
    }

    async fn report(&mut self, context: &McpContext, progress: Progress) {
        if self.token.is_none() || progress.done <= self.last {
            return;
        }
        let now = Instant::now();
        // Whatever it says of itself: a plugin may claim to be done as often as it likes.
        if now < self.next_at {
            self.pending = Some(progress);
            return;
        }
        self.pending = None;
        let Some(token) = self.token.clone() else { return };
        (self.last, self.next_at) = (progress.done, now + PROGRESS_INTERVAL);
        let mut told = ProgressNotificationParam::new(token, progress.done);
        if let Some(total) = progress.total {
            told = told.with_total(total);
        }
        if let Some(message) = progress.message {
            told = told.with_message(message);
        }
        // A client that is gone is noticed by the request's own token.
        let _ = context.peer.notify_progress(told).await;
    }

    /// Tells what was held back, now that it is time: the next may be long in coming, or there will be none.
    async fn flush(&mut self, context: &McpContext) {
        if let Some(held) = self.pending.take() {
            self.next_at = Instant::now();
            self.report(context, held).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use loggia_facade::Reply;
    use loggia_gate::{
        access::Rules,
        call::Gate,
        catalog::{Catalog, Slot},
        schedule::{Executor, Inline},
        testing::{entry, lanes, puppet},
    };
    use rmcp::ServiceExt;
    use serde_json::{Value, json};
    use tokio_util::sync::CancellationToken;

    use super::*;

    /// A facade whose calls take so long.
    fn slow(takes: Duration) -> Gate {
        let puppet = puppet("a", move |_| async move {
            tokio::time::sleep(takes).await;
            Ok(Reply::data("done"))
        });
        let catalog = Arc::new(Catalog::default());
        let slot = Slot::Serving(Arc::new(entry(puppet, Rules::default())));
        catalog.swap(BTreeMap::from([("a".to_owned(), slot)]));
        catalog.admit();
        Gate::new(catalog, Executor::new(lanes(), Inline::Slots(1)))
    }

    /// What a client gets for a call of `a`, and after how many seconds.
    async fn called(gate: Gate, arguments: Value) -> (Result<CallToolResult, rmcp::ServiceError>, u64) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let handler = McpHandler::new(gate, Origin::local(), CancellationToken::new());
        let serving = tokio::spawn(async move { handler.serve(ours).await.unwrap().waiting().await });
        let client = ().serve(theirs).await.unwrap();
        let Value::Object(arguments) = arguments else { unreachable!() };
        let begun = Instant::now();
        let request = CallToolRequestParams::new("a").with_arguments(arguments);
        let result = client.call_tool(request).await;
        let took = begun.elapsed().as_secs();
        client.cancel().await.unwrap();
        let _ = serving.await;
        (result, took)
    }

    /// What it is told by it.
    async fn told(gate: Gate, arguments: Value) -> (Value, u64) {
        let (result, took) = called(gate, arguments).await;
        (result.unwrap().structured_content.unwrap(), took)
    }

    #[tokio::test(start_paused = true)]
    async fn calls_during_loading_are_told_to_retry() {
        let executor = || Executor::new(lanes(), Inline::Slots(1));
        let (refused, took) = called(Gate::new(Arc::default(), executor()), json!({})).await;
        let said = "No tool \"a\" yet: plugins are still being loaded. Try again in some seconds.";
        assert!(refused.unwrap_err().to_string().contains(said));
        assert_eq!(took, 8);

        let catalog = Arc::new(Catalog::default());
        catalog.admit();
        let (refused, took) = called(Gate::new(catalog, executor()), json!({})).await;
        assert!(refused.unwrap_err().to_string().contains("Unknown tool: \"a\". Available tools: none."));
        assert_eq!(took, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn long_calls_become_runs_after_forty_seconds() {
        let minute = || slow(Duration::from_secs(60));
        let (run, took) = told(minute(), json!({"action": "dig"})).await;
        assert_eq!((run["data"]["run"]["status"].clone(), took), (json!("running"), 40));
        assert_eq!(run["next"]["arguments"]["action"], "run_status");
        let (soon, took) = told(slow(Duration::from_secs(20)), json!({"action": "dig"})).await;
        assert_eq!((soon["data"].clone(), took), (json!("done"), 20));
        let (late, took) = told(minute(), json!({"action": "look"})).await;
        assert_eq!((late["code"].clone(), took), (json!("timed_out"), 30), "its own clock");
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_a_run_returns_after_forty_seconds() {
        let gate = slow(Duration::from_secs(100));
        let (begun, took) = told(gate.clone(), json!({"action": "dig", "wait": false})).await;
        assert_eq!(took, 0);
        let id = begun["data"]["run"]["id"].clone();
        let status = json!({"action": "run_status", "run_id": id, "wait": true});
        let mut ends = Vec::new();
        for _ in 0..3 {
            let (told, took) = told(gate.clone(), status.clone()).await;
            ends.push((told["data"]["run"]["status"].clone(), took));
        }
        assert_eq!(ends, [(json!("running"), 40), (json!("running"), 40), (json!("succeeded"), 20)]);
    }
}
