import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Faults } from '../../../dev/stand-in/faults.ts'
import { Store } from '../../../dev/stand-in/store.ts'
import { temporaryFolder } from '../../../testing/stack/at-end.ts'

type Fault = { fault: string }

function openFaults() {
  const folder = temporaryFolder('faults')
  const path = join(folder, 'state.jsonl')
  const store = new Store(path)
  return { store, faults: new Faults<Fault>(store), again: () => new Faults<Fault>(new Store(path)) }
}

const next = (faults: Faults<Fault>, calls: number) => Array.from({ length: calls }, () => faults.take()?.fault ?? '-')

test('first come, first served, each as often as requested, after as many calls as requested', () => {
  const { faults } = openFaults()
  faults.add({ fault: 'a' }, 2, 1)
  faults.add({ fault: 'b' }, 1)
  expect(next(faults, 5)).toEqual(['-', 'a', 'a', 'b', '-'])
})

test('a call passes over the faults that it does not fit', () => {
  const { faults } = openFaults()
  faults.add({ fault: 'a' }, 1)
  faults.add({ fault: 'b' }, 1)
  expect(faults.take(({ fault }) => fault === 'b')?.fault).toBe('b')
  expect(next(faults, 2)).toEqual(['a', '-'])
})

test('remaining faults survive a restart, unless canceled', () => {
  const { faults, store, again } = openFaults()
  faults.add({ fault: 'a' }, 3)
  faults.take()
  store.commit()
  expect(next(again(), 3)).toEqual(['a', 'a', '-'])
  faults.heal()
  expect(next(again(), 1)).toEqual(['-'])
})

test.each([0, -1, 1.5, Infinity])('%d is not a number of calls', (left) => {
  expect(() => openFaults().faults.add({ fault: 'a' }, left)).toThrow('whole number from 1')
})
