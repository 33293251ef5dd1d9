import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { newApiToken } from '../../src/domain/api-token.ts'
import { newComputer } from '../../testing/people/command-line.ts'

/** A site that refuses so many calls for now, then answers. */
async function busySite(refusals: number, retryAfter: string) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const isBusy = asked.length <= refusals
    const answer = isBusy ? { error: 'Too many calls.', code: 'too_many' } : { servers: [] }
    response.writeHead(isBusy ? 429 : 200, { 'Content-Type': 'application/json', 'Retry-After': retryAfter })
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const PROVING_GROUND_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const computer = newComputer({ PROVING_GROUND_URL, PROVING_GROUND_TOKEN: newApiToken(() => 7) })
  return { asked, run: computer.run }
}

// A proxy may say anything.
test.each(['1', '0', '-5', ''])(
  'waits as long as a busy site asks with "%s", at least a second',
  async (retryAfter) => {
    const { asked, run } = await busySite(2, retryAfter)
    const waiting = 'Too many calls. Trying again in 1s…\n'
    expect(await run(['runs', '--json'])).toMatchObject({ code: 0, err: waiting + waiting })
    expect(asked).toHaveLength(3)
  },
)

test('waits for an hour at most', async () => {
  const { asked, run } = await busySite(1, '3661')
  expect(await run(['runs'])).toMatchObject({ code: 1, err: 'error: Too many calls.\n' })
  expect(asked).toHaveLength(1)
})

test('waits with calls that have no client', async () => {
  const { asked, run } = await busySite(1, '1')
  await run(['bills', '--csv'])
  expect(asked).toEqual(['/billing_history.csv', '/billing_history.csv'])
})
