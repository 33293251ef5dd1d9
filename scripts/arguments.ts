import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Parses what the operator typed. @throws the usage, for --help and for anything unknown */
export function readArguments<T extends ParseArgsConfig>(usage: string, config: T) {
  try {
    return parseArgs(config)
  } catch {
    throw new Error(usage)
  }
}
