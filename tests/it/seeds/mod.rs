mod chaining;
mod composite;
mod envelopes;
mod lessons;
mod results;
mod runs;
mod savings;
mod stage;
