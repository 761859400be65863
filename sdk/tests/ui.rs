//! Misuse of the macros is a compile error at its location, with a sentence that explains the remedy.

#[test]
fn the_compiler_explains_mistakes() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
