import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, expect, test } from 'vitest'
import { hash, hashingInNode, openHashers } from '../../dev/hashing.ts'
import { builtModules } from '../../dev/stack.ts'
import { readWranglerConfig } from '../../dev/wrangler-config.ts'
import { deriveKey } from '../../src/server/accounts/credentials/scrypt.ts'
import type { Derivation, HasherCalls } from '../../src/server/ports/objects.ts'

const { compatibilityDate, durableObjects } = readWranglerConfig()
const shared = { compatibilityDate, durableObjects }
let hashers = openHashers()
const mf = new Miniflare(
  convertV4MiniflareOptions({
    cf: false,
    workers: [
      { ...shared, name: 'deployed', modules: builtModules() },
      {
        ...shared,
        name: 'local',
        modules: hashingInNode(builtModules()),
        serviceBindings: { HASHERS: (request: Request) => hash(hashers, request) },
      },
    ],
  }),
)
afterAll(() => mf.dispose())

const getHasher = async (worker: string, name = 'hasher 1') => {
  const bindings = await mf.getBindings<{ PASSWORD_HASHER: { getByName(name: string): HasherCalls } }>(worker)
  return bindings.PASSWORD_HASHER.getByName(name)
}

/** What a password's hash costs. */
const WORK: Derivation = {
  secret: new Uint8Array(32).fill(200),
  salt: new Uint8Array(16).fill(255),
  cost: { N: 16384, r: 8, p: 5 },
}

test.each(['deployed', 'local'])('a key from the %s object is the one that scrypt derives', async (worker) => {
  const key = await (await getHasher(worker)).derive(WORK)
  expect(Buffer.from(key ?? []).toString('hex')).toBe(Buffer.from(await deriveKey(WORK)).toString('hex'))
})

test('each local object has a queue of its own, and reports when it is full or fails', async () => {
  const names: string[] = []
  hashers = {
    getByName: (name) => ({
      async derive() {
        names.push(name)
        if (name === 'broken') throw new Error('No memory')
        return null
      },
    }),
  }
  expect(await (await getHasher('local', 'full')).derive(WORK)).toBeNull()
  await expect(getHasher('local', 'broken').then((hasher) => hasher.derive(WORK))).rejects.toThrow()
  expect(names).toEqual(['full', 'broken'])
})

test('in one process, one hash runs at a time', async () => {
  const own = openHashers()
  const cheap = { ...WORK, cost: { N: 2, r: 1, p: 1 } }
  const ended: string[] = []
  const derive = (name: string, work: Derivation) =>
    own
      .getByName(name)
      .derive(work)
      .then(() => ended.push(name))
  await Promise.all([derive('slow', WORK), derive('quick', cheap)])
  expect(ended).toEqual(['slow', 'quick'])
  expect(own.getByName('slow')).toBe(own.getByName('slow'))
})
