//! Masks secrets and personal data in results.
//!
//! Texts are scanned by hand, and not by regular expressions: each look runs in a new instance, which would compile them again.
//!
//! | file | concept |
//! |---|---|
//! | `kind.rs` | what is masked |
//! | `mask.rs` | replaces what was found in a text |
//! | `scan.rs` | characters, and runs of them |
//! | `keys.rs`, `tokens.rs`, `private_keys.rs`, `urls.rs` | secrets |
//! | `emails.rs`, `phones.rs`, `ibans.rs`, `cards.rs` | personal data |

mod cards;
mod emails;
mod ibans;
mod keys;
mod kind;
mod mask;
mod phones;
mod private_keys;
mod scan;
mod tokens;
mod urls;

use loggia_sdk::{
    Result,
    guard::{Guard, GuardedCall, Outcome, Verdict},
    host,
};

use self::kind::DataKind;

struct MaskSecrets;

impl Guard for MaskSecrets {
    fn after(&self, _: &GuardedCall, mut outcome: Outcome) -> Result<Verdict<Outcome>> {
        let kept: Vec<DataKind> = host::config_or("keep", Vec::new()).map_err(|failure| {
            failure.hint("The operator sets `config.keep` of the guard in loggia.toml.")
        })?;
        match outcome.replace_texts(|text| mask::mask(text, &kept)) {
            0 => Ok(Verdict::Allow),
            _ => Ok(Verdict::Replace(outcome)),
        }
    }
}

loggia_sdk::export_guard!(MaskSecrets);

#[cfg(test)]
mod tests {
    use loggia_sdk::{json, testing::Host};

    use super::*;

    fn after(keep: loggia_sdk::Value, data: loggia_sdk::Value) -> Result<Verdict<Outcome>> {
        let host = Host::new().config("keep", keep);
        host.run(|| MaskSecrets.after(&GuardedCall::new("mail", "list"), Outcome::reply(data)))
    }

    #[test]
    fn every_text_of_a_result_is_masked() {
        let data = json!({"ada@example.com": [{"text": "call +49 30 1234567"}, 1, null]});
        let masked = json!({"[masked e-mail]": [{"text": "call [masked phone]"}, 1, null]});
        assert_eq!(after(json!([]), data), Ok(Verdict::Replace(Outcome::reply(masked))));
        assert_eq!(after(json!([]), json!({"text": "nothing"})), Ok(Verdict::Allow));
    }

    #[test]
    fn kinds_can_be_kept_and_unknown_ones_refuse() {
        let data = json!("ada@example.com, +49 30 1234567");
        let masked = Outcome::reply(json!("ada@example.com, [masked phone]"));
        assert_eq!(after(json!(["email"]), data.clone()), Ok(Verdict::Replace(masked)));
        assert_eq!(after(json!(["email", "phone"]), data.clone()), Ok(Verdict::Allow));
        let failure = after(json!(["e-mail"]), data).unwrap_err();
        assert!(failure.message.contains("unknown variant `e-mail`"), "{failure}");
    }
}
