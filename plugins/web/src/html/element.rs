//! What the names of elements and attributes mean.

/// Elements that have a meaning here. Others are like `span`.
const KNOWN: [&str; 122] = [
    "a",
    "abbr",
    "address",
    "area",
    "article",
    "aside",
    "audio",
    "b",
    "base",
    "big",
    "blockquote",
    "body",
    "br",
    "button",
    "canvas",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "dfn",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "foreignobject",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "input",
    "ins",
    "kbd",
    "label",
    "legend",
    "li",
    "link",
    "listing",
    "main",
    "map",
    "mark",
    "math",
    "menu",
    "meta",
    "nav",
    "noembed",
    "noframes",
    "noscript",
    "object",
    "ol",
    "optgroup",
    "option",
    "output",
    "p",
    "param",
    "picture",
    "plaintext",
    "pre",
    "progress",
    "q",
    "rp",
    "rt",
    "ruby",
    "s",
    "samp",
    "script",
    "search",
    "section",
    "select",
    "small",
    "source",
    "span",
    "strike",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "track",
    "tt",
    "u",
    "ul",
    "var",
    "video",
    "wbr",
    "xmp",
];

/// Attributes that are kept.
const ATTRIBUTES: [&str; 25] = [
    "alt",
    "aria-hidden",
    "charset",
    "class",
    "colspan",
    "content",
    "data-src",
    "datetime",
    "hidden",
    "href",
    "http-equiv",
    "id",
    "lang",
    "media",
    "name",
    "open",
    "property",
    "rel",
    "role",
    "rowspan",
    "src",
    "start",
    "style",
    "title",
    "type",
];

const VOID: [&str; 15] = [
    "area", "base", "br", "col", "embed", "frame", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

/// Elements that are no text for people. Their content is not parsed.
const DROPPED: [&str; 16] = [
    "audio", "canvas", "embed", "iframe", "math", "noembed", "noframes", "noscript", "object", "script",
    "select", "style", "svg", "template", "textarea", "video",
];

const BLOCKS: [&str; 53] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "listing",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "plaintext",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "ul",
    "xmp",
];

/// Elements that a `<head>` may contain.
const HEAD: [&str; 8] = ["base", "link", "meta", "noscript", "script", "style", "template", "title"];

fn has(names: &[&str], name: &str) -> bool {
    names.binary_search(&name).is_ok()
}

fn find(names: &[&'static str], name: &str) -> Option<&'static str> {
    names.binary_search(&name).ok().map(|at| names[at])
}

/// The static name of a known element, or empty.
pub fn known(name: &str) -> &'static str {
    find(&KNOWN, name).unwrap_or_default()
}

/// The static name of a known attribute.
pub fn known_attribute(name: &str) -> Option<&'static str> {
    find(&ATTRIBUTES, name)
}

/// Tests whether an element has no content.
pub fn is_void(name: &str) -> bool {
    has(&VOID, name)
}

/// Tests whether an element's content is no text for people.
pub fn is_dropped(name: &str) -> bool {
    has(&DROPPED, name)
}

/// Tests whether an element begins and ends a paragraph.
pub fn is_block(name: &str) -> bool {
    has(&BLOCKS, name)
}

/// Tests whether an element belongs into the head.
pub fn is_of_head(name: &str) -> bool {
    has(&HEAD, name)
}

pub fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

/// Elements that a start tag ends if they are open, and the elements at which the search for them stops.
pub fn ended_by(name: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    const CELL: &[&str] = &["td", "th", "table", "caption"];
    Some(match name {
        "li" => (&["li"], &["ul", "ol", "menu", "dir", "table", "td", "th"]),
        "dt" | "dd" => (&["dt", "dd"], &["dl", "table", "td", "th"]),
        "td" | "th" => (&["td", "th", "caption"], &["tr", "table"]),
        "tr" => (&["tr", "caption", "colgroup"], &["table"]),
        "thead" | "tbody" | "tfoot" => {
            (&["thead", "tbody", "tfoot", "tr", "caption", "colgroup"], &["table"])
        }
        "option" | "optgroup" => (&["option"], &["select", "table"]),
        "a" => (&["a"], CELL),
        "rt" | "rp" => (&["rt", "rp"], &["ruby"]),
        "body" => (&["head"], &[]),
        _ if is_heading(name) => (
            &["p", "h1", "h2", "h3", "h4", "h5", "h6"],
            &["div", "section", "article", "li", "td", "th", "table", "header", "details", "blockquote", "a"],
        ),
        _ if is_block(name) => (&["p"], CELL),
        _ => return None,
    })
}

/// Elements out of which an end tag of another name does not lead.
pub fn is_border(of: &str, name: &str) -> bool {
    match name {
        "td" | "th" | "caption" => {
            !matches!(of, "tr" | "table" | "thead" | "tbody" | "tfoot" | "body" | "html")
        }
        "table" => !matches!(of, "body" | "html"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_element_is_known() {
        for names in [&VOID[..], &DROPPED, &BLOCKS, &HEAD] {
            assert!(names.iter().all(|name| known(name) == *name), "{names:?}");
        }
    }

    #[test]
    fn names_are_in_order() {
        for names in [&KNOWN[..], &ATTRIBUTES, &VOID, &DROPPED, &BLOCKS, &HEAD] {
            assert!(names.is_sorted(), "{names:?}");
        }
    }
}
