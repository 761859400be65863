// Parameters and results as JSON Schema, in the form and the order of keys of the Rust SDK: one surface, whatever the language.

const LENGTHS = { string: ["minLength", "maxLength"], array: ["minItems", "maxItems"], object: ["minProperties", "maxProperties"] };
// The order of keys below a list or a map.
const FIRST = ["title", "description", "type", "format", "properties"];
const DATA = ["default", "examples", "enum", "const"];
const IDENTIFYING = ["id", "name", "title"];
const LEVELS = { minimal: 0, standard: 1, full: 2 };

/** One value's schema. Immutable: each method returns another. */
export class SchemaNode {
  constructor(kind, facts = {}) {
    this.kind = kind;
    Object.assign(this, facts);
  }

  with(facts) {
    return new SchemaNode(this.kind, { ...this, ...facts });
  }

  /** Describes the value here. */
  doc(text) {
    return this.with({ text: paragraph(text) });
  }

  /** May be left out; in a result, `null`. */
  optional() {
    return this.with({ isOptional: true });
  }

  /** The value of what is left out. */
  default(value) {
    return this.with({ fallback: value });
  }

  /** The least detail level that shows a field of a result: `minimal` or `full`. */
  shown(level) {
    if (level !== "minimal" && level !== "full") throw wrong(`there is no level \`${level}\` to mark; fields without are shown from \`standard\` on`);
    return this.with({ mark: level });
  }
}

/** `pattern`, `format`, `min` and `max` (characters), `hint`, `secret`, `example`. */
export const text = (bounds = {}) => {
  checkPattern(bounds.pattern);
  return new SchemaNode("text", { bounds });
};
/** `min`, `max`, `hint`, `example`. */
export const integer = (bounds = {}) => new SchemaNode("integer", { bounds });
/** `min`, `max`, `hint`, `example`. */
export const number = (bounds = {}) => new SchemaNode("number", { bounds });
export const boolean = () => new SchemaNode("boolean");
/** Anything. */
export const any = () => new SchemaNode("any");
/** One of some texts; as an object, each with its description, which may be empty. `about` describes the type. */
export const choice = (values, about) =>
  Array.isArray(values)
    ? new SchemaNode("choice", { values, about })
    : new SchemaNode("choice", { values: Object.keys(values), docs: values, about });
/** `min` and `max` items. */
export const list = (item, bounds = {}) => new SchemaNode("list", { item: node(item), bounds });
/** An object with any keys. `min` and `max` entries. */
export const map = (item = any(), bounds = {}) => new SchemaNode("map", { item: node(item), bounds });
/** An object with these fields. `about` describes the type. */
export const object = (fields, about) =>
  new SchemaNode("object", { fields: Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, node(one)])), about });

/** Our builders, plain JSON Schema, or what makes JSON Schema of itself, as zod 4 does. */
export function node(given) {
  if (given instanceof SchemaNode) return given;
  if (given && typeof given.toJSONSchema === "function") {
    const made = (io) => {
      // What a transformation makes has no schema: anything.
      const { $schema, ...schema } = given.toJSONSchema({ io, target: "draft-2020-12", unrepresentable: "any" });
      return schema;
    };
    const input = made("input");
    const parse = typeof given.parse === "function" ? (value) => given.parse(value) : undefined;
    const isOptional = typeof given.isOptional === "function" && given.isOptional();
    return new SchemaNode("raw", { schema: input, output: made("output"), parse, ...(isOptional ? { isOptional } : {}) });
  }
  if (given && typeof given === "object" && !Array.isArray(given)) return new SchemaNode("raw", { schema: given, output: given });
  throw wrong(`${JSON.stringify(given)} is no schema: use text(), integer(), …, plain JSON Schema, or zod`);
}

/** Text of the parameters' schema. */
export function paramsOf(fields, about) {
  const properties = {};
  const required = [];
  for (const [name, one] of Object.entries(fields)) {
    properties[name] = property(one);
    if (isRequired(one)) required.push(name);
  }
  return {
    type: "object",
    ...(about ? { description: about } : {}),
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/** A parameter that must be given. */
export function isRequired(one) {
  return !one.isOptional && one.fallback === undefined && !(one.kind === "raw" && "default" in one.schema) && one.kind !== "any";
}

/** The schema of a result; `undefined` if it may be anything. */
export function dataOf(one) {
  const schema = schemaOf(one, false);
  return Object.keys(schema).length > 0 ? schema : undefined;
}

/** The schema of what is given; for forms. */
export const givenOf = (one) => schemaOf(one, true);

/** Tests whether results of this schema depend on the detail level. */
export function hasLevels(schema) {
  if (Array.isArray(schema)) return schema.some(hasLevels);
  if (!schema || typeof schema !== "object") return false;
  return Object.entries(schema).some(([key, value]) =>
    key === "x-detail" || (key === "properties" ? Object.values(value).some(hasLevels) : !DATA.includes(key) && hasLevels(value)));
}

/** What of a value is published at a level: declared fields, `null` for optional ones that are missing. */
export function trim(one, value, level) {
  if (value === undefined || value === null) return null;
  if (one.kind === "list" && Array.isArray(value)) return value.map((item) => trim(one.item, item, level));
  if (one.kind === "map" && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, trim(one.item, item, level)]));
  }
  if (one.kind !== "object" || typeof value !== "object") return value;
  const shown = Object.entries(levels(one.fields)).filter(([, { least }]) => least <= LEVELS[level]);
  return Object.fromEntries(shown.map(([name]) => [name, trim(one.fields[name], value[name] ?? copy(one.fields[name].fallback), level)]));
}

/** A given value with the defaults of what is missing; zod's own parsing where there is one. */
export function fill(one, value) {
  if (value === undefined) return one.parse && !one.isOptional ? one.parse(value) : copy(one.fallback ?? one.schema?.default);
  if (one.parse) return one.parse(value);
  if (one.kind === "list" && Array.isArray(value)) return value.map((item) => fill(one.item, item));
  if (one.kind !== "object" || value === null || typeof value !== "object") return value;
  const filled = { ...value };
  for (const [name, field] of Object.entries(one.fields)) {
    const inner = fill(field, value[name]);
    if (inner !== undefined) filled[name] = inner;
  }
  return filled;
}

const copy = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

export const wrong = (sentence) => new TypeError(`loggia: ${sentence}`);

/** Lines of one paragraph, joined; lists and tables keep their line breaks. */
export function paragraph(given) {
  const paragraphs = String(given).split(/\n[ \t]*\n/).map((block) =>
    block.split("\n").map((line) => line.trim()).filter(Boolean)
      .reduce((open, line) => open + (open && (/^[-*|#>]/.test(line) ? "\n" : " ")) + line, ""));
  return paragraphs.filter(Boolean).join("\n\n");
}

function property(one) {
  const schema = schemaOf(one.with({ isOptional: false, fallback: undefined, text: undefined, bounds: undefined }), true);
  if (one.text) schema.description = one.text;
  if (one.fallback !== undefined && one.fallback !== null) schema.default = one.fallback;
  return bound(schema, one);
}

function schemaOf(one, given) {
  let schema = base(one, given);
  if (one.isOptional) schema = nullable(schema);
  if (one.text) schema.description = one.text;
  return bound(schema, one);
}

function base(one, given) {
  switch (one.kind) {
    case "text":
      return { type: "string" };
    case "integer":
    case "number":
    case "boolean":
      return { type: one.kind };
    case "any":
      return {};
    case "raw":
      return { ...(given ? one.schema : one.output) };
    case "choice":
      return choiceOf(one);
    case "list":
      return { type: "array", items: ordered(schemaOf(one.item, given)) };
    case "map": {
      const item = ordered(schemaOf(one.item, given));
      return { type: "object", additionalProperties: Object.keys(item).length > 0 ? item : true };
    }
    default:
      return objectOf(one, given);
  }
}

/** Values; if one is described, alternatives in the order of the values, as of an enum with Rust's `#[data]`. */
function choiceOf({ values, docs, about }) {
  const alternatives = values.map((value) => ({ type: "string", const: value, ...(docs?.[value] ? { description: docs[value] } : {}) }));
  const schema = alternatives.some((one) => one.description) ? { oneOf: alternatives } : { type: "string", enum: values };
  return about ? { ...schema, description: about } : schema;
}

function objectOf({ fields, about }, given) {
  const properties = {};
  const required = [];
  const shown = levels(fields);
  for (const [name, one] of Object.entries(fields)) {
    const schema = schemaOf(one, given);
    if (one.fallback !== undefined && one.fallback !== null) schema.default = one.fallback;
    if (!given && shown[name].mark) schema["x-detail"] = shown[name].mark;
    if (given ? isRequired(one) : shown[name].least === 0) required.push(name);
    properties[name] = schema;
  }
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}), ...(about ? { description: about } : {}) };
}

/** The mark and the least level of each field, by the rules of the Rust SDK. */
function levels(fields) {
  const entries = Object.entries(fields);
  const isMarked = entries.some(([, one]) => one.mark);
  const hasMinimal = entries.some(([, one]) => one.mark === "minimal");
  const hasNaming = entries.some(([name, one]) => !one.mark && IDENTIFYING.includes(name));
  return Object.fromEntries(entries.map(([name, one]) => {
    let mark = one.mark;
    if (isMarked && !hasMinimal && !mark && (!hasNaming || IDENTIFYING.includes(name))) mark = "minimal";
    return [name, { mark, least: isMarked ? (mark ? LEVELS[mark] : 1) : 0 }];
  }));
}

function nullable(schema) {
  if (typeof schema.type === "string" && !("const" in schema)) {
    return { ...schema, type: [schema.type, "null"], ...(schema.enum ? { enum: [...schema.enum, null] } : {}) };
  }
  return Object.keys(schema).length > 0 ? { anyOf: [ordered(schema), { type: "null" }] } : schema;
}

// JSON Schema has a pattern, but no flags. `u` and `v` change nothing for the patterns that the host knows.
function checkPattern(pattern) {
  const flag = pattern instanceof RegExp && [...pattern.flags].find((one) => one !== "u" && one !== "v");
  if (!flag) return;
  const remedy = flag === "i" ? "write the classes out, such as [A-Za-z], and take the flag away" : "take it away, and write the pattern without it";
  throw wrong(`the flag \`${flag}\` of the pattern ${pattern} would be lost, as a schema has no flags: ${remedy}`);
}

/** Adds bounds and advice, in one order whatever the author's. */
function bound(schema, { kind, bounds = {} }) {
  const known = { text: ["min", "max", "pattern", "format", "hint", "secret", "example"], integer: ["min", "max", "hint", "example"], number: ["min", "max", "hint", "example"], list: ["min", "max", "hint"], map: ["min", "max", "hint"] }[kind] ?? [];
  const odd = Object.keys(bounds).find((key) => !known.includes(key));
  if (odd) throw wrong(`${kind}() has no option \`${odd}\`; there are: ${known.join(", ") || "none"}`);
  const { min, max, pattern, format, hint, secret, example } = bounds;
  if (min !== undefined && max !== undefined && min > max) throw wrong(`nothing is between min ${min} and max ${max}`);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  const [least, most] = LENGTHS[type] ?? ["minimum", "maximum"];
  if (min !== undefined) schema[least] = min;
  if (max !== undefined) schema[most] = max;
  if (pattern !== undefined) schema.pattern = pattern instanceof RegExp ? pattern.source : pattern;
  if (format !== undefined) schema.format = format;
  if (hint !== undefined) schema["x-hint"] = hint;
  if (secret) schema.writeOnly = true;
  if (example !== undefined) schema.examples = [example];
  return schema;
}

function ordered(schema) {
  if (Array.isArray(schema)) return schema.map(ordered);
  if (!schema || typeof schema !== "object") return schema;
  const keys = [...FIRST.filter((key) => key in schema), ...Object.keys(schema).filter((key) => !FIRST.includes(key))];
  const inner = (key) =>
    key === "properties"
      ? Object.fromEntries(Object.entries(schema[key]).map(([name, one]) => [name, ordered(one)]))
      : DATA.includes(key) ? schema[key] : ordered(schema[key]);
  return Object.fromEntries(keys.map((key) => [key, inner(key)]));
}
