//! One `tools/call`, from its request to its response: a result, a run, a task, or a question.

use std::{collections::BTreeSet, time::Duration};

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use loggia_facade::{Answer, Command, Envelope, Failure, code, trace::ParentSpan};
use loggia_gate::{
    access::{CallOrigin, CallerRights, ListId},
    call::Exec,
    catalog::{CatalogSlot, CatalogSnapshot},
    run::{CallEvent, RunHandle, RunId},
};
use loggia_schema::explain_unknown_tool;
use rmcp::{
    ErrorData,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock},
};
use tokio::time::Instant;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{
    approvals::add_approvals,
    call_reference::CallReference,
    elicitation::{self, CallBinding, ElicitationSupport, ParkedCall},
    forwarded::to_call_response,
    handler::{McpContext, McpHandler},
    operation::request_ids,
    progress::ProgressSender,
    result::to_shared_result,
    tasks,
    view::ClientView,
    wire::unshare_text,
};

/// The request whose call is followed.
struct ToolRequest<'a> {
    tool: &'a str,
    support: ElicitationSupport,
    binding: Option<CallBinding>,
    origin: &'a CallOrigin,
    context: &'a McpContext,
    /// Whether both contents of the result may be written from one text.
    shares_text: bool,
}

/// A call that was begun before its request got here.
pub(super) struct BegunCall {
    pub(super) exec: Exec,
    /// First event of the call, if there was one.
    pub(super) event: Option<CallEvent>,
    /// Counts the call until its response.
    pub(super) counted: TaskTrackerToken,
    /// Whether the transport writes both contents of the result from one text.
    pub(super) shares_text: bool,
}

/// Waits for the next event of a call. Cancel-safe.
async fn next_event(exec: &mut Exec, first: &mut Option<CallEvent>) -> CallEvent {
    match first.take() {
        Some(event) => event,
        None => exec.next().await,
    }
}

/// Outcome of looking for the call that a request resumes.
enum Resumption {
    /// The request starts a new call, or watches a run again.
    NewCall,
    /// The call continues with the answers.
    Resumed(Exec),
    /// The call no longer waits.
    Expired(Failure),
}

impl McpHandler {
    /// Handles a `tools/call`, whose span this is.
    pub(super) async fn handle_call(
        &self,
        request: CallToolRequestParams,
        begun: Option<BegunCall>,
        context: &McpContext,
        span: &ParentSpan,
    ) -> Result<CallToolResponse, ErrorData> {
        let _counted = self.shared.calls.token();
        let support = ElicitationSupport::of_client(context);
        let origin = self
            .origin(context)
            .with_elicitation(support.forms)
            .with_links(support.links)
            .with_request_ids(request_ids(context))
            .with_span(span)
            .with_roots(self.root_source());
        let tool = request.name.clone();
        // Sessions over HTTP write their responses themselves, rmcp those of other requests.
        let shares_text = self.shares_text || begun.as_ref().is_some_and(|begun| begun.shares_text);
        // Only state that may pass through the client needs a binding.
        let binding = (support.by_retry || request.request_state.is_some())
            .then(|| CallBinding::new(&request.name, request.arguments.as_ref()));
        if let Some(BegunCall { exec, event, counted: _counted, .. }) = begun {
            // The call has its arguments.
            drop(request);
            let request =
                ToolRequest { tool: &tool, support, binding, origin: &origin, context, shares_text };
            return self.follow_call(exec, event, request).await;
        }
        if let Some(call) = self.find_reference(&request, &origin, binding.as_ref())
            && let Some(answer) = self.ask_host(call, "tools/call", &request, context).await
        {
            return answer.and_then(to_call_response);
        }
        let exec = match self.resume_call(&request, &origin, binding.as_ref())? {
            Resumption::Resumed(exec) => exec,
            Resumption::Expired(failure) => {
                let envelope = Envelope::new(Command { key: "action", name: None }, Err(failure));
                return Ok(self.to_result(envelope, &tool, context, shares_text).into());
            }
            Resumption::NewCall => self.start_call(request, support, origin.clone()).await?,
        };
        let tasks = context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
        if tasks && exec.may_become_run() {
            exec.persist().await;
            return Ok(match exec.detach_with_handle() {
                Some(id) => tasks::to_created(&id).into(),
                None => cancelled().into(),
            });
        }
        let request = ToolRequest { tool: &tool, support, binding, origin: &origin, context, shares_text };
        self.follow_call(exec, None, request).await
    }

    /// Renders the outcome of a call of `tool`, for [`message_text`](super::message_text) to write. `caller` is needed for an outcome
    /// that names a run.
    pub(super) fn render_result(
        &self,
        mut envelope: Envelope,
        tool: &str,
        view: ClientView,
        caller: Option<&CallOrigin>,
    ) -> CallToolResult {
        let catalog = self.shared.gate.catalog();
        let snapshot = catalog.snapshot();
        if !catalog.notices.is_empty() {
            let published = snapshot.list(view.list).tools.get(tool);
            let facade = published.map_or(tool, |published| &published.facade);
            envelope.notice = catalog.notices.find(facade).map(|notice| match snapshot.slots.get(facade) {
                Some(CatalogSlot::Serving(_)) => format!("{notice}; an older version answered"),
                _ => notice,
            });
        }
        let run = envelope.run.as_deref().zip(caller);
        let approvals =
            run.and_then(|(run, caller)| self.run_approvals(run, caller, (&snapshot, view.pages)));
        let mut result = to_shared_result(envelope, &snapshot, tool, view);
        add_approvals(&mut result, approvals);
        result
    }

    fn to_result(
        &self,
        envelope: Envelope,
        tool: &str,
        context: &McpContext,
        shares_text: bool,
    ) -> CallToolResult {
        let pages = self.shown_pages(context.client_capabilities().as_ref());
        let view = ClientView { pages, ..self.view(context) };
        let caller = envelope.run.is_some().then(|| self.origin(context));
        let mut result = self.render_result(envelope, tool, view, caller.as_ref());
        if !shares_text {
            unshare_text(&mut result);
        }
        result
    }

    /// Answers with the run that a call becomes, or with its status.
    async fn detach(
        &self,
        exec: Exec,
        tool: &str,
        context: &McpContext,
        shares_text: bool,
    ) -> CallToolResponse {
        exec.persist().await;
        let status = exec.detach_as_run();
        status.map_or_else(cancelled, |envelope| self.to_result(envelope, tool, context, shares_text)).into()
    }

    /// Starts a new call.
    async fn start_call(
        &self,
        request: CallToolRequestParams,
        support: ElicitationSupport,
        origin: CallOrigin,
    ) -> Result<Exec, ErrorData> {
        let catalog = self.shared.gate.catalog();
        if !catalog.snapshot().has_tool(origin.list, &request.name) {
            // A client may call before it lists tools, while plugins are still loading: wait for this one.
            catalog.wait_for_tool(origin.list, &request.name).await;
        }
        let arguments = request.arguments.unwrap_or_default();
        let (rights, list) = (origin.rights.clone(), origin.list);
        let exec = self.shared.gate.call_tool(origin, &request.name, arguments);
        let exec = exec.ok_or_else(|| self.missing_tool(&request.name, list, &rights))?;
        if let Some(responses) = request.input_responses.filter(|_| support.by_retry) {
            exec.prepare_answers(elicitation::parse_answers(responses));
        }
        Ok(exec)
    }

    /// Error for a tool that does not exist, or not for this caller.
    pub(super) fn missing_tool(&self, name: &str, list: ListId, rights: &CallerRights) -> ErrorData {
        let catalog = self.shared.gate.catalog();
        match catalog.is_admitted() {
            true => match catalog.notices.find(name).filter(|_| rights.reaches(name)) {
                Some(notice) => ErrorData::invalid_params(format!("No tool {name:?}: {notice}"), None),
                None => unknown_tool(name, &catalog.snapshot(), list, rights),
            },
            false => no_tool_yet(name),
        }
    }

    /// Returns the call that a request refers to, if there are other hosts that may have it.
    fn find_reference(
        &self,
        request: &CallToolRequestParams,
        origin: &CallOrigin,
        binding: Option<&CallBinding>,
    ) -> Option<CallReference> {
        self.fleet.as_ref()?;
        let Some(state) = request.request_state.as_deref() else {
            return CallReference::of_arguments(request);
        };
        let parked = self.shared.sealer.open(state, &origin.caller, binding?)?;
        Some(CallReference { run: parked.run(), host: parked.host })
    }

    /// Resumes a call that is waiting for answers, if the request carries its state.
    ///
    /// # Errors
    ///
    /// If the state is not one that this host issued for this call.
    fn resume_call(
        &self,
        request: &CallToolRequestParams,
        origin: &CallOrigin,
        binding: Option<&CallBinding>,
    ) -> Result<Resumption, ErrorData> {
        let Some(state) = request.request_state.as_deref() else { return Ok(Resumption::NewCall) };
        let parked = binding.and_then(|binding| self.shared.sealer.open(state, &origin.caller, binding));
        let parked = parked.ok_or_else(foreign_state)?;
        let answers = elicitation::parse_answers(request.input_responses.clone().unwrap_or_default());
        if parked.is_watched {
            if let Ok(run) = self.shared.gate.find_run(&parked.run(), origin) {
                answers.for_each(|(key, answer)| _ = run.answer(&key, answer));
            }
            return Ok(Resumption::NewCall);
        }
        let Ok(exec) = self.shared.gate.attach(&parked.run(), origin) else {
            let message = "unavailable: the question is no longer open";
            let failure = Failure::new(code::UNAVAILABLE, message);
            return Ok(Resumption::Expired(failure.hint("make the call again, without `requestState`")));
        };
        answers.for_each(|(key, answer)| _ = exec.answer(&key, answer));
        Ok(Resumption::Resumed(exec))
    }

    /// Follows a call until it ends, becomes a run or needs an answer from the client. `first` is an event that it had before.
    async fn follow_call(
        &self,
        mut exec: Exec,
        mut first: Option<CallEvent>,
        ToolRequest { tool, support, binding, origin, context, shares_text }: ToolRequest<'_>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut reporter = ProgressSender::new(context);
        let mut asking: OpenForms = FuturesUnordered::new();
        let mut asked = BTreeSet::new();
        let soft = exec.patience();
        let patience = tokio::time::sleep(soft.unwrap_or_default());
        tokio::pin!(patience);
        // A client that sent `wait: false` gets the run at once.
        let waits = soft != Some(Duration::ZERO);
        let mut is_overdue = false;
        loop {
            let event = tokio::select! {
                biased;
                event = next_event(&mut exec, &mut first), if waits => event,
                Some((key, answer)) = asking.next(), if !asking.is_empty() => {
                    exec.answer(&key, answer);
                    continue;
                }
                () = tokio::time::sleep_until(reporter.next_at), if reporter.pending.is_some() => {
                    reporter.flush(context).await;
                    continue;
                }
                () = self.shared.overdue.cancelled(), if !is_overdue => {
                    is_overdue = true;
                    exec.cancel();
                    continue;
                }
                // Dropping the call cancels it; rmcp discards the response of a cancelled request.
                () = context.ct.cancelled() => {
                    drop(exec);
                    withdraw(&mut asking).await;
                    return Ok(cancelled().into());
                }
                () = &mut patience, if soft.is_some() => {
                    // While a form is open, do not return: the person's answer would be lost.
                    if !asking.is_empty() && exec.is_asking() {
                        patience.as_mut().reset(Instant::now() + Duration::from_secs(1));
                        continue;
                    }
                    return Ok(self.detach(exec, tool, context, shares_text).await);
                }
            };
            match event {
                CallEvent::Done(envelope) => {
                    // The last progress is always sent.
                    reporter.flush(context).await;
                    withdraw(&mut asking).await;
                    return Ok(self.to_result(*envelope, tool, context, shares_text).into());
                }
                CallEvent::Progress(progress) => reporter.report(context, progress).await,
                // People take their time. Who waits for a run's status waits on.
                CallEvent::AwaitsApproval if exec.watched_run().is_some() => {}
                CallEvent::AwaitsApproval => return Ok(self.detach(exec, tool, context, shares_text).await),
                CallEvent::Asks(mut asks) => {
                    // MCP cannot express it, so it cannot be answered.
                    exec.close_unless(&mut asks, elicitation::is_expressible, &Answer::Cancelled);
                    let watched = exec.watched_run();
                    if watched.is_some() && !asks.values().all(|question| support.shows(question)) {
                        // The questions are part of the run's status.
                        return Ok(self.detach(exec, tool, context, shares_text).await);
                    }
                    exec.close_unless(&mut asks, |question| support.shows(question), &Answer::Declined);
                    if asks.is_empty() {
                        continue;
                    }
                    if support.by_retry {
                        let is_watched = watched.is_some();
                        let Some(id) = watched.or_else(|| exec.detach()) else {
                            return Ok(cancelled().into());
                        };
                        let host = self.fleet.as_ref().map(|fleet| fleet.address().to_owned());
                        let parked = ParkedCall::new(&id, is_watched, host);
                        let binding = binding.unwrap_or_else(|| CallBinding::new(tool, None));
                        let result = self.shared.sealer.seal(&parked, &asks, &origin.caller, &binding);
                        return Ok(result.into());
                    }
                    for (key, question) in asks {
                        if asked.insert(key.clone()) {
                            let peer = context.peer.clone();
                            let closed = exec.question_closed(key.clone());
                            asking.push(
                                async move { (key, elicitation::elicit(peer, question, closed).await) }
                                    .boxed(),
                            );
                        }
                    }
                }
            }
        }
    }

    pub(super) fn find_task(&self, id: &str, context: &McpContext) -> Result<(RunId, RunHandle), ErrorData> {
        let (id, origin) = (RunId::from_client(id), self.origin(context));
        let run = self.shared.gate.find_run(&id, &origin).map_err(|_| tasks::unknown_task())?;
        Ok((id, run))
    }
}

/// Elicitation requests without an answer yet.
type OpenForms = FuturesUnordered<BoxFuture<'static, (String, Answer)>>;

/// Waits until the open elicitation requests of an ending call are cancelled.
async fn withdraw(asking: &mut OpenForms) {
    let withdrawn = async { while asking.next().await.is_some() {} };
    let _ = tokio::time::timeout(WITHDRAW_TIMEOUT, withdrawn).await;
}

/// Longer than the gate takes to end a cancelled call.
const WITHDRAW_TIMEOUT: Duration = Duration::from_secs(2);

/// Result for a client that has disconnected.
fn cancelled() -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text("cancelled")])
}

/// Error for a tool that is not in the caller's list. Names no other tool than those in it.
fn unknown_tool(name: &str, snapshot: &CatalogSnapshot, list: ListId, rights: &CallerRights) -> ErrorData {
    let listed = snapshot.list(list).listed();
    let visible = listed.filter(|(_, tool)| snapshot.visible_view(tool, rights).is_some());
    let tools: Vec<(&str, bool)> =
        visible.map(|(name, tool)| (name.as_str(), tool.published.destructive)).collect();
    ErrorData::invalid_params(explain_unknown_tool(name, &tools), None)
}

/// Error for a state that was modified, has expired, or belongs to another caller, call or process.
fn foreign_state() -> ErrorData {
    let message = "`requestState` is not valid for this call (any more): make the call again without it";
    ErrorData::invalid_params(message, None)
}

/// Error while the first plugins are still loading, when a tool may appear later.
fn no_tool_yet(name: &str) -> ErrorData {
    let name: String = name.chars().take(80).collect();
    let message = format!("No tool {name:?} yet: plugins are still being loaded. Try again in some seconds.");
    ErrorData::invalid_params(message, None)
}

#[cfg(test)]
mod tests;
