import { expect, test } from 'vitest'
import { liveLine } from '../../cli/src/terminal.ts'

function screenOf(isTTY: boolean) {
  const written: string[] = []
  const stream = { isTTY, columns: 12, write: (text: string) => written.push(text) }
  return { written, line: liveLine(stream as unknown as NodeJS.WriteStream) }
}

test('lines that change in place are cut to the terminal, and all of them are erased before the next', () => {
  const { written, line } = screenOf(true)
  line.show('one\ntwo that is too long')
  line.show('three')
  line.show('four')
  line.clear()
  line.clear()
  expect(written).toEqual(['\r\x1b[2Kone\ntwo that is', '\r\x1b[2K\x1b[1A\x1b[2Kthree', '\r\x1b[2Kfour', '\r\x1b[2K'])
})

test('a line breaks between its parts, and every part of it is erased', () => {
  const { written, line } = screenOf(true)
  line.show('running  1m  stops in 2h')
  line.show('over')
  expect(written).toEqual(['\r\x1b[2Krunning  1m\nstops in 2h', '\r\x1b[2K\x1b[1A\x1b[2Kover'])
})

test('outside a terminal, each change is a line', () => {
  const { written, line } = screenOf(false)
  for (const text of ['one', 'one', 'two']) line.show(text)
  line.clear()
  expect(written).toEqual(['one\n', 'two\n'])
})
