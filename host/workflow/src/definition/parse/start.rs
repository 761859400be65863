//! Parser of how a workflow starts by itself.

use croner::parser::{CronParser, Seconds, Year};
use jiff::{Timestamp, tz::TimeZone};
use loggia_facade::Object;
use serde_json::Value as Json;

use crate::{
    definition::{
        model::{ScheduleSettings, StartSettings, StateTrigger},
        place::{NodePlace, ObjectFields},
        report::ParseReport,
    },
    yaml::excerpt,
};

/// Fields of a schedule.
const OF_SCHEDULE: [&str; 3] = ["cron", "timeZone", "parameters"];
/// Time zone of a schedule that names none.
const UTC: &str = "UTC";
/// Parameter that takes what is posted to a hook.
const PAYLOAD: &str = "payload";

/// Parameter that takes the changed keys of a state.
const CHANGE: &str = "change";
/// Longest prefix of keys: that of a key.
const PREFIX_BYTES: usize = 1024;
/// Fields of which one at least says when a workflow starts.
const CAUSES: [&str; 3] = ["schedule", "hook", "onState"];

/// Parses `runAs`, `schedule`, `hook` and `onState`. `parameters`: the workflow's schema.
pub(crate) fn parse_start(
    fields: &ObjectFields<'_>,
    parameters: &Object,
    report: &mut ParseReport,
) -> Option<StartSettings> {
    for name in ["runAs"].into_iter().chain(CAUSES) {
        if let Some(place) = fields.get(name) {
            report.note(place.node.line, &*place.path, format!("ToolHive does not know `{name}`"));
        }
    }
    let schedule = fields.get("schedule").and_then(|place| parse_schedule(&place, report));
    let hook = fields.get("hook").and_then(|place| parse_hook(&place, parameters, report));
    let on_state = fields.get("onState").and_then(|place| parse_on_state(&place, parameters, report));
    let starts = CAUSES.into_iter().find(|name| fields.get(name).is_some());
    match (fields.get("runAs"), starts) {
        (None, None) => None,
        (None, Some(starts)) => {
            let missing = fields.missing("runAs", &format!("is required next to {starts}"));
            report.problem(missing.hint("name a service of the settings: runAs: reports"));
            None
        }
        (Some(place), None) => {
            report.warn(place.problem("has no effect without schedule, hook or onState"));
            None
        }
        (Some(place), Some(_)) => {
            let service = place.text(report)?;
            check_name(service, &place, report);
            Some(StartSettings { service: service.to_owned(), schedule, hook, on_state })
        }
    }
}

/// Checks the name of a service in the settings, or of a facade.
fn check_name(name: &str, place: &NodePlace<'_>, report: &mut ParseReport) {
    let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    if name.len() > 32 || !starts || !name.chars().all(rest) {
        let message =
            format!("\"{}\" must have 1 to 32 of a-z, 0-9, `-` and `_`, a letter first", excerpt(name));
        report.problem(place.problem(&message));
    }
}

fn parse_schedule(place: &NodePlace<'_>, report: &mut ParseReport) -> Option<ScheduleSettings> {
    if place.node.kind_name() == "a text" {
        let cron = parse_cron(place, report)?;
        return Some(ScheduleSettings { cron, time_zone: UTC.to_owned(), params: Object::new() });
    }
    let fields = place.fields(&OF_SCHEDULE, report)?;
    let Some(cron) = fields.get("cron") else {
        report.problem(fields.missing("cron", "is required").hint("write cron: \"0 7 * * 1-5\""));
        return None;
    };
    let time_zone = fields.text("timeZone", report).unwrap_or(UTC).to_owned();
    let params = fields.get("parameters").and_then(|place| place.object(report)).unwrap_or_default();
    Some(ScheduleSettings { cron: parse_cron(&cron, report)?, time_zone, params })
}

/// Checks a cron expression of five fields, which must occur at all.
fn parse_cron(place: &NodePlace<'_>, report: &mut ParseReport) -> Option<String> {
    let text = place.text(report)?;
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    let reason = match parser.parse(text) {
        Ok(cron) => {
            let since = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
            cron.find_next_occurrence(&since, false).err().map(|_| "it never occurs".to_owned())
        }
        Err(error) => Some(error.to_string()),
    };
    match reason {
        None => Some(text.to_owned()),
        Some(reason) => {
            let reason = reason.trim_end_matches('.');
            let message = format!("\"{}\" is no cron expression of five fields: {reason}", excerpt(text));
            report.problem(place.problem(&message).hint("minute hour day month weekday: \"0 7 * * 1-5\""));
            None
        }
    }
}

/// Parses `hook: true` or `hook: {parameter: NAME}`; returns the parameter.
fn parse_hook(place: &NodePlace<'_>, parameters: &Object, report: &mut ParseReport) -> Option<String> {
    let parameter = match place.node.kind_name() {
        "an object" => {
            let fields = place.fields(&["parameter"], report)?;
            fields.text("parameter", report).unwrap_or(PAYLOAD).to_owned()
        }
        _ => place.boolean(report)?.then(|| PAYLOAD.to_owned())?,
    };
    let hint = "define it in `parameters`, or name another by hook: {parameter: NAME}";
    check_parameter(&parameter, parameters, place, ("the posted JSON", hint), report);
    Some(parameter)
}

/// Parses `onState: FACADE` or `onState: {facade, prefix, parameter}`.
fn parse_on_state(
    place: &NodePlace<'_>,
    parameters: &Object,
    report: &mut ParseReport,
) -> Option<StateTrigger> {
    let trigger = if place.node.kind_name() == "a text" {
        let facade = place.text(report)?.to_owned();
        check_name(&facade, place, report);
        StateTrigger { facade, prefix: String::new(), parameter: CHANGE.to_owned() }
    } else {
        let fields = place.fields(&["facade", "prefix", "parameter"], report)?;
        let Some(facade) = fields.get("facade") else {
            let missing = fields.missing("facade", "is required");
            report.problem(missing.hint("name the plugin whose state it watches: facade: notes"));
            return None;
        };
        let name = facade.text(report)?.to_owned();
        check_name(&name, &facade, report);
        let prefix = fields.text("prefix", report).unwrap_or_default().to_owned();
        if let Some(place) = fields.get("prefix").filter(|_| prefix.len() > PREFIX_BYTES) {
            report.problem(place.problem(&format!("has more than {PREFIX_BYTES} bytes, as no key has")));
        }
        let parameter = fields.text("parameter", report).unwrap_or(CHANGE).to_owned();
        StateTrigger { facade: name, prefix, parameter }
    };
    let hint = "define it in `parameters`, or name another by onState: {parameter: NAME}";
    check_parameter(&trigger.parameter, parameters, place, ("the changed keys", hint), report);
    Some(trigger)
}

/// Checks that a workflow has the parameter that takes what a start brings; with what that is, and a hint.
fn check_parameter(
    parameter: &str,
    parameters: &Object,
    place: &NodePlace<'_>,
    (content, hint): (&str, &str),
    report: &mut ParseReport,
) {
    let properties = parameters.get("properties").and_then(Json::as_object);
    if !properties.is_some_and(|properties| properties.contains_key(parameter)) {
        let message = format!("needs the parameter `{}`, which takes {content}", excerpt(parameter));
        report.problem(place.problem(&message).hint(hint));
    }
}
