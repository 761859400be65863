//! Pages: where the next one is, in the forms that APIs use.
//!
//! Only query parameters are taken from a response. A link to another host or path leads nowhere else than to the next page
//! of the same operation.

use http::{HeaderMap, header};
use serde_json::Value;
use url::Url;

use crate::description::{ApiOperation, ParameterPlace};

/// Query parameters of the next page, which replace those of the call.
pub(super) type PageQuery = Vec<(String, String)>;

/// Bytes of all parameters of a page, at most.
const PAGE: usize = 2 << 10;

/// Places of the next page's URL.
const LINKS: [&str; 14] = [
    "/next",
    "/links/next",
    "/links/next/href",
    "/_links/next",
    "/_links/next/href",
    "/paging/next",
    "/pagination/next",
    "/pagination/next_url",
    "/meta/next",
    "/next_url",
    "/next_page_url",
    "/nextPage",
    "/next_page",
    "/@odata.nextLink",
];

/// Places of a token of the next page.
const TOKENS: [&str; 22] = [
    "/next_cursor",
    "/nextCursor",
    "/next_page_token",
    "/nextPageToken",
    "/next_token",
    "/nextToken",
    "/NextToken",
    "/next_page",
    "/nextPage",
    "/next",
    "/continuation_token",
    "/continuationToken",
    "/cursor/next",
    "/cursors/after",
    "/meta/next_cursor",
    "/meta/next_token",
    "/meta/cursor/next",
    "/metadata/continue",
    "/pagination/next_cursor",
    "/paging/cursors/after",
    "/response_metadata/next_cursor",
    "/page_info/end_cursor",
];

/// Names of counts of all items.
const TOTALS: [&str; 8] = [
    "/total_count",
    "/totalCount",
    "/total",
    "/total_items",
    "/totalItems",
    "/meta/total",
    "/total_records",
    "/pagination/total",
];

/// Finds the query of the next page.
pub(super) fn next_page(operation: &ApiOperation, headers: &HeaderMap, data: &Value) -> Option<PageQuery> {
    let parameter = operation.paging.as_deref()?;
    let page = link_header(headers)
        .or_else(|| LINKS.iter().find_map(|place| query_of(data.pointer(place)?.as_str()?)))
        .or_else(|| token(data).map(|token| vec![(parameter.to_owned(), token)]))
        .or_else(|| last_id(operation, data))
        .or_else(|| offset(parameter, data))?;
    let bytes: usize = page.iter().map(|(name, value)| name.len() + value.len()).sum();
    (!page.is_empty() && bytes <= PAGE).then_some(page)
}

/// Finds how many items there are in all.
pub(super) fn total(data: &Value) -> Option<u64> {
    TOTALS.iter().find_map(|place| data.pointer(place)?.as_u64())
}

/// The list that a response consists of: itself, or its only list.
pub(super) fn items(data: &Value) -> Option<&Vec<Value>> {
    match data {
        Value::Array(items) => Some(items),
        Value::Object(members) => {
            let mut lists = members.values().filter_map(Value::as_array);
            lists.next().filter(|_| lists.next().is_none())
        }
        _ => None,
    }
}

/// `link: <https://api.example.com/items?page=2>; rel="next"`
fn link_header(headers: &HeaderMap) -> Option<PageQuery> {
    headers.get_all(header::LINK).iter().filter_map(|value| value.to_str().ok()).find_map(|links| {
        let mut rest = links;
        while let Some((_, after)) = rest.split_once('<') {
            let (url, parameters) = after.split_once('>')?;
            // The parameters end where the next link begins.
            let own = parameters.split('<').next().unwrap_or_default();
            let is_next = own.split([';', ',']).any(|parameter| {
                let (name, value) = parameter.split_once('=').unwrap_or_default();
                let mut words = value.trim().trim_matches('"').split_whitespace();
                name.trim().eq_ignore_ascii_case("rel") && words.any(|word| word.eq_ignore_ascii_case("next"))
            });
            if is_next {
                return query_of(url);
            }
            rest = parameters;
        }
        None
    })
}

/// The query of a URL, absolute or not.
fn query_of(link: &str) -> Option<PageQuery> {
    let is_link = link.contains("://") || link.starts_with(['/', '?']);
    let base = Url::parse("http://relative.invalid/").ok()?;
    let url = base.join(link).ok().filter(|_| is_link)?;
    let pairs: PageQuery =
        url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    (!pairs.is_empty()).then_some(pairs)
}

fn token(data: &Value) -> Option<String> {
    TOKENS.iter().find_map(|place| match data.pointer(place)? {
        Value::String(token) if !token.is_empty() && !token.contains("://") => Some(token.clone()),
        Value::Number(page) => page.as_u64().filter(|page| *page > 0).map(|page| page.to_string()),
        _ => None,
    })
}

/// `has_more` with the last item's id: Stripe and its imitators.
fn last_id(operation: &ApiOperation, data: &Value) -> Option<PageQuery> {
    let has_more =
        ["/has_more", "/hasMore", "/meta/has_more"].iter().find_map(|p| data.pointer(p)?.as_bool());
    if has_more != Some(true) {
        return None;
    }
    let has =
        |name: &str| operation.parameters.iter().any(|p| p.place == ParameterPlace::Query && p.name == name);
    let parameter = ["starting_after", "after", "after_id"].into_iter().find(|name| has(name))?;
    let id = match items(data)?.last()?.get("id")? {
        Value::String(id) => id.clone(),
        Value::Number(id) => id.to_string(),
        _ => return None,
    };
    Some(vec![(parameter.to_owned(), id)])
}

/// `startAt`, `offset` or `skip`, with a total.
fn offset(parameter: &str, data: &Value) -> Option<PageQuery> {
    if !matches!(parameter, "startAt" | "offset" | "skip") {
        return None;
    }
    let begin = data.get(parameter).and_then(Value::as_u64)?;
    let next = begin + items(data)?.len() as u64;
    (next > begin && next < total(data)?).then(|| vec![(parameter.to_owned(), next.to_string())])
}
