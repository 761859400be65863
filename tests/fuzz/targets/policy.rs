//! Any policy file is within the limits or refused, and no message contains a variable's value.
#![no_main]

use std::path::{Path, PathBuf};

use libfuzzer_sys::fuzz_target;
use loggia_fuzz::told;
use loggia_policy::{Policy, PolicySetting, limits::LIMITS};

/// Value of variables, which no policy contains.
const SECRET: &str = "hunter2-hunter2";

fuzz_target!(|text: &str| {
    let read = parse(text);
    assert_eq!(format!("{read:?}"), format!("{:?}", parse(text)), "the same text");
    match read {
        Ok(policy) => {
            for limit in LIMITS {
                let set = limit.of(&policy.limits);
                assert!((limit.least..=limit.most).contains(&set), "{} is {set}", limit.path);
            }
            assert!(policy.grants.store.is_none_or(|granted| granted.quota <= 1 << 30));
            for dir in &policy.grants.dirs {
                let is_at = dir.at.starts_with('/') || dir.roots && dir.at.is_empty();
                assert!(dir.path.is_absolute() && is_at && !dir.at.contains("/../"), "{dir:?}");
            }
            // A secret's destination must be one of the granted ones.
            let http = &policy.grants.http;
            for secret in &http.secrets {
                assert!(!http.rules.is_empty() && !secret.host.contains('*'), "{}", secret.host);
            }
        }
        Err(said) => {
            assert!(said.starts_with("line "), "{said}");
            assert!(!said.contains("hunter2") || text.contains("hunter2"), "{said}");
            told::line("what is wrong", &said, 8 << 10);
        }
    }
});

fn parse(text: &str) -> Result<Policy, String> {
    let variable = |name: &str| match name {
        "SECRET" | "TOKEN" => Some(SECRET.to_owned()),
        "URL" => Some(format!("https://{SECRET}.example.com")),
        "HOST" => Some("api.example.com".to_owned()),
        "LINES" => Some(format!("{SECRET}\n[grants]\nelicit = true")),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    let home = Some(PathBuf::from("/home/ada"));
    let setting = PolicySetting { folder: Path::new("/plugins"), home, variable: &variable };
    Policy::parse(text, &setting).map_err(|error| error.to_string())
}
