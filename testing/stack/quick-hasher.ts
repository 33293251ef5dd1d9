import { deriveKey } from '../../src/server/accounts/credentials/scrypt.ts'

/**
 * For tests that count or need hashes without asking how hard they are: the real cost took most of their CPU time.
 * Another cost still makes another key. The tests of passwords and hashers pay the real one, and so do stacks that run
 * as a person runs them.
 */
export const quickHasher = {
  derive: ({ secret, salt, cost }: Parameters<typeof deriveKey>[0]) =>
    deriveKey({ secret, salt: Buffer.concat([salt, Buffer.from(JSON.stringify(cost))]), cost: { N: 16, r: 1, p: 1 } }),
}
