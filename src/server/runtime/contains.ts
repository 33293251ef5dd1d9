import { type SQL, sql } from 'drizzle-orm'

/**
 * Whether a text of a row contains what someone typed, in any case, as an SQL condition. Unlike LIKE, instr() takes every
 * character as itself, and any length. SQLite's lower() knows ASCII only, so we look for each way to write the rest.
 */
export function contains(text: SQL, typed: string): SQL {
  const ways = new Set([typed, typed.toLowerCase(), typed.toUpperCase(), eachWord(typed)])
  return sql`(${sql.join(
    [...ways].map((way) => sql`instr(lower(${text}), lower(${way}))`),
    sql` OR `,
  )})`
}

const eachWord = (text: string) =>
  text.toLowerCase().replace(/(?<![\p{L}\p{M}])\p{L}/gu, (letter) => letter.toUpperCase())
