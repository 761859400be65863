mod block;
mod convert;
mod cut;
mod html;
mod markdown;

#[cfg(test)]
mod tests;
