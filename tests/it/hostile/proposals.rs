//! Proposals of WebAssembly that no supported guest needs: a component that uses one is refused before it runs.
