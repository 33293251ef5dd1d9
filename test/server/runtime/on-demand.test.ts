import { expect, test } from 'vitest'
import { onDemand } from '../../../src/server/runtime/on-demand.ts'

type Greeter = { greet(name: string, mark: string): Promise<string>; leave(): Promise<void> }

const greeter: Greeter = {
  greet: async (name, mark) => `Hello ${name}${mark}`,
  leave: async () => {
    throw new Error('nobody leaves')
  },
}

test('loads on the first call, and only once for simultaneous calls', async () => {
  let loaded = 0
  const port = onDemand(async () => {
    loaded++
    return greeter
  })
  expect(loaded).toBe(0)
  expect(await Promise.all([port.greet('Ada', '!'), port.greet('Bob', '?')])).toEqual(['Hello Ada!', 'Hello Bob?'])
  await expect(port.leave()).rejects.toThrow('nobody leaves')
  expect(loaded).toBe(1)
})

test('code that fails to load fails the call, like any error inside it', async () => {
  const port = onDemand<Greeter>(async () => {
    throw new Error('no such chunk')
  })
  await expect(port.greet('Ada', '!')).rejects.toThrow('no such chunk')
})
