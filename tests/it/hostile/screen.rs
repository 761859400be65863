//! Text on its way to a terminal, a log or a person: without control characters, without forged lines.
