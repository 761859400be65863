//! The result of `describe` with a query or a group, and the groups of a facade with too many actions for a list.
//!
//! Results come in pages. A cursor is the number of entries before its page: a reload may move entries, but no
//! state is kept for callers.

use std::collections::HashSet;

use loggia_facade::{Detail, Failure, Object, Page, Reply, code};
use serde_json::{Value, json};

use crate::{
    contract::{build::Contract, groups::ActionGroup, routed::DescribeRequest},
    model::view::ToolView,
    publish::describe::insert,
    text::{near, show},
};

/// Actions on a page.
const ACTIONS: usize = 20;
/// Actions on a page that keep their optional parameters longest.
const BEST: usize = 5;
/// Levels of detail of a page of actions, from long to short, for the best and for the others: characters of a summary,
/// and whether optional parameters are listed.
const TERSENESS: [[(usize, bool); 2]; 4] =
    [[(160, true); 2], [(80, true); 2], [(80, true), (48, false)], [(48, false); 2]];
/// Bytes of JSON of a page of actions, above which it becomes shorter.
const ACTIONS_ROOM: usize = 5000;
/// Levels of detail of the groups, from long to short: groups on a page, and the names of actions in all of them.
const GROUPS: [(usize, usize); 6] = [(100, 120), (100, 80), (100, 40), (100, 20), (100, 0), (50, 0)];
/// Bytes of JSON of a page of groups, above which it becomes shorter: 1,500 tokens.
const GROUPS_ROOM: usize = 6000;
/// Groups that a failure names.
const NAMED: usize = 20;

impl Contract {
    /// The reply to `describe`: one action, the actions that match a query or belong to a group, or the whole facade.
    ///
    /// Only actions of the view are found.
    ///
    /// # Errors
    ///
    /// If there is no such action or group, or the cursor is invalid.
    pub fn describe_page(
        &self,
        request: &DescribeRequest,
        detail: Detail,
        view: &ToolView,
    ) -> Result<Reply, Failure> {
        if let Some(name) = &request.of {
            return self.describe(Some(name), detail, view).map(Reply::data);
        }
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let request = DescribeRequest {
            of: None,
            query: given(&request.query),
            group: given(&request.group),
            cursor: given(&request.cursor),
        };
        let start = match &request.cursor {
            Some(cursor) => cursor.parse().map_err(|_| invalid_cursor(cursor))?,
            None => 0,
        };
        if request.query.is_some() || request.group.is_some() {
            let found = self.find(&request, view)?;
            Ok(self.action_page(&found, &request, start, (detail, view)))
        } else if self.lists_groups(view) {
            Ok(self.group_page(start, detail, view))
        } else {
            self.describe(None, detail, view).map(Reply::data)
        }
    }

    /// The indices of the actions of a view that match, the best first.
    fn find(&self, request: &DescribeRequest, view: &ToolView) -> Result<Vec<usize>, Failure> {
        let group = request.group.as_deref().map(|name| self.group(name, view)).transpose()?;
        let members = group.map(|group| group.actions.iter().map(|action| &*action.name).collect());
        let is_member = |index: usize| {
            let name = self.surface().actions[index].name.as_str();
            members.as_ref().is_none_or(|members: &HashSet<&str>| members.contains(name))
        };
        let shows = |index: usize| view.shows(index) && is_member(index);
        Ok(match &request.query {
            Some(query) => self.words().search(query, shows),
            None => (0..self.surface().actions.len()).filter(|index| shows(*index)).collect(),
        })
    }

    /// Finds a group by name, regardless of case.
    fn group(&self, name: &str, view: &ToolView) -> Result<ActionGroup<'_>, Failure> {
        let mut groups = self.groups(view);
        let is_exact = |group: &ActionGroup<'_>| group.name == Some(name);
        let is_same =
            |group: &ActionGroup<'_>| group.name.is_some_and(|known| known.eq_ignore_ascii_case(name));
        match groups.iter().position(is_exact).or_else(|| groups.iter().position(is_same)) {
            Some(place) => Ok(groups.swap_remove(place)),
            None => {
                let names: Vec<&str> = groups.iter().filter_map(|group| group.name).collect();
                Err(unknown_group(name, &names))
            }
        }
    }

    /// A page of actions.
    fn action_page(
        &self,
        found: &[usize],
        request: &DescribeRequest,
        start: usize,
        (detail, view): (Detail, &ToolView),
    ) -> Reply {
        let shown: Vec<usize> = found.iter().skip(start).take(ACTIONS).copied().collect();
        let mut list = Value::Null;
        let levels =
            if detail == Detail::Minimal { &TERSENESS[TERSENESS.len() - 1..] } else { &TERSENESS[..] };
        for [best, others] in levels {
            let entries = shown.iter().enumerate().map(|(place, index)| {
                let is_best = start + place < BEST;
                let mut entry = self.action_entry(*index, detail, if is_best { *best } else { *others });
                if let Some(group) = &self.surface().actions[*index].group
                    && request.group.is_none()
                {
                    insert(&mut entry, "group", group.as_str());
                }
                Value::Object(entry)
            });
            list = entries.collect();
            if detail == Detail::Full || show::fits(&list, ACTIONS_ROOM) {
                break;
            }
        }
        let mut data = Object::new();
        insert(&mut data, "facade", self.surface().name.as_str());
        insert(&mut data, "actions", list);
        let others: Object = view
            .other_tools()
            .map(|(tool, actions)| {
                let shows = |index| actions.contains(index);
                let count =
                    request.query.as_deref().map_or(0, |query| self.words().search(query, shows).len());
                (tool.to_owned(), count.into())
            })
            .filter(|(_, count)| *count != 0)
            .collect();
        if !others.is_empty() {
            insert(&mut data, "other_tools", others);
        }
        let message = match found.len() {
            0 => Some(
                "no action has these words; `describe` without parameters shows what there is".to_owned(),
            ),
            _ => None,
        };
        Reply { message, ..page(data, start, shown.len(), found.len()) }
    }

    /// A page of the groups of this facade.
    pub(crate) fn group_page(&self, start: usize, detail: Detail, view: &ToolView) -> Reply {
        let groups = self.groups(view);
        let mut reply = Reply::default();
        for (most, names) in GROUPS {
            let names = if detail == Detail::Minimal { 0 } else { names };
            let shown = groups.get(start..).unwrap_or_default();
            let shown = &shown[..shown.len().min(most)];
            // At least one name of each group, unless there is no room for any.
            let names = if names == 0 { 0 } else { (names / groups.len().max(1)).max(1) };
            let entries: Vec<Value> = shown.iter().map(|group| group_entry(group, names)).collect();
            let mut data = self.heading(view);
            insert(&mut data, "actions", view.count(&self.all));
            insert(&mut data, "groups", entries);
            self.insert_hosts_and_others(&mut data, detail, view);
            reply = page(data, start, shown.len(), groups.len());
            if detail == Detail::Full || show::fits(&reply.data, GROUPS_ROOM) {
                break;
            }
        }
        reply.message =
            Some("find actions by `describe` with `query` or `group`; `of` explains one action".to_owned());
        reply
    }
}

/// A group, with the names of some of its actions.
fn group_entry(group: &ActionGroup<'_>, names: usize) -> Value {
    let mut out = Object::new();
    if let Some(name) = group.name {
        insert(&mut out, "group", name);
    }
    insert(&mut out, "actions", group.actions.len());
    if names > 0 {
        let key = if names < group.actions.len() { "some" } else { "names" };
        let shown: Vec<&str> = group.actions.iter().take(names).map(|action| &*action.name).collect();
        insert(&mut out, key, json!(shown));
    }
    Value::Object(out)
}

/// A part of a list, with its place in the whole.
fn page(data: Object, start: usize, count: usize, total: usize) -> Reply {
    let number = |count: usize| u64::try_from(count).ok();
    let next = start.saturating_add(count);
    let cursor = (count > 0 && next < total).then(|| next.to_string());
    let page = Page { count: number(count), total: number(total), cursor };
    Reply { data: data.into(), page: Some(page), ..Reply::default() }
}

fn invalid_cursor(cursor: &str) -> Failure {
    let message = format!("`cursor` is none that `describe` returned (got \"{}\")", show::name(cursor));
    Failure::new(code::INVALID_PARAMS, message).hint("Leave it out to begin with the first page.")
}

fn unknown_group(name: &str, groups: &[&str]) -> Failure {
    let shown: Vec<String> = groups.iter().take(NAMED).map(|group| show::name(group)).collect();
    let known = match groups.len().saturating_sub(NAMED) {
        _ if groups.is_empty() => "No action has a group.".to_owned(),
        0 => format!("Groups: {}.", shown.join(", ")),
        more => format!("Groups: {}, and {more} more.", shown.join(", ")),
    };
    let message = format!("Unknown group: \"{}\". {known}", show::name(name));
    let failure = Failure::new(code::INVALID_PARAMS, message);
    match near::nearest(name, groups.iter().copied()) {
        Some(near) => failure.hint(format!("Did you mean \"{}\"?", show::name(near))),
        None => failure,
    }
}
