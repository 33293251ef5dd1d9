import type { Instance } from './instance.ts'

/** What a machine reports about its container. */
export type Phase =
  | { name: 'pulling'; percent: number; bytes: number }
  | { name: 'pulled' }
  | { name: 'started'; tries: number }
  | { name: 'exited'; exit_code: number; oom: boolean; tries: number; answered: boolean }
  | { name: 'failed'; code: string; exit_code: number | null; why: string }

export type Source = 'machine' | 'stdout' | 'stderr'

/** `at` is in ms from the moment that EC2 says `running`. */
export type Line = { at: number; source: Source; text: string; phase?: Phase }

type Tagged = Pick<Instance, 'tags' | 'pulled'>
type Printed = [source: Source, text: string]
/** `exits` is null for one that answers on its port, for as long as the machine runs. */
type Program = {
  prints: (told: string[]) => Printed[]
  exits: { code: number; afterMs: number } | null
  /** Its report in /data. */
  leaves?: { path: string; text: string }
}

/** How long its machine pulls an image, and at which percentage that stops. */
type Pull = { ms: number; stuckAt: number | null }

const BYTES_PER_SECOND = 2_000_000
/** How long a machine waits for a pull that doesn't move. */
const STUCK_MS = 120_000
/** How long a machine tries to pull an image that is missing. */
const PULL_MS = 500
/** It says why it gives up before it shuts itself down. */
const LAST_WORDS_MS = 1_000
/** How long the machine waits before it restarts a program that has never answered. */
const PAUSES_MS = [1_000, 5_000]

const TRACEBACK = [
  'Traceback (most recent call last):',
  '  File "/app/main.py", line 42, in <module>',
  '    main()',
  '  File "/app/main.py", line 31, in main',
  '    world = load_world(os.environ["ENVIRONMENT"])',
  '  File "/app/world.py", line 17, in load_world',
  '    raise FileNotFoundError(f"No map at {path}")',
  'FileNotFoundError: No map at /app/maps/harbor.json',
]
const READY: Printed = ['stdout', 'Simulator ready on port 5173']
const FLOOD = 200_000

/** What an image does here. docs/operations.md lists those with special behavior. */
function programOf({ tags }: Tagged): Program {
  const [, name, number] = /^example\.com\/(exits|lasts|throws|floods):(\d{1,3})$/.exec(tags.image ?? '') ?? []
  const lasts = name === 'lasts'
  const code = lasts ? 0 : Number(number)
  if (name === 'exits' || lasts)
    return {
      prints: (told) => ['hello', ...told].map((text): Printed => ['stdout', text]),
      exits: { code, afterMs: lasts ? Number(number) * 1_000 : 2_000 },
      leaves: { path: 'out/report.txt', text: `exited with ${code}\n` },
    }
  if (name === 'throws') return { prints: () => TRACEBACK.map((text) => ['stderr', text]), exits: { code, afterMs: 0 } }
  if (name === 'floods')
    return {
      prints: () => [READY, ...Array.from({ length: FLOOD }, (_, i): Printed => ['stdout', `line ${i + 1}`])],
      exits: null,
    }
  return { prints: () => [READY], exits: null }
}

/** What its program leaves in /data. */
export const leavesOf = (instance: Tagged) => programOf(instance).leaves

/** Nobody can register a name under `.invalid`. */
const hasMissingImage = ({ tags }: Tagged) => /^[^/]+\.invalid(:\d+)?\//.test(tags.image ?? '')

function pullOf({ tags, pulled }: Tagged): Pull {
  if (pulled?.includes(tags.image ?? '')) return { ms: 0, stuckAt: null }
  const [, name, seconds] = /^example\.com\/(slow|stuck|lasts):(\d{1,4})$/.exec(tags.image ?? '') ?? []
  if (name === 'slow') return { ms: Number(seconds) * 1_000, stuckAt: null }
  // On EC2, no program starts before we have seen its machine run.
  if (name === 'lasts') return { ms: 3_000, stuckAt: null }
  return name === 'stuck' ? { ms: 20_000, stuckAt: 42 } : { ms: 0, stuckAt: null }
}

/** How far its image is, this many ms after `running`. Null: it's there. */
export function pullAt(instance: Tagged, at: number): Phase | null {
  const { ms, stuckAt } = pullOf(instance)
  if (at >= ms && stuckAt === null) return null
  const percent = Math.min(stuckAt ?? 99, Math.floor((100 * at) / ms))
  return { name: 'pulling', percent, bytes: Math.round((percent * ms * BYTES_PER_SECOND) / 100 / 1_000) }
}

/** How long its machine pulls these, one after the other. */
export const pullsFor = (images: string[]): number =>
  images.reduce((sum, image) => sum + pullOf({ tags: { image } }).ms, 0)

/** When its program answers on port 5173, in ms from `running`. Null: it never does. */
export function answersAfter(instance: Tagged): number | null {
  const { ms, stuckAt } = pullOf(instance)
  const never = hasMissingImage(instance) || stuckAt !== null || programOf(instance).exits !== null
  return never ? null : ms
}

/** When a machine that gives up shuts itself down, in ms from `running`. Null: it doesn't. */
export function givesUpAfter(instance: Tagged): number | null {
  if (hasMissingImage(instance)) return PULL_MS + LAST_WORDS_MS
  const { ms, stuckAt } = pullOf(instance)
  if (stuckAt !== null) return ms + STUCK_MS + LAST_WORDS_MS
  const { exits } = programOf(instance)
  if (!exits) return null
  return PAUSES_MS.reduce((sum, pause) => sum + pause, ms + (PAUSES_MS.length + 1) * exits.afterMs + LAST_WORDS_MS)
}

/** What the site tells a machine about its program. A deleted secret is null. */
export type Told = {
  parameters?: Record<string, string>
  secrets?: Record<string, string | null>
  registry?: { host: string; username: string; token: string } | null
  until?: 'exit' | null
  command?: string[] | null
}

type Refusal = { code: string; why: string }

const PRIVATE = /^registry\.example\.com\/private:/

/** Whether its registry gives out its image only with the login. */
export const isPrivate = ({ tags }: Tagged): boolean => PRIVATE.test(tags.image ?? '')

/** Why its program never starts, given what the site tells; null if it does. */
export const refusalOf = (instance: Tagged, told: Told): Refusal | null =>
  pullRefusal(instance, told) ?? secretRefusal(told)

function pullRefusal(instance: Tagged, { registry }: Told): Refusal | null {
  const refused = (code: string, said: string) => ({ code, why: `Cannot pull ${instance.tags.image}: ${said}` })
  if (!isPrivate(instance)) return null
  if (!registry) return refused('image_denied', 'denied: requested access to the resource is denied')
  const { username, token } = registry
  if (token === 'expired') return refused('image_login_expired', 'unauthorized: personal access token is expired')
  if (username === 'robot' && token === 'let-me-in') return null
  return refused('image_login_refused', 'unauthorized: incorrect username or password')
}

function secretRefusal({ secrets = {} }: Told): Refusal | null {
  const gone = Object.keys(secrets).find((name) => secrets[name] === null)
  if (gone === undefined) return null
  return { code: 'secret_missing', why: `The secret ${gone} is gone, so the program didn't start.` }
}

const isHidden = (text: string) => [...text].length >= 8

/** What nobody may read of these, longest first, as infra/image/agent.py finds it. */
function partsOf(secrets: (string | null)[]): string[] {
  const texts = secrets.flatMap((secret) => {
    const lines = secret?.split(/[\r\n]+/).filter(Boolean) ?? []
    return lines.length > 1 && !lines.every(isHidden) ? [...lines, lines.join('\n')] : lines
  })
  const hidden = texts.map((text) => (isHidden(text.trim()) ? text.trim() : text)).filter(isHidden)
  const inJson = hidden.map((text) => JSON.stringify(text).slice(1, -1))
  const inAscii = inJson.map((text) =>
    text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
  return [...hidden, ...inJson, ...inAscii].sort((a, b) => b.length - a.length)
}

/** Some lines of one stream, without what nobody may read. */
function masked(lines: string[], parts: string[]): string[] {
  const text = lines.join('\n')
  return parts.reduce((shown, part) => shown.replaceAll(part, '***'), text).split('\n')
}

/** Everything that its machine says until someone stops it, in order. */
export function linesOf(instance: Tagged, given: Told = {}): Line[] {
  const { parameters = {}, secrets = {}, registry, until = null, command } = given
  const parts = partsOf(Object.values(secrets))
  const image = instance.tags.image || 'the default image'
  const lines: Line[] = []
  const say = (at: number, text: string, phase: Phase) => lines.push({ at, source: 'machine', text, phase })
  const { ms, stuckAt } = pullOf(instance)
  const failed = ({ code, why }: Refusal) => {
    say(ms, why, { name: 'failed', code, exit_code: null, why })
    return lines
  }
  say(0, `Pulling ${image}${registry ? ` with your login for ${registry.host}` : ''}`, {
    name: 'pulling',
    percent: 0,
    bytes: 0,
  })
  if (hasMissingImage(instance)) {
    const why = `The registry has no image ${image}.`
    say(PULL_MS, why, { name: 'failed', code: 'image_not_found', exit_code: null, why })
    return lines
  }
  if (stuckAt !== null) {
    const why = `Cannot pull ${image}: nothing came for ${STUCK_MS / 1_000} s`
    say(ms + STUCK_MS, why, { name: 'failed', code: 'image_stuck', exit_code: null, why })
    return lines
  }
  const unpulled = pullRefusal(instance, given)
  if (unpulled) return failed(unpulled)
  say(ms, `Pulled ${image}`, { name: 'pulled' })
  const refusal = secretRefusal(given)
  if (refusal) return failed(refusal)
  const { prints, exits } = programOf(instance)
  let at = ms
  const variables = Object.entries({ ...parameters, ...secrets }).flatMap((pair) => pair.join('=').split(/[\r\n]+/))
  const told = [...variables, ...(command ?? [])]
  for (let tries = 1; tries <= PAUSES_MS.length + 1; tries++) {
    say(at, tries === 1 ? 'Started the program' : `Started the program, try ${tries}`, { name: 'started', tries })
    const printed = Map.groupBy(prints(told), ([source]) => source)
    for (const [source, some] of printed)
      for (const text of masked(
        some.map(([, line]) => line),
        parts,
      ))
        lines.push({ at, source, text })
    if (!exits) return lines
    at += exits.afterMs
    const exit = { exit_code: exits.code, oom: false, tries, answered: false }
    say(at, `The program exited with code ${exits.code}`, { name: 'exited', ...exit })
    // What a program has done can't be undone.
    if (until === 'exit') return lines
    at += PAUSES_MS[tries - 1] ?? 0
  }
  const why = `The program exited ${PAUSES_MS.length + 1} times before it answered on port 5173.`
  say(at, why, { name: 'failed', code: 'exited', exit_code: exits?.code ?? null, why })
  return lines
}
