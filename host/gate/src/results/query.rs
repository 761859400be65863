//! A handle with what is asked of it: `result://ID?from=40&to=80`, `result://ID?grep=milk`, `result://ID?count`.

use loggia_facade::{Failure, Page, Reply, code};
use serde_json::{Value, json};

use super::{
    long_part::{ItemKind, LongPart},
    token_budget::TokenBudget,
};

/// Begin of a handle.
pub(crate) const SCHEME: &str = "result://";
/// Rows whose fields are listed.
const SAMPLED_ROWS: usize = 50;

/// What is asked of a kept result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ResultQuery {
    /// Id of the result.
    pub id: String,
    /// The first item. `None`: explain the result.
    from: Option<usize>,
    /// The item after the last one.
    to: Option<usize>,
    /// Only items that contain this text, without case.
    grep: Option<String>,
    /// Only count them.
    count: bool,
}

impl ResultQuery {
    /// Reads a handle.
    ///
    /// # Errors
    ///
    /// If it asks for something else.
    pub(crate) fn parse(handle: &str) -> Result<Self, Failure> {
        let rest = handle.trim().strip_prefix(SCHEME).unwrap_or_default();
        let (id, asked) = rest.split_once('?').unwrap_or((rest, ""));
        let mut query = Self { id: id.trim_matches('/').to_owned(), ..Self::default() };
        for (key, value) in url::form_urlencoded::parse(asked.as_bytes()) {
            match &*key {
                "from" => query.from = Some(number(&value)?),
                "to" => query.to = Some(number(&value)?),
                "grep" if !value.is_empty() => query.grep = Some(value.to_lowercase()),
                "count" => query.count = true,
                _ => return Err(unreadable(&key)),
            }
        }
        Ok(query)
    }

    /// Answers from the part that was kept, within a budget.
    pub(crate) fn answer(&self, part: &LongPart, budget: TokenBudget) -> Reply {
        if self.grep.is_some() {
            return self.matching(part, budget);
        }
        let total = part.items.len();
        match self.from.or(self.to.map(|_| 0)) {
            Some(from) if !self.count => self.items(part, from.min(total), budget),
            _ => {
                let mut about = json!({"unit": part.kind.as_str(), "total": total});
                if let Some(fields) = fields(part) {
                    about["fields"] = fields;
                }
                Reply { message: (!self.count).then(|| self.explain()), ..Reply::data(about) }
            }
        }
    }

    /// Items from a place on, as many as fit.
    fn items(&self, part: &LongPart, from: usize, budget: TokenBudget) -> Reply {
        let total = part.items.len();
        let most = from + budget.items(part, from);
        let to = self.to.unwrap_or(total).clamp(from, total).min(most);
        let page = Page { count: Some((to - from) as u64), total: Some(total as u64), ..Page::default() };
        let more = (to < self.to.unwrap_or(total).min(total)).then(|| self.handle(to));
        let page = Page { cursor: more.clone(), ..page };
        let message = more.map(|more| format!("More: `describe` with `of`: \"{more}\"."));
        Reply { page: Some(page), message, ..Reply::data(part.joined(from, to)) }
    }

    /// Items that contain the text, each with its place.
    fn matching(&self, part: &LongPart, budget: TokenBudget) -> Reply {
        let sought = self.grep.as_deref().unwrap_or_default();
        let contains = |item: &Value| match item {
            Value::String(text) => text.to_lowercase().contains(sought),
            other => other.to_string().to_lowercase().contains(sought),
        };
        let range = self.from.unwrap_or(0)..self.to.unwrap_or(usize::MAX);
        let all = part.items.iter().enumerate().filter(|(at, item)| range.contains(at) && contains(item));
        if self.count {
            return Reply::data(json!({"unit": part.kind.as_str(), "matches": all.count()}));
        }
        let items: Vec<Value> = all.map(|(at, item)| json!({"at": at, "item": item})).collect();
        let found = LongPart { kind: ItemKind::Rows, items };
        let total = found.items.len();
        let shown = budget.items(&found, 0).min(total);
        let page = Page { count: Some(shown as u64), total: Some(total as u64), ..Page::default() };
        let next = found.items.get(shown).and_then(|item| item["at"].as_u64());
        let more = next.and_then(|at| Some(self.handle(usize::try_from(at).ok()?)));
        let message = more.as_ref().map(|more| format!("More: `describe` with `of`: \"{more}\"."));
        let page = Page { cursor: more, ..page };
        Reply { page: Some(page), message, ..Reply::data(found.joined(0, shown)) }
    }

    /// The handle that continues at an item.
    fn handle(&self, from: usize) -> String {
        let mut asked = url::form_urlencoded::Serializer::new(String::new());
        asked.append_pair("from", &from.to_string());
        if let Some(to) = self.to {
            asked.append_pair("to", &to.to_string());
        }
        if let Some(grep) = &self.grep {
            asked.append_pair("grep", grep);
        }
        format!("{SCHEME}{}?{}", self.id, asked.finish())
    }

    /// How to read a kept result.
    fn explain(&self) -> String {
        let Self { id, .. } = self;
        format!(
            "Pass to `describe` as `of`: \"{SCHEME}{id}?from=0\" (items from a place on), \"?from=40&to=80\", \"?grep=TEXT\" \
             (items that contain it, with their places), \"?grep=TEXT&count\"."
        )
    }
}

/// Names of the fields of the first rows.
fn fields(part: &LongPart) -> Option<Value> {
    if part.kind != ItemKind::Rows {
        return None;
    }
    let mut names: Vec<&String> = Vec::new();
    for name in part.items.iter().take(SAMPLED_ROWS).filter_map(Value::as_object).flat_map(|row| row.keys()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| json!(names))
}

fn number(text: &str) -> Result<usize, Failure> {
    text.parse().map_err(|_| {
        Failure::new(code::INVALID_PARAMS, "`from` and `to` of a result are numbers of items, from 0")
    })
}

fn unreadable(key: &str) -> Failure {
    let key: String = key.chars().take(40).collect();
    Failure::new(code::INVALID_PARAMS, format!("a result has no {key:?}"))
        .hint("It takes `from`, `to`, `grep` and `count`, as in \"result://ID?from=40&to=80\".")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: TokenBudget = TokenBudget(10_000);

    fn rows(count: usize) -> LongPart {
        let row = |n: usize| json!({"n": n, "text": if n % 10 == 3 { "Milk & tea" } else { "bread" }});
        LongPart { kind: ItemKind::Rows, items: (0..count).map(row).collect() }
    }

    fn ask(part: &LongPart, handle: &str, budget: TokenBudget) -> Reply {
        ResultQuery::parse(handle).unwrap().answer(part, budget)
    }

    #[test]
    fn a_handle_explains_counts_slices_and_searches() {
        let part = rows(100);
        let about = ask(&part, "result://x", WIDE);
        assert_eq!(about.data, json!({"unit": "rows", "total": 100, "fields": ["n", "text"]}));
        assert!(about.message.unwrap().contains("result://x?from=0"));
        assert_eq!(
            ask(&part, "result://x?from=98", WIDE).data,
            json!([{"n": 98, "text": "bread"}, {"n": 99, "text": "bread"}])
        );
        assert_eq!(ask(&part, "result://x?from=3&to=4", WIDE).data[0]["n"], 3);
        assert_eq!(ask(&part, "result://x?to=2", WIDE).data.as_array().unwrap().len(), 2);
        assert_eq!(ask(&part, "result://x?from=500", WIDE).data, json!([]));
        assert_eq!(ask(&part, "result://x?from=9&to=3", WIDE).data, json!([]));
        assert_eq!(ask(&part, "result://x?count", WIDE).data["total"], 100);
        assert_eq!(
            ask(&part, "result://x?grep=milk%20%26&count", WIDE).data,
            json!({"unit": "rows", "matches": 10})
        );
        let found = ask(&part, "result://x?grep=MILK&from=50", WIDE);
        assert_eq!(found.data[0], json!({"at": 53, "item": {"n": 53, "text": "Milk & tea"}}));
        assert_eq!(found.page.unwrap().total, Some(5));
    }

    #[test]
    fn long_answers_continue_where_they_end() {
        let part = rows(1000);
        for first in ["result://x?from=0", "result://x?grep=e&to=900", "result://x?from=5&to=700"] {
            let (mut handle, mut seen) = (first.to_owned(), 0);
            loop {
                let reply = ask(&part, &handle, TokenBudget(300));
                seen += reply.data.as_array().unwrap().len();
                match reply.page.unwrap().cursor {
                    Some(next) => handle = next,
                    None => break,
                }
            }
            let whole = ask(&part, first, TokenBudget(1_000_000)).data.as_array().unwrap().len();
            assert_eq!(seen, whole, "{first}");
        }
    }

    #[test]
    fn bad_handles_are_explained() {
        for handle in ["result://x?from=-1", "result://x?to=a", "result://x?sort=n", "result://x?grep="] {
            assert_eq!(ResultQuery::parse(handle).unwrap_err().code, code::INVALID_PARAMS, "{handle}");
        }
    }
}
