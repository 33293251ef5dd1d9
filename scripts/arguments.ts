import { type ParseArgsConfig, parseArgs } from 'node:util'
import { DrizzleQueryError } from 'drizzle-orm'
import { openDatabase } from '../db/client.ts'
import { words } from './doctor/check.ts'

/** Prints what the command did, or why it didn't. */
export async function runCommand(run: () => Promise<string>): Promise<void> {
  try {
    console.log(await run())
  } catch (error) {
    console.error(failureOf(error))
    process.exitCode = 1
  }
}

/** Parses what the operator typed. @throws the usage, for --help and for anything unknown */
export function readArguments<T extends ParseArgsConfig>(usage: string, config: T) {
  try {
    return parseArgs(config)
  } catch {
    throw new Error(usage)
  }
}

/** The database that the operator's shell names, and the clock. @throws the usage, if it names none */
export function openHand(usage: string) {
  const { LIBSQL_URL: url, LIBSQL_AUTH_TOKEN: token } = process.env
  if (!url) throw new Error(usage)
  return { db: openDatabase(url, token), now: Date.now }
}

/** A failed query hides its reason in its cause. */
function failureOf(error: unknown): string {
  if (error instanceof DrizzleQueryError)
    return `The database doesn't answer, or refused (${words(error)}). Check LIBSQL_URL and LIBSQL_AUTH_TOKEN.`
  return error instanceof Error ? error.message : String(error)
}
