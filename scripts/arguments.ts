import { type ParseArgsConfig, parseArgs } from 'node:util'

/** What the operator typed. @throws the usage, for --help and everything else that we don't know */
export function readArguments<T extends ParseArgsConfig>(usage: string, config: T) {
  try {
    return parseArgs(config)
  } catch {
    throw new Error(usage)
  }
}
