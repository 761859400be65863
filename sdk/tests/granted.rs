//! Configuration, and lookups of other facades.

use loggia_sdk::{
    host::{Request, Schema},
    prelude::*,
    testing::Host,
};

#[test]
fn configuration_is_typed_and_missing_keys_are_named() {
    let host = Host::new().config("limit", 7).config("region", "eu");
    host.run(|| {
        assert_eq!(host::config::<u32>("limit"), Ok(Some(7)));
        assert_eq!(host::config::<u32>("other"), Ok(None));
        assert_eq!(host::config_or("other", 3), Ok(3));
        assert_eq!(host::config_or("limit", 3), Ok(7));
        assert_eq!(host::require_config("region"), Ok("eu".to_owned()));
        let missing = host::require_config::<String>("city").unwrap_err();
        assert_eq!(
            (missing.code.as_str(), missing.message.as_str()),
            ("unavailable", "not configured: this plugin needs `city`")
        );
        assert!(missing.hint.as_deref().unwrap().contains("config = { city = … }"));
        assert_eq!(host::require_config::<u32>("region").unwrap_err().code, "internal");
    });
}

#[test]
fn another_facades_action_is_looked_up_and_checked() {
    let host = Host::new()
        .answer("issues", "list", |_| Ok(Reply::new(json!([]))))
        .schema("issues", "list", Schema::new(json!({"type": "object"})))
        .answer("issues", "purge", |_| Ok(Reply::new(json!(null))))
        .refuse("issues", "purge", Failure::denied("no"));
    host.run(|| {
        assert_eq!(host::lookup("issues", "list").unwrap().params, json!({"type": "object"}));
        assert_eq!(host::lookup("issues", "other").unwrap_err().code, "denied");
        assert_eq!(Request::new("issues", "list").check(), Ok(()));
        assert_eq!(Request::new("issues", "purge").check(), Err(Failure::denied("no")));
        assert_eq!(Request::new("issues", "purge").call().unwrap_err().message, "no");
        assert_eq!(Request::new("issues", "other").check().unwrap_err().code, "denied");
    });
    assert_eq!(host.requests().len(), 1, "what is checked is not called");
}
