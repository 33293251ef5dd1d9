import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainText, styledText, terminalText } from '../../src/domain/ansi.ts'

const ESC = '\u001b'

test.each<[name: string, line: string, pieces: [text: string, style: string][]]>([
  ['a plain line', 'hello', [['hello', '']]],
  ['nothing', '', []],
  [
    'a color and its end',
    `${ESC}[31mred${ESC}[0m plain`,
    [
      ['red', 'fg-1'],
      [' plain', ''],
    ],
  ],
  [
    'an empty code as its end',
    `${ESC}[1;92mok${ESC}[m.`,
    [
      ['ok', 'fg-10 bold'],
      ['.', ''],
    ],
  ],
  [
    'a background',
    `${ESC}[30;107mx${ESC}[49my`,
    [
      ['x', 'fg-0 bg-15'],
      ['y', 'fg-0'],
    ],
  ],
  [
    'marks that end one by one',
    `${ESC}[1;4mx${ESC}[22my${ESC}[24mz`,
    [
      ['x', 'bold underline'],
      ['y', 'underline'],
      ['z', ''],
    ],
  ],
  [
    'the first 16 of 256 colors',
    `${ESC}[38;5;9mx${ESC}[38;5;200my`,
    [
      ['x', 'fg-9'],
      ['y', ''],
    ],
  ],
  ['what follows any color', `${ESC}[38;2;1;2;3;1mx`, [['x', 'bold']]],
  ['codes that nobody knows', `${ESC}[99999;58;5mx`, [['x', '']]],
])('shows %s', (_, line, pieces) => {
  expect(styledText(line)).toEqual(pieces.map(([text, style]) => ({ text, style })))
})

test.each([
  ['a cursor that moves', `a${ESC}[2J${ESC}[1;1Hb`, 'ab'],
  ['a title', `a${ESC}]0;owned\u0007b`, 'ab'],
  ['a link', `${ESC}]8;;https://evil.example${ESC}\\text${ESC}]8;;${ESC}\\`, 'text'],
  ['a clipboard', `a${ESC}]52;c;cm0gLXJmIC8K\u0007b`, 'ab'],
  ['a string without an end', `a${ESC}P1$r0m`, 'a'],
  ['a string that another sequence cuts off', `a${ESC}]0;t${ESC}[1mb\u009d0;t${ESC}[1mc`, 'abc'],
  [
    'beginnings of strings, each of which would be read to the end of the line',
    `${'\u009d'.repeat(200_000)}${ESC}`,
    '',
  ],
  ['a sequence without an end', `a${ESC}[31`, 'a31'],
  ['sequences of one byte', `a\u009b31mb\u009d0;t\u009cc`, 'abc'],
  ['controls', 'a\u0000\u0007\u0008\u007f\u0085b', 'ab'],
  ['tabs, which stay', 'a\tb', 'a\tb'],
  ['a line that turns around', 'a\u202egnp.exe', 'a[U+202E]gnp.exe'],
  ['what hides', 'pass\u200bword\ufeff', 'pass[U+200B]word[U+FEFF]'],
  ['letters that nobody sees', 'a\u3164b\u115f\uffa0\u034f', 'a[U+3164]b[U+115F][U+FFA0][U+034F]'],
  ['tags and selectors that carry a text', 'a\u{e0041}\u{e007f}\u{e0100}', 'a[U+E0041][U+E007F][U+E0100]'],
  ['markup', '<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
  ['other scripts', 'سلام 日本 🚁 ❤\ufe0f \u1820\u180b', 'سلام 日本 🚁 ❤\ufe0f \u1820\u180b'],
])('makes %s harmless', (_, line, text) => {
  expect(plainText(line)).toBe(text)
})

test('a line of thousands of colors becomes few elements, and loses no text', () => {
  const pieces = styledText(`${ESC}[1ma${ESC}[22mb`.repeat(700))
  expect(pieces).toHaveLength(200)
  expect(pieces.at(-1)).toEqual({ text: 'b'.padEnd(1201, 'ab'), style: '' })
})

test('a terminal gets colors, each ended with its line, and obeys nothing else', () => {
  const line = `${ESC}[2J${ESC}[1;31mred${ESC}[?25l${ESC}]0;owned\u0007 on`
  expect(terminalText(line, true)).toBe(`${ESC}[1;31mred on${ESC}[0m`)
  expect(terminalText(line, false)).toBe('red on')
  expect(terminalText('plain', true)).toBe('plain')
})

test('whatever a program prints, nothing that a terminal obeys is left, and colors lose no text', () => {
  const nasty = fc.array(fc.constantFrom(ESC, '[', ']', 'm', ';', '3', '1', '\u0007', '\\', '\u009b', 'a', '\u202e'))
  fc.assert(
    fc.property(nasty, (parts) => {
      const line = parts.join('')
      const text = styledText(line)
        .map((piece) => piece.text)
        .join('')
      expect(text).toBe(plainText(line))
      expect(text).not.toMatch(/[^\P{Cc}\t]|[\u202a-\u202e]/u)
    }),
  )
})

test('a terminal hides nothing that a program wants hidden, and keeps the eighth of 256 colors', () => {
  expect(terminalText('\u001b[8mhidden', true)).toBe('hidden')
  expect(terminalText('\u001b[1;8mhidden', true)).toBe('hidden')
  expect(terminalText('\u001b[31;008mhidden', true)).toBe('hidden')
  expect(terminalText('\u001b[4;38;5;8;8mhidden', true)).toBe('hidden')
  expect(terminalText('\u001b[38;5;8mgray', true)).toBe('\u001b[38;5;8mgray\u001b[0m')
  expect(terminalText('\u001b[1;48;2;8;8;8mdark', true)).toBe('\u001b[1;48;2;8;8;8mdark\u001b[0m')
  expect(terminalText('\u009b31mred', true)).toBe('\u001b[31mred\u001b[0m')
})
