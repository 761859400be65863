//! Table of all limits, in the order of the reference page.

use std::time::Duration;

use super::{
    ceilings::{HANDLES_CEILING, TABLES_CEILING},
    limit_key::limit_table,
};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;

limit_table! {
    artifact: u64 {
        key: ARTIFACT = "limits.artifact",
        unit: Size, range: 1..=128 * MIB, default: 32 * MIB,
        means: "size of the plugin's file",
        stops: "a file that fills the host's memory",
    }

    // An 18 MB Python guest takes 36 s.
    compile_cpu: Duration {
        key: COMPILE_CPU = "limits.compile-cpu",
        unit: Time, range: SECOND..=10 * MINUTE, default: 2 * MINUTE,
        means: "CPU time for compiling the plugin, once per version; wall-clock time is limited to half as much again",
        stops: "a plugin that takes forever to compile",
    }

    compile_memory: u64 {
        key: COMPILE_MEMORY = "limits.compile-memory",
        unit: Size, range: 128 * MIB..=16 * 1024 * MIB, default: 512 * MIB,
        means: "address space of the compiler process",
        stops: "a plugin that exhausts memory while it is compiled",
    }

    // Of `describe` and all `schema` calls of one load together.
    describe_cpu: Duration {
        key: DESCRIBE_CPU = "limits.describe-cpu",
        unit: Time, range: 1..=10 * SECOND, default: 250,
        means: "CPU time of `describe` when the plugin is loaded",
        stops: "a plugin that never finishes loading",
    }

    describe_wall: Duration {
        key: DESCRIBE_WALL = "limits.describe-wall",
        unit: Time, range: 1..=MINUTE, default: 5 * SECOND,
        means: "wall-clock time of `describe`",
        stops: "the same by sleeping",
    }

    // A limit per memory would be ineffective, since a component may have several.
    memory: usize {
        key: MEMORY = "limits.memory",
        unit: Size, range: 1..=1024 * MIB, default: 64 * MIB,
        means: "total of all linear memories of a call",
        stops: "a plugin that exhausts the machine's memory, in one memory or several",
    }

    tables: usize {
        key: TABLES = "limits.tables",
        unit: Count, range: 1..=TABLES_CEILING as u64, default: 100_000,
        means: "total elements of all tables of a call",
        stops: "the same in tables, which are not part of the memory",
    }

    // The machine may allow fewer: see `Engine::handles`.
    handles: usize {
        key: HANDLES = "limits.handles",
        unit: Count, range: 16..=HANDLES_CEILING as u64, default: 512,
        means: "host resources that a call may hold at once: files, requests, streams; less if the machine has less",
        stops: "a call that opens resources and never closes them",
    }

    // Writes to files are split into far smaller chunks.
    host_data: usize {
        key: HOST_DATA = "limits.host-data",
        unit: Size, range: 64 * KIB..=64 * MIB, default: 4 * MIB,
        means: "data that a call may pass to the host at once; never less than `result`",
        stops: "a call that makes the host copy all of its data",
    }

    random: u64 {
        key: RANDOM = "limits.random",
        unit: Size, range: 1..=MIB, default: 64 * KIB,
        means: "random bytes that a call may request at once",
        stops: "a call that makes the host compute for it",
    }

    cpu: Duration {
        key: CPU = "limits.cpu",
        unit: Time, range: 1..=MINUTE, default: 2 * SECOND,
        means: "CPU time of a call, including the host's work for it",
        stops: "endless loops, and patterns or inputs that are expensive to process",
    }

    wall: Duration {
        key: WALL = "limits.wall",
        unit: Time, range: 1..=10 * MINUTE, default: 30 * SECOND,
        means: "wall-clock time of a call; stopped while a question to the user is open",
        stops: "a call that sleeps, or waits forever for something",
    }

    long_cpu: Duration {
        key: LONG_CPU = "limits.long-cpu",
        unit: Time, range: 1..=30 * MINUTE, default: MINUTE,
        means: "`cpu` of long-running actions",
        stops: "the same for long-running actions",
    }

    long_wall: Duration {
        key: LONG_WALL = "limits.long-wall",
        unit: Time, range: 1..=24 * 60 * MINUTE, default: 30 * MINUTE,
        means: "`wall` of long-running actions",
        stops: "abandoned runs that never end",
    }

    arguments: usize {
        key: ARGUMENTS = "limits.arguments",
        unit: Size, range: 1..=4 * MIB, default: MIB,
        means: "names and values of a call's arguments; over HTTP the whole message is limited by the server's \
                `http.body`",
        stops: "arguments whose validation delays other calls",
    }

    result: usize {
        key: RESULT = "limits.result",
        unit: Size, range: 1..=8 * MIB, default: MIB,
        means: "data and content of a call's result",
        stops: "a result that fills the model's context or the host's memory",
    }

    // An overhead for each line counts too.
    logs: usize {
        key: LOGS = "limits.logs",
        unit: Size, range: 1..=4 * MIB, default: 64 * KIB,
        means: "log output of a call, including stdout and stderr; the rest is dropped and counted",
        stops: "logs that are unreadable or fill the disk",
    }

    log_rate: u32 {
        key: LOG_RATE = "limits.log-rate",
        unit: Count, range: 1..=10_000, default: 200,
        means: "log lines per second over all calls; further lines are dropped and counted",
        stops: "many calls that each log little, but together hide other logs",
    }

    written: u64 {
        key: WRITTEN = "limits.written",
        unit: Size, range: 1..=1024 * MIB, default: 16 * MIB,
        means: "bytes that a call may write to files",
        stops: "a call that fills the disk",
    }

    descriptors: usize {
        key: DESCRIPTORS = "limits.descriptors",
        unit: Count, range: 1..=512, default: 64,
        means: "files and directories that a call may have open at once",
        stops: "a call that uses up the host's file descriptors",
    }

    http_requests: usize {
        key: HTTP_REQUESTS = "limits.http-requests",
        unit: Count, range: 1..=1000, default: 32,
        means: "HTTP requests of a call",
        stops: "a call that floods another server from your machine",
    }

    http_at_once: usize {
        key: HTTP_AT_ONCE = "limits.http-at-once",
        unit: Count, range: 1..=32, default: 6,
        means: "concurrent HTTP requests of a call",
        stops: "the same flood in one moment, and connections that use up the host's",
    }

    http_request: usize {
        key: HTTP_REQUEST = "limits.http-request",
        unit: Size, range: 1..=64 * MIB, default: MIB,
        means: "size of a request body",
        stops: "large amounts of data leaving in one request",
    }

    http_response: usize {
        key: HTTP_RESPONSE = "limits.http-response",
        unit: Size, range: 1..=64 * MIB, default: 4 * MIB,
        means: "size of a response body",
        stops: "a server that responds endlessly",
    }

    http_time: Duration {
        key: HTTP_TIME = "limits.http-time",
        unit: Time, range: 1..=10 * MINUTE, default: 15 * SECOND,
        means: "time from the start of a request to the end of its response",
        stops: "a server that responds one byte at a time",
    }

    http_redirects: usize {
        key: HTTP_REDIRECTS = "limits.http-redirects",
        unit: Count, range: 0..=5, default: 0,
        means: "redirects that the host follows, each checked like a request; with 0 the plugin receives the redirect \
                response",
        stops: "redirect loops",
    }

    concurrency: usize {
        key: CONCURRENCY = "limits.concurrency",
        unit: Count, range: 1..=40, default: 8,
        means: "concurrent calls; further calls wait in the queue",
        stops: "a plugin that takes the machine from all others",
    }

    queue: usize {
        key: QUEUE = "limits.queue",
        unit: Count, range: 0..=1024, default: 128,
        means: "waiting calls; further calls are refused at once",
        stops: "callers that create work faster than it is done",
    }

    queue_time: Duration {
        key: QUEUE_TIME = "limits.queue-time",
        unit: Time, range: 1..=10 * MINUTE, default: 30 * SECOND,
        means: "time that a call may wait before it is refused",
        stops: "callers that wait for a permit that never comes",
    }

    questions: usize {
        key: QUESTIONS = "limits.questions",
        unit: Count, range: 1..=256, default: 8,
        means: "questions to the user per call, including nested calls",
        stops: "a plugin that asks until the user agrees",
    }

    answer: usize {
        key: ANSWER = "limits.answer",
        unit: Count, range: 0..=1_000_000, default: 0,
        means: "tokens of a result that clients are sent; the rest is kept, and read by `describe`. 0: what is known to suit \
                the client (`loggia clients`)",
        stops: "results that fill a model's context",
    }

    breaker_faults: u32 {
        key: BREAKER_FAULTS = "limits.breaker-faults",
        unit: Count, range: 1..=1_000_000, default: 5,
        means: "faults (traps, exceeded limits) within `breaker-within` that open the circuit breaker",
        stops: "a plugin that fails repeatedly and takes time from others",
    }

    breaker_within: Duration {
        key: BREAKER_WITHIN = "limits.breaker-within",
        unit: Time, range: 1..=60 * MINUTE, default: MINUTE,
        means: "time window in which faults are counted",
        stops: "the same",
    }

    breaker_rest: Duration {
        key: BREAKER_REST = "limits.breaker-rest",
        unit: Time, range: 1..=60 * MINUTE, default: 30 * SECOND,
        means: "time that the circuit breaker stays open: calls are refused, then one is tried",
        stops: "the same",
    }
}
