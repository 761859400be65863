//! Conversion of input to text.

use crate::{
    convert::{Format, convert},
    html,
};

#[test]
fn html_becomes_markdown() {
    let page = r#"<!DOCTYPE html><html><head><title>Tea &amp; more</title><style>p > a { x: "</p>" }</style>
<script>if (a < b && c > d) { x = "<h1>no</h1>"; }</script></head><body><nav><a href="/">Home</a></nav>
<h1>Making   <em>tea</em></h1><p>Boil &eacute; water &#8212; 3 < 4<p title='a>b'>Two<br>lines<ul><li>leaves<li>cup<ul><li>blue</ul></ul>
<ol><li>one</li><li><p>two</p></li></ol><table><tr><th>kind</th><th>minutes</th></tr><tr><td>green<td>2 | 3</table><!-- <p>gone</p> -->
<h2>Code</h2><pre><code>let a = 1;
  if a &lt; 2 {}</code></pre><p># no heading</p><svg><text>no</text></svg>last</body></html>"#;
    let (text, title) = html::to_markdown(page);
    assert_eq!(title.as_deref(), Some("Tea & more"));
    insta::assert_snapshot!(text);
}

#[test]
fn broken_html_is_read_as_far_as_possible() {
    let check = |html: &str, expected: &str| assert_eq!(html::to_markdown(html).0, expected, "{html}");
    check("", "");
    check("<", "<");
    check("a < b", "a < b");
    check("a <b", "a");
    check("<p>a</p", "a");
    check("<!-- a", "");
    check("<!-- a --> b", "b");
    check("</>a</ b>c", "ac");
    check("<script>a", "");
    check("<nav>a <nav>b", "a b");
    check("<p title=\"a>b\">c", "c");
    check("<p \">c", "c");
    check("<PRE>a\n b</PRE>", "```\na\n b\n```");
    check("<pre>```</pre>", "````\n```\n````");
    check("<td>a</td>", "a");
    check("<tr><td>a<tr><td>b", "| a |\n|---|\n| b |");
    check("<table><tr><td><h2>a</h2><p>b</table>", "| a b |\n|---|");
    check("</ul></ol></tr>a", "a");
    check("a&nbsp;&amp;&lt;&bogus;", "a &<&bogus;");
    check("<p>---</p>", "\\---");
    check("<h2>a<br>b</h2>", "## a b");
    check("日<b>本</b>語<", "日本語<");
}

#[test]
fn the_format_is_guessed() {
    let check = |text: &str, source: Option<&str>, expected: Format, title: &str| {
        let converted = convert(text, Format::Auto, source).unwrap();
        assert_eq!((converted.format, converted.title.as_str()), (expected, title), "{text}");
    };
    check("# A\nb", None, Format::Markdown, "A");
    check("a\nb", None, Format::Text, "a");
    check("a\nb", Some("x.MD"), Format::Markdown, "a");
    check("# a\nb", Some("x.txt"), Format::Text, "# a");
    check("```\na\n```\n# B", None, Format::Markdown, "B");
    check("<h1>A</h1><p>b", None, Format::Html, "A");
    check("  <!DOCTYPE HTML><title> T </title><h1>A</h1>", None, Format::Html, "T");
    check("<a> is less than <b>", None, Format::Text, "<a> is less than <b>");
    check("\u{feff}---\ntitle: x\n---\n# A", None, Format::Markdown, "A");
    check("A\n===\nb", None, Format::Markdown, "A");
    check(&"word ".repeat(100), None, Format::Text, &format!("{}word…", "word ".repeat(23)));
}

#[test]
fn invisible_elements_are_omitted() {
    let text = |given: &str| convert(given, Format::Text, None).unwrap().text;
    assert_eq!(text("a\r\nb\rc\0d\u{7}\te"), "a\nb\ncd\te");
    assert_eq!(text(&format!("a{}b", " ".repeat(1000))).len(), 102);
    let empty = convert("<script>a</script>", Format::Html, None).unwrap_err();
    assert_eq!((&*empty.code, empty.hint.is_some()), ("invalid_params", true));
    assert_eq!(convert(" \n", Format::Auto, None).unwrap_err().message, "`text` is empty");
}
