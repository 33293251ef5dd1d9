import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { comparedSentences } from '../testing/sentences.ts'

const ROOT = resolve(import.meta.dirname, '..')

/** What may stay, and why it breaks nothing. */
const ALLOWED: Record<string, string> = {
  'src/domain/warm-hours.ts: /^([a-z]{3})(?:-([a-z]{3}))?(?: (\\d{1,2})-(\\d{1,2}))?$/.exec(part)':
    'It reads what an operator typed.',
  'src/domain/contact.ts: (HELP_TOPICS as readonly string[]).includes(topic)': 'The form sends what it offers.',
  'src/islands/dashboard/NoticeAlert.tsx: job.progress !== notice.text': 'It shows one text, not the same one twice.',
  'src/islands/files/useUploads.ts: words !== said': 'It announces only what it did not just say.',
  'scripts/aws.ts: /Could not connect|resolve/.test(said)': "AWS's command line has no codes.",
  'scripts/stacks.ts: /No updates are to be performed/.test(error.message)': "AWS's command line has no codes.",
}

/** Without the line. */
const placeOf = (found: string) => found.replace(/:\d+: /, ': ')

test('no code compares sentences: programs decide by codes', () => {
  const found = comparedSentences(ROOT, ['src', 'db', 'cli', 'dev', 'scripts'])
  expect(found.filter((one) => !Object.hasOwn(ALLOWED, placeOf(one)))).toEqual([])
  expect(Object.keys(ALLOWED).filter((one) => !found.map(placeOf).includes(one))).toEqual([])
})

const TEXTS = `
export const FREE_NOW = 'A server is free for you now.'
export const FULL = { uav: 'No drone is free.', ugv: \`No \${'vehicle'} is free…\` } as const
export const waitFor = (seconds: number) => \`Please wait \${seconds} s.\`
export function failure(code: string) {
  return code === 'gone' ? FREE_NOW : null
}
export const KNOWN = new Set([FREE_NOW])
export const CODES = { [FREE_NOW]: 'free_now' }
`

const IMPORTS = "import { CODES, FREE_NOW as NOW, FULL, KNOWN, failure, waitFor } from './texts.ts'\n"

function found(code: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'sentences-'))
  mkdirSync(join(folder, 'src'))
  writeFileSync(join(folder, 'src/texts.ts'), TEXTS)
  writeFileSync(join(folder, 'src/program.tsx'), IMPORTS + code)
  const all = comparedSentences(folder, ['src'])
  rmSync(folder, { recursive: true })
  return all
}

test.each([
  "if (said === 'The server is gone.') stop()",
  "if (said !== 'Loading your files…') stop()",
  "if (free === 'covered by your plan') stop()",
  'if (said === NOW) stop()',
  'const view = <p hidden={said !== NOW} />',
  'if (said === FULL.uav) stop()',
  'if (said === FULL[kind]) stop()',
  'if (said === (isOne ? NOW : other)) stop()',
  'if (said === waitFor(3)) stop()',
  'if (said === failure(code)) stop()',
  'if (error.message === before) stop()',
  'if (job?.progress !== before) stop()',
  'if (said.startsWith(NOW)) stop()',
  "if (said.startsWith('All servers are')) stop()",
  'if (NOW.includes(said)) stop()',
  "if (said.indexOf('server is gone.') > 0) stop()",
  'if (/is gone\\.$/.test(said)) stop()',
  'const wait = /^Please wait (\\d+) s\\.$/.exec(said)',
  'switch (said) { case NOW: stop() }',
  "switch (said) { case 'The server is gone.': stop() }",
  'if (KNOWN.has(said)) stop()',
  'if ([NOW, other].includes(said)) stop()',
  'if (new Map([[NOW, 1]]).get(said)) stop()',
  'if (Object.values(FULL).includes(said)) stop()',
  'const code = CODES[said]',
  'if (said in CODES) stop()',
  'find(eq(runs.why, NOW))',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a program.
  'sql`SELECT id FROM runs WHERE why = ${NOW}`',
  "sql`UPDATE runs SET done = 1 WHERE why = 'The server is gone.'`",
])('finds %s', (code) => {
  expect(found(code)).toHaveLength(1)
})

test.each([
  "if (code === 'free_now') stop()",
  'if (text.trim() === "") stop()',
  'if (error.message === undefined || said === null) stop()',
  "if (header.startsWith('Bearer ') || route === 'GET /files') stop()",
  'if (text.endsWith(".")) stop()',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a program.
  'sql`UPDATE runs SET why = ${NOW} WHERE id = ${id}`',
  'show(NOW, FULL.uav, waitFor(3))',
])('lets %s pass', (code) => {
  expect(found(code)).toEqual([])
})
