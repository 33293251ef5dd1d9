import { registerHooks } from 'node:module'

/** Its `is`, with the same answers: they depend on nothing but the value's prototype. */
const REMEMBERED = `
const answers = new WeakMap();
function is(value, type) {
  if (!value || typeof value !== "object") return false;
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null) return look(value, type);
  let known = answers.get(prototype);
  if (known === undefined) answers.set(prototype, known = new Map());
  let answer = known.get(type);
  if (answer === undefined) known.set(type, answer = look(value, type));
  return answer;
}
`

/** Joins the most common pieces of a query itself, and leaves the others to drizzle. */
const JOINED = `
const kinds = new Map([[Array, "list"]]);
const kindOf = (chunk) => {
  const { constructor } = chunk;
  let kind = kinds.get(constructor);
  if (kind === undefined) {
    const types = [[StringChunk, "text"], [Name, "name"], [SQL, "sql"], [Table, "table"], [Column, "column"], [Param, "param"]];
    kinds.set(constructor, kind = types.find(([type]) => is(chunk, type))?.[1] ?? "other");
  }
  return kind;
};
const columns = new WeakMap();
const nameOf = (column, { escapeName }) => {
  let name = columns.get(column);
  if (name === undefined) {
    const { table } = column;
    const isPlain = !column.keyAsName && !table[IsAlias] && table[Table.Symbol.Schema] === void 0;
    name = isPlain ? escapeName(table[Table.Symbol.Name]) + "." + escapeName(column.name) : null;
    columns.set(column, name);
  }
  return name;
};
const drizzleBuild = SQL.prototype.buildQueryFromSourceParams;
function add(into, value, config) {
  into.sql += config.escapeParam(config.paramStartIndex.value++, value);
  into.params.push(value);
  into.typings.push("none");
}
function join(query, chunks, config, into) {
  for (const chunk of chunks) {
    if (chunk === void 0) continue;
    if (typeof chunk !== "object" || chunk === null) {
      if (typeof chunk === "string" || typeof chunk === "number") add(into, chunk, config);
      else leave(query, chunk, config, into);
      continue;
    }
    const kind = kindOf(chunk);
    if (kind === "text") into.sql += chunk.value.length === 1 ? chunk.value[0] : chunk.value.join("");
    else if (kind === "sql" && !chunk.shouldInlineParams) join(chunk, chunk.queryChunks, config, into);
    else if (kind === "name") into.sql += config.escapeName(chunk.value);
    else if (kind === "column" && nameOf(chunk, config) !== null) into.sql += nameOf(chunk, config);
    else if (kind === "table" && !chunk[IsAlias] && chunk[Table.Symbol.Schema] === void 0)
      into.sql += config.escapeName(chunk[Table.Symbol.Name]);
    else if (kind === "param" && (typeof chunk.value !== "object" || chunk.value === null)) {
      const value = chunk.value === null ? null : chunk.encoder.mapToDriverValue(chunk.value);
      if (is(value, SQL)) leave(query, value, config, into);
      else add(into, value, config);
    } else if (kind === "list") {
      into.sql += "(";
      for (let i = 0; i < chunk.length; i++) {
        if (i > 0) into.sql += ", ";
        join(query, [chunk[i]], config, into);
      }
      into.sql += ")";
    } else leave(query, chunk, config, into);
  }
  return into;
}
function leave(query, chunk, config, into) {
  const part = drizzleBuild.call(query, [chunk], config);
  into.sql += part.sql;
  into.params.push(...part.params);
  if (part.typings) into.typings.push(...part.typings);
}
SQL.prototype.buildQueryFromSourceParams = function (chunks, config) {
  if (config.inlineParams || config.prepareTyping || config.invokeSource || this.shouldInlineParams)
    return drizzleBuild.call(this, chunks, config);
  const counting = config.paramStartIndex ? config : { ...config, paramStartIndex: { value: 0 } };
  const query = join(this, chunks, counting, { sql: "", params: [], typings: [] });
  if (query.typings.length === 0) delete query.typings;
  return query;
};
`

/** The list of columns that a query selects, the same array for the same columns under the same names. */
const LISTED = `
const ids = new WeakMap();
let lastId = 0;
const lists = new Map();
/** A word for what is selected. Null unless these are columns of tables without an alias. */
function wordOf(field) {
  const known = ids.get(field);
  if (known !== undefined) return known;
  let word = null;
  if (is(field, Column)) word = field.table[Table.Symbol.IsAlias] ? null : String(lastId += 1);
  else if (is(field, Table)) word = wordOf(field[Table.Symbol.Columns]);
  else if (Object.getPrototypeOf(field) === Object.prototype) {
    word = "";
    for (const name in field) {
      const part = wordOf(field[name]);
      if (part === null) return null;
      word += name + ":" + part + ",";
    }
    const [first] = Object.values(field);
    if (first === undefined || first.table?.[Table.Symbol.Columns] !== field) return "{" + word + "}";
    word = "table " + (lastId += 1);
  }
  ids.set(field, word);
  return word;
}
function orderSelectedFields(fields, pathPrefix) {
  if (pathPrefix !== undefined) return listFields(fields, pathPrefix);
  const word = wordOf(fields);
  if (word === null) return listFields(fields, pathPrefix);
  let list = lists.get(word);
  if (list === undefined) lists.set(word, list = listFields(fields, pathPrefix));
  return list;
}
`

/** What a query says about columns is text, and the same list is the same text. Lists are checked once. */
const SELECTED = `
const selections = [new WeakMap(), new WeakMap()];
const drizzleSelection = SQLiteDialect.prototype.buildSelection;
SQLiteDialect.prototype.buildSelection = function (fields, { isSingleTable = false } = {}) {
  const known = selections[isSingleTable ? 1 : 0];
  const selection = known.get(fields);
  if (selection !== undefined) return selection;
  const chunks = [];
  let text = "";
  for (const one of fields) {
    if (one !== fields[0]) text += ", ";
    const { field } = one;
    if (is(field, Column) && field.columnType !== "SQLiteNumericBigInt") {
      if (!isSingleTable) text += this.escapeName(field.table[Table.Symbol.Name]) + ".";
      text += this.escapeName(this.casing.getColumnCasing(field));
    } else {
      chunks.push(sql.raw(text), drizzleSelection.call(this, [one], { isSingleTable }));
      text = "";
    }
  }
  const built = sql.join([...chunks, sql.raw(text)]);
  if (chunks.length === 0) known.set(fields, built);
  return built;
};
const right = new WeakMap();
function wasRight(fields, table, joins) {
  if (!is(table, Table)) return false;
  const tables = [getTableName(table), ...(joins ?? []).map(({ alias }) => alias)].join();
  let known = right.get(fields);
  if (known === undefined) right.set(fields, known = new Set());
  if (known.has(tables)) return true;
  known.add(tables);
  return false;
}
`

type Patch = (source: string) => string

/** Fails once a new version of drizzle reads differently. */
function replaced(source: string, from: string, to: string): string {
  if (!source.includes(from)) throw new Error(`drizzle has changed: it doesn't say ${from}`)
  return source.replace(from, to)
}

const PATCHES: Record<string, Patch> = {
  '/drizzle-orm/entity.js': (source) => replaced(source, 'function is(', 'function look(') + REMEMBERED,
  '/drizzle-orm/sql/sql.js': (source) =>
    replaced(
      source,
      'if (is(chunk, Table)) {',
      'if (chunk && typeof chunk === "object" && kindOf(chunk) === "table") {',
    ) + JOINED,
  '/drizzle-orm/utils.js': (source) =>
    replaced(source, 'function orderSelectedFields(', 'function listFields(') + LISTED,
  '/drizzle-orm/sqlite-core/dialect.js': (source) =>
    replaced(
      source,
      'for (const f of fieldsList) {',
      'if (!wasRight(fieldsList, table, joins)) for (const f of fieldsList) {',
    ) + SELECTED,
}

/**
 * drizzle asks `is` about every piece of every query, and it walks up the classes each time: a tenth of a world's time.
 * Copying every piece of a query takes another, and naming every column of its tables a third. Must come before the
 * first import of drizzle.
 */
// Vitest runs this again before each file of a worker, and a second patch of the same text breaks it.
const worker = globalThis as { isDrizzleFaster?: true }
if (!worker.isDrizzleFaster)
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context)
      const [, patch] = Object.entries(PATCHES).find(([file]) => url.endsWith(file)) ?? []
      return patch ? { ...loaded, source: patch(String(loaded.source)) } : loaded
    },
  })
worker.isDrizzleFaster = true
