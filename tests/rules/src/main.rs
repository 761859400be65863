//! Prints what is counted of the host's crates: cycles among modules, one-word types, names that several types share.
//! `cargo run -p loggia-rules [WORD]` lists only the lines with this word.

use std::env;

use loggia_rules::{
    graph::{SourceGraph, cycles},
    names,
};

#[expect(clippy::print_stdout, reason = "it prints a report")]
fn main() {
    let word = env::args().nth(1).unwrap_or_default();
    let print = |line: String| {
        if line.contains(&word) {
            println!("{line}");
        }
    };
    let graph = SourceGraph::of_host();
    for krate in graph.crates() {
        for room in SourceGraph::rooms(krate) {
            let edges = graph.edges(krate, &room);
            for cycle in cycles(edges.keys()) {
                print(format!("cycle {}::{}: {cycle:?}", krate.name, room.join("::")));
                for (edge, place) in &edges {
                    if cycle.contains(edge.from.as_str()) && cycle.contains(edge.to.as_str()) {
                        print(format!("    {} -> {}: {place}", edge.from, edge.to));
                    }
                }
            }
        }
    }
    let types = names::types(graph.crates());
    let one_word = types.iter().filter(|named| named.words() == 1);
    one_word.for_each(|named| print(format!("one word: {} {}", named.name, named.place)));
    for (name, types) in names::shared(&types) {
        let places: Vec<&str> = types.iter().map(|named| named.place.as_str()).collect();
        print(format!("shared: {name} {}", places.join(" ")));
    }
    let one_word = types.iter().filter(|named| named.words() == 1).count();
    print(format!("{} types, {one_word} of one word", types.len()));
}
