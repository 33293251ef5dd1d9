import { afterAll, describe, expect, test } from 'vitest'
import { startStack } from '../../dev/stack.ts'
import { newPerson, PASSWORD } from '../../testing/people/client.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { runSchemathesis, schemathesis } from '../../testing/stack/schemathesis.ts'
import { isSkipped } from '../../testing/stack/third-party.ts'

/** Whatever someone else's program sends gets no 500, and no answer that our document doesn't promise. */
describe.skipIf(isSkipped(schemathesis))(`against ${schemathesis.name}`, async () => {
  const dataDir = temporaryFolder('proving-ground-schemathesis')
  const stack = await startStack({ dataDir, ec2BootMs: 300, fleetSize: 2, plansForSale: true, log: () => {} })
  const { url } = stack
  afterAll(async () => {
    await stack.close()
  })

  const document = (await (await fetch(`${url}/api/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string; security: Record<string, string[]>[] }>>
  }
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))

  // Each has its own token, because calls per token are limited.
  test.each(['read', 'operate'])('as a program that may %s', async (scope) => {
    const ada = await newPerson(url)
    const { body } = await ada.post('/api_tokens', { name: 'CI', scope, current_password: PASSWORD })
    const headers = { Authorization: `Bearer ${body.token}` }
    const opens = operations.filter(({ security }) => security.some(({ token }) => token?.includes(scope)))
    // It tries every method of a path, so it would also revoke its own token.
    const opened = opens.filter(({ operationId }) => !operationId.endsWith('api_v1_api_token'))
    expect(opened.length).toBeGreaterThan(3)
    expect(await runSchemathesis(url, headers, including(opened))).toBe('')
    expect((await fetch(`${url}/api/v1/users/get_session`, { headers })).status).toBe(200)
  })

  // It may make every call: over four minutes on two cores.
  test('as a browser that stays signed in', { timeout: 900_000 }, async () => {
    const eve = await newPerson(url)
    const headers = { Cookie: eve.cookieHeader, Origin: url, 'X-CSRF-Token': eve.csrf }
    // It tries every method of a path, so it would also sign out everywhere.
    const others = operations.filter(({ operationId }) => !/(sign_out|sign_ins)$/.test(operationId))
    expect(await runSchemathesis(url, headers, including(others))).toBe('')
    expect((await eve.get('/api/v1/users/get_session')).status).toBe(200)
  })
})

function including(operations: { operationId: string }[]): string[] {
  return operations.flatMap(({ operationId }) => ['--include-operation-id', operationId])
}
