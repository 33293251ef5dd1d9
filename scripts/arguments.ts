import { type ParseArgsConfig, parseArgs } from 'node:util'
import { openDatabase } from '../db/client.ts'
import { type Settings, settingsOf } from './environment.ts'
import { sentenceOf } from './failure.ts'

/** The option of every script that needs settings. */
export const ENV = { env: { type: 'string' } } as const
export const NEEDS_DATABASE = 'with --env <staging|production>, or with LIBSQL_URL (and LIBSQL_AUTH_TOKEN) set'

/** Prints what the command did, or why it didn't. */
export async function runCommand(run: () => Promise<string>): Promise<void> {
  try {
    console.log(await run())
  } catch (error) {
    console.error(sentenceOf(error))
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

/** The environment's database, or the one that the shell names, and the clock. @throws the usage, if it names none */
export function openHand(usage: string, env: string | undefined) {
  return openSettings(usage, settingsOf(env))
}

export function openSettings(usage: string, { LIBSQL_URL: url, LIBSQL_AUTH_TOKEN: token }: Settings) {
  if (!url) throw new Error(usage)
  return { db: openDatabase(url, token), now: Date.now }
}
