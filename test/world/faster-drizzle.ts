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
const plain = new Map([[StringChunk, "text"], [SQL, "sql"]]);
const drizzleBuild = SQL.prototype.buildQueryFromSourceParams;
function join(query, chunks, config, into) {
  for (const chunk of chunks) {
    const kind = typeof chunk === "object" && chunk !== null ? plain.get(chunk.constructor) : typeof chunk;
    if (kind === "text") into.sql += chunk.value.length === 1 ? chunk.value[0] : chunk.value.join("");
    else if (kind === "sql" && !chunk.shouldInlineParams) join(chunk, chunk.queryChunks, config, into);
    else if (kind === "string" || kind === "number") {
      into.sql += config.escapeParam(config.paramStartIndex.value++, chunk);
      into.params.push(chunk);
      into.typings.push("none");
    } else {
      const part = drizzleBuild.call(query, [chunk], config);
      into.sql += part.sql;
      into.params.push(...part.params);
      if (part.typings) into.typings.push(...part.typings);
    }
  }
  return into;
}
SQL.prototype.buildQueryFromSourceParams = function (chunks, config) {
  if (config.inlineParams || this.shouldInlineParams) return drizzleBuild.call(this, chunks, config);
  const counting = config.paramStartIndex ? config : { ...config, paramStartIndex: { value: 0 } };
  const query = join(this, chunks, counting, { sql: "", params: [], typings: [] });
  if (query.typings.length === 0) delete query.typings;
  return query;
};
`

/**
 * drizzle asks `is` about every piece of every query, and it walks up the classes each time: a tenth of a world's time.
 * Copying every piece of a query takes another. Must come before the first import of drizzle.
 */
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (url.endsWith('/drizzle-orm/sql/sql.js')) return { ...loaded, source: String(loaded.source) + JOINED }
    if (!url.endsWith('/drizzle-orm/entity.js')) return loaded
    const source = String(loaded.source).replace('function is(', 'function look(')
    return { ...loaded, source: source + REMEMBERED }
  },
})
