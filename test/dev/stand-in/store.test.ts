import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Store } from '../../../dev/stand-in/store.ts'
import { temporaryFolder } from '../../../testing/stack/at-end.ts'

function temporaryFile(): string {
  const folder = temporaryFolder('store')
  return join(folder, 'deeper', 'state.jsonl')
}

test('restores what was committed, in the order of its creation, and nothing else', () => {
  const file = temporaryFile()
  const store = new Store(file)
  store.put('things', 'a', { n: 1 })
  store.put('things', 'b', { n: 2 })
  store.put('others', 'c', {})
  store.commit()
  store.put('things', 'a', { n: 3 })
  store.remove('others', 'c')
  store.commit()
  store.put('things', 'd', {})
  for (let opened = 0; opened < 2; opened++) {
    const again = new Store(file)
    expect(again.entries('things')).toEqual([
      ['a', { n: 3 }],
      ['b', { n: 2 }],
    ])
    expect(again.all('others')).toEqual([])
  }
})

test('a line that a kill cut short is a commit that never happened, and the next one does not continue it', () => {
  const file = temporaryFile()
  const store = new Store(file)
  store.put('things', 'a', {})
  store.commit()
  appendFileSync(file, '[["things","b",{')
  const again = new Store(file)
  again.put('things', 'c', {})
  again.commit()
  expect(new Store(file).entries('things')).toEqual([
    ['a', {}],
    ['c', {}],
  ])
})

test('keeps a file that it cannot read', () => {
  const file = temporaryFile()
  const store = new Store(file)
  store.put('things', 'a', {})
  store.commit()
  appendFileSync(file, '[["things"\n')
  const before = readFileSync(file, 'utf8')
  expect(() => new Store(file)).toThrow(`${file} cannot be read. Delete it to start with nothing.`)
  expect(readFileSync(file, 'utf8')).toBe(before)
})
