import { afterAll, describe, expect, test } from 'vitest'
import { startStack } from '../../dev/stack.ts'
import { newPerson, PASSWORD } from '../../testing/people/client.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { quickHasher } from '../../testing/stack/quick-hasher.ts'
import { runSchemathesis, schemathesis } from '../../testing/stack/schemathesis.ts'
import { isSkipped } from '../../testing/stack/third-party.ts'

/** Whatever someone else's program sends gets no 500, and no answer that our document doesn't promise. */
describe.skipIf(isSkipped(schemathesis))(`against ${schemathesis.name}`, async () => {
  const dataDir = temporaryFolder('proving-ground-schemathesis')
  const stack = await startStack({
    dataDir,
    ec2BootMs: 300,
    fleetSize: 2,
    plansForSale: true,
    log: () => {},
    ...quickHasher,
  })
  const { url } = stack
  afterAll(async () => {
    await stack.close()
  })

  const document = (await (await fetch(`${url}/api/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string; security: Record<string, string[]>[] }>>
  }
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))

  // What each call takes is tried below in full: only the way in differs.
  test('as a program', async () => {
    const ada = await newPerson(url)
    const { body } = await ada.post('/api_tokens', { name: 'CI', scope: 'operate', current_password: PASSWORD })
    const headers = { Authorization: `Bearer ${body.token}` }
    const opens = operations.filter(({ security }) => security.some(({ token }) => token))
    // It would revoke its own token.
    const opened = opens.filter(({ operationId }) => operationId !== 'delete_api_v1_api_token')
    expect(opened.length).toBeGreaterThan(30)
    expect(await runSchemathesis(url, headers, 'examples,fuzzing', opened)).toBe('')
    expect((await fetch(`${url}/api/v1/users/get_session`, { headers })).status).toBe(200)
  })

  // It may make every call: for minutes on two cores.
  test('as a browser that stays signed in', { timeout: 900_000 }, async () => {
    const eve = await newPerson(url)
    const headers = { Cookie: eve.cookieHeader, Origin: url, 'X-CSRF-Token': eve.csrf }
    // It tries every method of a path, so it would also sign out everywhere.
    const others = operations.filter(({ operationId }) => !/(sign_out|sign_ins)$/.test(operationId))
    expect(await runSchemathesis(url, headers, 'examples,coverage,fuzzing', others)).toBe('')
    expect((await eve.get('/api/v1/users/get_session')).status).toBe(200)
  })
})
