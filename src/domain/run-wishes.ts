import * as v from 'valibot'
import { rule } from './form.ts'
import { DAY_MS } from './instant.ts'
import { nameFault, parametersFault, type RunParameters } from './parameters.ts'
import { characters, normalName, usableName } from './person.ts'
import { commandFault } from './run-command.ts'

/** What a start may set: the run's name, its world, when it ends, how large its machine may be, and its program's variables. */

const number = v.nullable(v.union([v.number(), v.nan()]))

/** In seconds from the request. */
const MIN_STOP_AFTER = 60
const MAX_STOP_AFTER = (30 * DAY_MS) / 1000
const MAX_RUN_NAME = 50
/** An account has no more. */
export const MOST_SECRETS = 20
/** More than any machine has. The database's client can't read back a number beyond 2^53. */
export const MAX_GPUS = 64

export function runNameRules<Form extends { name?: string | null | undefined }>() {
  return [
    rule<Form>(
      'name',
      (f) => characters(normalName(f.name ?? '')) <= MAX_RUN_NAME,
      `Name cannot exceed ${MAX_RUN_NAME} characters.`,
    ),
    rule<Form>('name', (f) => usableName(f.name ?? ''), "Name contains characters we can't display."),
  ] as const
}

type Form = {
  name: string
  stop_after: number | null
  max_gpus: number | null
  environment: string
  vehicle: string
  parameters: RunParameters
  until: string
  command: string[] | null
  secrets: string[]
}

/**
 * `stop_after` null: it runs until its user stops it. `max_gpus` null: as many as their plan includes. Without an
 * `environment` or `vehicle`: the last choice. Their plan and the catalog say which exist. `until` "exit": it ends with
 * its program, which `command` then starts.
 */
export const runWishes = v.pipe(
  v.object({
    name: v.string(),
    stop_after: number,
    max_gpus: number,
    environment: v.string(),
    vehicle: v.string(),
    // A record would silently drop names like `constructor`.
    parameters: v.custom<RunParameters>((given) => typeof given === 'object' && given !== null),
    until: v.string(),
    command: v.nullable(v.array(v.string())),
    secrets: v.array(v.string()),
  }),
  ...runNameRules<Form>(),
  rule(
    'stop_after',
    ({ stop_after: s }) => s === null || (Number.isInteger(s) && s >= MIN_STOP_AFTER && s <= MAX_STOP_AFTER),
    `A server can stop after ${MIN_STOP_AFTER} to ${MAX_STOP_AFTER} seconds (30 days).`,
  ),
  rule(
    'max_gpus',
    ({ max_gpus: n }) => n === null || (Number.isInteger(n) && n >= 1 && n <= MAX_GPUS),
    `The number of GPUs must be a whole number from 1 to ${MAX_GPUS}.`,
  ),
  rule<Form>(
    'parameters',
    (f) => parametersFault(f.parameters) === null,
    (f) => parametersFault(f.parameters) ?? '',
  ),
  rule<Form>(
    'secrets',
    (f) => secretsFault(f) === null,
    (f) => secretsFault(f) ?? '',
  ),
  rule<Form>('until', (f) => f.until === '' || f.until === 'exit', 'A server can run until "exit", or without it.'),
  rule<Form>('command', (f) => f.command === null || f.until === 'exit', 'A command needs until: "exit".'),
  rule<Form>(
    'command',
    (f) => f.command === null || commandFault(f.command) === null,
    (f) => commandFault(f.command ?? []) ?? '',
  ),
  v.transform((f) => ({
    name: normalName(f.name) || null,
    stopAfterMs: f.stop_after === null ? null : f.stop_after * 1000,
    maxGpus: f.max_gpus,
    environment: f.environment.trim() || null,
    vehicle: f.vehicle.trim().toLowerCase() || null,
    parameters: f.parameters,
    untilExit: f.until === 'exit',
    command: f.command,
    secrets: [...new Set(f.secrets)],
  })),
)

/** The names of secrets, as a form sends them. */
export const secretFields = (names: string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [`secrets[${name}]`, 'on']))

/** The ones that no start takes. Their account says which exist. */
function secretsFault({ secrets, parameters }: Form): string | null {
  if (secrets.length > MOST_SECRETS) return `A start takes at most ${MOST_SECRETS} secrets.`
  for (const name of secrets) {
    const fault = nameFault(name, 'secret')
    if (fault) return fault
    if (Object.hasOwn(parameters, name)) return `${name} is a parameter and a secret. Choose one of them.`
  }
  return null
}

/** A form that was left as it is. */
export const NOTHING_WISHED: Form = {
  name: '',
  stop_after: null,
  max_gpus: null,
  environment: '',
  vehicle: '',
  parameters: {},
  until: '',
  command: null,
  secrets: [],
}

export type RunWishes = v.InferOutput<typeof runWishes>
export const NO_WISHES: RunWishes = {
  name: null,
  stopAfterMs: null,
  maxGpus: null,
  environment: null,
  vehicle: null,
  parameters: {},
  untilExit: false,
  command: null,
  secrets: [],
}
