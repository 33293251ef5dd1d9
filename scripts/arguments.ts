import { type ParseArgsConfig, parseArgs } from 'node:util'
import { DrizzleQueryError } from 'drizzle-orm'
import { words } from './doctor/check.ts'

/** Parses what the operator typed. @throws the usage, for --help and for anything unknown */
export function readArguments<T extends ParseArgsConfig>(usage: string, config: T) {
  try {
    return parseArgs(config)
  } catch {
    throw new Error(usage)
  }
}

/** What went wrong, for the operator. A failed query hides its reason in its cause. */
export function failureOf(error: unknown): string {
  if (error instanceof DrizzleQueryError)
    return `The database doesn't answer, or refused (${words(error)}). Check LIBSQL_URL and LIBSQL_AUTH_TOKEN.`
  return error instanceof Error ? error.message : String(error)
}
