//! Paths of the limits in a policy, which messages of enforcement name.

macro_rules! limit_names {
    ($($constant:ident = $name:literal;)*) => {$(
        #[doc = concat!("`", $name, "`")]
        pub const $constant: &str = $name;
    )*

        /// Paths of all limits.
        pub const ALL: &[&str] = &[$($constant),*];
    };
}

limit_names! {
    ARTIFACT = "limits.artifact";
    COMPILE_CPU = "limits.compile-cpu";
    COMPILE_MEMORY = "limits.compile-memory";
    DESCRIBE_CPU = "limits.describe-cpu";
    DESCRIBE_WALL = "limits.describe-wall";
    MEMORY = "limits.memory";
    TABLES = "limits.tables";
    HANDLES = "limits.handles";
    HOST_DATA = "limits.host-data";
    RANDOM = "limits.random";
    CPU = "limits.cpu";
    WALL = "limits.wall";
    LONG_CPU = "limits.long-cpu";
    LONG_WALL = "limits.long-wall";
    ARGUMENTS = "limits.arguments";
    RESULT = "limits.result";
    LOGS = "limits.logs";
    LOG_RATE = "limits.log-rate";
    WRITTEN = "limits.written";
    DESCRIPTORS = "limits.descriptors";
    HTTP_REQUESTS = "limits.http-requests";
    HTTP_AT_ONCE = "limits.http-at-once";
    HTTP_REQUEST = "limits.http-request";
    HTTP_RESPONSE = "limits.http-response";
    HTTP_TIME = "limits.http-time";
    HTTP_REDIRECTS = "limits.http-redirects";
    CONCURRENCY = "limits.concurrency";
    QUEUE = "limits.queue";
    QUEUE_TIME = "limits.queue-time";
    QUESTIONS = "limits.questions";
    ANSWER = "limits.answer";
    BREAKER_FAULTS = "limits.breaker-faults";
    BREAKER_WITHIN = "limits.breaker-within";
    BREAKER_REST = "limits.breaker-rest";
}
