/** A piece of a line in one style. `style` is a list of classes: `fg-1`, `bg-12`, `bold`, `dim`, `italic`, `underline`, `inverse`. */
export type Piece = { text: string; style: string }

type Style = { fg: number | null; bg: number | null; marks: Set<string> }

const ESC = '\u001b'
/**
 * What a terminal would obey: control sequences, and strings up to their end. None may reach a page. A string also ends
 * before the next sequence: otherwise, a line of their beginnings would be read to its end from each of them.
 */
const SEQUENCE = new RegExp(
  [
    `(?:${ESC}\\[|\u009b)([0-?]*)[ -/]*([@-~])`,
    `(?:${ESC}[\\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007${ESC}\u009c]*(?:\u0007|${ESC}\\\\|\u009c|(?=${ESC})|$)`,
    `${ESC}[ -/]*[0-~]?`,
  ].join('|'),
  'g',
)
const CONTROLS = /[^\P{Cc}\t]/gu
/** These would change how a line reads: by turning it around, or by hiding in it. */
// Keep variation selectors: letters and emoji need them.
const UNSEEN = /(?![\u180b-\u180d\ufe00-\ufe0f])[\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu

/** Text in the background's color: a program could hide lines. An 8 may also be part of a color. */
const isConcealing = (codes: string) => /(^|;)0*8(;|$)/.test(codes.replace(/(^|;)0*[34]8;0*(5;\d*|2;\d*;\d*;\d*)/g, ''))
const MARKS: Record<number, string> = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 7: 'inverse' }
/** What each code ends. */
const ENDS: Record<number, string[]> = { 22: ['bold', 'dim'], 23: ['italic'], 24: ['underline'], 27: ['inverse'] }

/** Each piece is an element of the page, and a page shows 200 lines at once. */
const MOST_PIECES = 200

/** A line as a 16-color terminal shows it, made harmless. After its 200th piece, it keeps that one's style. */
export function styledText(line: string): Piece[] {
  const pieces: Piece[] = []
  let style: Style = { fg: null, bg: null, marks: new Set() }
  let from = 0
  const add = (until: number) => {
    const text = shown(line.slice(from, until))
    if (text) pieces.push({ text, style: classesOf(style) })
    from = until
  }
  for (const { 0: all, 1: codes, 2: final, index } of line.matchAll(SEQUENCE)) {
    add(index)
    const last = pieces[MOST_PIECES - 1]
    if (last) {
      last.text += plainText(line.slice(from))
      return pieces
    }
    from += all.length
    if (final === 'm') style = changed(style, codes ?? '')
  }
  add(line.length)
  return pieces
}

/** The same without its colors. */
export const plainText = (line: string): string => shown(line.replace(SEQUENCE, ''))

/** The same for a terminal, which may show colors and must obey nothing else. */
export function terminalText(line: string, colors: boolean): string {
  if (!colors) return plainText(line)
  let text = ''
  let from = 0
  let isColored = false
  for (const { 0: all, 2: final, index } of line.matchAll(SEQUENCE)) {
    text += shown(line.slice(from, index))
    from = index + all.length
    const codes = all.slice(all.startsWith(ESC) ? 2 : 1, -1)
    if (final !== 'm' || !/^[\d;]*$/.test(codes) || isConcealing(codes)) continue
    text += `${ESC}[${codes}m`
    isColored = true
  }
  return text + shown(line.slice(from)) + (isColored ? `${ESC}[0m` : '')
}

function shown(text: string): string {
  return text
    .replace(CONTROLS, '')
    .replace(UNSEEN, (one) => `[U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`)
}

function changed(style: Style, codes: string): Style {
  let { fg, bg } = style
  let marks = new Set(style.marks)
  const list = codes.split(';').map(Number)
  for (let i = 0; i < list.length; i++) {
    const code = list[i] ?? 0
    if (code === 0) [fg, bg, marks] = [null, null, new Set()]
    else if (MARKS[code]) marks.add(MARKS[code])
    else if (ENDS[code]) for (const mark of ENDS[code]) marks.delete(mark)
    else if (code === 38 || code === 48) {
      // One of 256 colors, or any color: we have the first 16.
      const color = list[i + 1] === 5 && (list[i + 2] ?? 16) < 16 ? (list[i + 2] ?? null) : null
      if (code === 38) fg = color
      else bg = color
      i += list[i + 1] === 5 ? 2 : 4
    } else if (code === 39) fg = null
    else if (code === 49) bg = null
    else if (isColor(code, 30)) fg = colorOf(code, 30)
    else if (isColor(code, 40)) bg = colorOf(code, 40)
  }
  return { fg, bg, marks }
}

/** 30 to 37, and the bright ones, 90 to 97. */
const isColor = (code: number, base: number) =>
  (code >= base && code < base + 8) || (code >= base + 60 && code < base + 68)
const colorOf = (code: number, base: number) => (code < base + 8 ? code - base : code - base - 60 + 8)

function classesOf({ fg, bg, marks }: Style): string {
  return [fg === null ? '' : `fg-${fg}`, bg === null ? '' : `bg-${bg}`, ...marks].filter(Boolean).join(' ')
}
