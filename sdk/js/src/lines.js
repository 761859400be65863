// Stacks that name the author's files: engines know only the lines of the bundle.

/** Where a bundle keeps its table, as text: few instances read it. */
const TABLE = Symbol.for("loggia.lines");

/** Statement that puts the table into a bundle. */
export function statement(table) {
  return `globalThis[Symbol.for(${JSON.stringify(TABLE.description)})] = ${JSON.stringify(JSON.stringify(table))};\n`;
}

/**
 * Makes the table of a bundle: `script`, `files`, and `runs` of lines that follow one another in one file. `places` has the place of each
 * line of the bundle, beginning with the first: `{ file, line }`, or `undefined` for a line of no file. A run is three numbers: its first
 * line in the bundle, its file (-1: none), its first line there.
 */
export function lineTable(script, places) {
  const files = [];
  const runs = [];
  let previous;
  places.forEach((place, index) => {
    const follows = place ? place.file === previous?.file && place.line === previous.line + 1 : index > 0 && !previous;
    previous = place;
    if (follows) return;
    if (place && !files.includes(place.file)) files.push(place.file);
    runs.push(index + 1, place ? files.indexOf(place.file) : -1, place?.line ?? 0);
  });
  return { script, files, runs };
}

/** The stack of an error; in a component with the places in the author's files. */
export function stackOf(error, table = globalThis[TABLE]) {
  const stack = error.stack.trimEnd();
  return table ? sourced(stack, JSON.parse(table)) : stack;
}

/** A text of an engine, with the places in the author's files. */
export function sourced(text, table) {
  // QuickJS: `at f (/app.js:5:9)`. SpiderMonkey: `f@some/folder/app.js:5:9`. Columns are the bundle's, too.
  return text.replace(/(?:[^\s()@]*\/)?([^\s()@/:]+):(\d+)(?::\d+)?/g, (whole, script, line) => {
    return (script === table.script && placeOf(Number(line), table)) || whole;
  });
}

function placeOf(line, { files, runs }) {
  let at = runs.length - 3;
  while (at >= 0 && runs[at] > line) at -= 3;
  return at >= 0 && runs[at + 1] >= 0 ? `${files[runs[at + 1]]}:${runs[at + 2] + line - runs[at]}` : undefined;
}
