//! Mistakes in the macros' use are compile errors at the place of the mistake, with a sentence that says what to do.

#[test]
fn the_compiler_says_what_to_mend() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
