/** `machine`: what the machine does with the program. */
export const LOG_SOURCES = ['machine', 'stdout', 'stderr'] as const
export type LogSource = (typeof LOG_SOURCES)[number]

/** `n` counts all lines that the machine sent, dropped ones as well. `at` is ISO 8601. */
export type LogLine = { n: number; at: string; source: LogSource; text: string }

/** `next`: the last `n` given. `complete`: nothing follows, ever. */
export type LogPart = { lines: LogLine[]; next: number; complete: boolean }

/** What a run keeps: its first bytes and its last ones. */
export const FIRST_BYTES = 1_000_000
export const LAST_BYTES = 4_000_000
/** The longest line, in bytes of UTF-8. */
const LINE_BYTES = 8_192
/** The most lines in one answer. */
export const PART_LINES = 1_000
/** A log is kept this long after its run's end. */
export const LOG_DAYS = 30

const encoder = new TextEncoder()

export const bytesOf = (text: string): number => encoder.encode(text).length

/** A regular expression would look at a long row of them again from each of its returns. */
function withoutReturns(text: string): string {
  let end = text.length
  while (text[end - 1] === '\r') end--
  return text.slice(0, end)
}

/** One line of well-formed text within `LINE_BYTES`, which says how much was cut off. */
export function cutLine(text: string): string {
  // Drops what a carriage return overwrote, as a terminal does. An honest machine has already done so.
  const shown = text.split('\n').map(withoutReturns).join(' ')
  const line = shown.slice(shown.lastIndexOf('\r') + 1).toWellFormed()
  // No character has more than three bytes for each of its UTF-16 units.
  if (line.length * 3 <= LINE_BYTES) return line
  const all = bytesOf(line)
  if (all <= LINE_BYTES) return line
  // The machine has already cut it, and knows how long it was.
  const cut = /^(.*)… \(\d{1,15} bytes more\)$/s.exec(line)?.[1]
  if (cut !== undefined && bytesOf(cut) <= LINE_BYTES) return line
  let [end, kept] = [0, 0]
  for (const character of line) {
    const size = bytesOf(character)
    if (kept + size > LINE_BYTES) break
    kept += size
    end += character.length
  }
  return `${line.slice(0, end)}… (${all - kept} bytes more)`
}

/** Replaces the lines between a log's first bytes and its last ones. */
export function missingText(lines: number, bytes: number): string {
  const size = bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
  return `${lines.toLocaleString('en-US')} ${lines === 1 ? 'line is' : 'lines are'} missing here (${size}): a log keeps its first 1 MB and its last 4 MB.`
}

/** Lines as plain text, each with its end. */
export function logText(lines: LogLine[]): string {
  return lines.map(({ source, text }) => `${source === 'machine' ? '# ' : ''}${text}\n`).join('')
}
