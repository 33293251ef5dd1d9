import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'

const COLORS = { green: 32, yellow: 33, red: 31, gray: 90 }
export type Color = keyof typeof COLORS

export const isTerminal = (stream: { isTTY?: boolean }): boolean => stream.isTTY === true && process.env.TERM !== 'dumb'

/** @param stream where the text will be written */
export function paint(text: string, color: Color, stream: { isTTY?: boolean } = process.stdout): string {
  return isTerminal(stream) && !process.env.NO_COLOR ? `\x1b[${COLORS[color]}m${text}\x1b[0m` : text
}

/** Writes a result, for scripts to read. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

export function sayJson(value: unknown): void {
  say(JSON.stringify(value, null, 2))
}

/** Writes everything else: progress, hints, and errors. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Breaks a line between its parts, which two spaces separate. Cuts a part that is longer than a line. */
function fold(line: string, room: number): string[] {
  const width = (text: string) => stripVTControlCharacters(text).length
  const folded: string[] = []
  for (const part of line.split('  ')) {
    const last = folded.at(-1)
    const joined = `${last}  ${part}`
    if (last !== undefined && width(joined) <= room) folded[folded.length - 1] = joined
    else folded.push(part)
  }
  return folded.map((text) => (width(text) > room ? stripVTControlCharacters(text).slice(0, room) : text))
}

/** Lines that change in place on a terminal, and a line for each change anywhere else. */
export function liveLine(stream: NodeJS.WriteStream) {
  let shown = ''
  let below = 0
  const erase = () => {
    const start = `\r\x1b[2K${'\x1b[1A\x1b[2K'.repeat(below)}`
    below = 0
    return start
  }
  return {
    /** @param detail what changes every second; only a terminal shows it */
    show(text: string, detail = '') {
      if (isTerminal(stream)) {
        const lines = (detail ? `${text} ${detail}` : text).split('\n')
        // A longer line would wrap, and we couldn't erase its first part.
        const room = (stream.columns || 80) - 1
        const fitting = lines.flatMap((line) => fold(line, room))
        stream.write(erase() + fitting.join('\n'))
        below = fitting.length - 1
      } else if (text !== shown) stream.write(`${text}\n`)
      shown = text
    },
    clear() {
      if (shown && isTerminal(stream)) stream.write(erase())
      shown = ''
    },
  }
}

/** Asks on the terminal; null after Ctrl-C or Ctrl-D. */
export function ask(question: string, output: NodeJS.WritableStream = process.stderr): Promise<string | null> {
  return new Promise((answer) => {
    const prompt = createInterface({ input: process.stdin, output, terminal: true })
    prompt.on('close', () => {
      process.stderr.write('\n')
      answer(null)
    })
    prompt.question(question, (text) => {
      answer(text)
      prompt.close()
    })
  })
}

/** Asks without showing what people type. */
export function askHidden(question: string): Promise<string | null> {
  const answer = ask('', new Writable({ write: (_chunk, _encoding, done) => done() }))
  // Only now has the terminal stopped echoing, so people who paste right away must not see a prompt sooner.
  process.stderr.write(question)
  return answer
}

const TIME = new Intl.DateTimeFormat('en-US', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
})

/** In this computer's zone, with 24 hours, as the command line takes times: `Nov 24, 2026, 18:00 GMT+1`. */
export const timeText = (at: string) => TIME.format(Date.parse(at))

/** Without the marks around right-to-left names, which take no space. */
const lengthOf = (cell: string) => cell.replace(/[\u2068\u2069]/g, '').length

/** Columns as wide as their widest cell. */
export function table(head: string[], rows: string[][]): string {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => lengthOf(row[i] ?? ''))))
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => cell + ' '.repeat(Math.max(0, (widths[i] ?? 0) - lengthOf(cell))))
      .join('  ')
      .trimEnd()
  return [paint(line(head), 'gray'), ...rows.map(line)].join('\n')
}
