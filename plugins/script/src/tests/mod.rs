//! The facade, natively.

use loggia_sdk::{prelude::*, testing::Host};

use super::*;

#[test]
fn probe() {
    for code in [
        "let a = 1;\nreturn m.list()",
        "let a = 1;\nconst f = () => {\n let q=1;\n m.lst() };\n f()",
        "await 1;\nlet b = null;\nreturn b.x",
        "await 1;\nlet b = null;\nconst q=()=>{\nreturn b.x};\n[1].map(q)",
        "await 1;\nJSON.parse('{')",
        "const f = async () => { await 1;\n null.x };\nawait f()",
        "const f = 1;\nf()",
        "await 1;\nfor (const x of 5) {}",
    ] {
        println!(
            "{:?}",
            Host::new().peer(host::Peer::new("m", "M", "").action("list", "L", Effect::Read)).call(
                &Script,
                "run",
                json!({"code": code})
            )
        );
    }
}
