import { expect, test } from 'vitest'
import { pageOf, stackAndBrowser } from '../../testing/browser/e2e.ts'
import { newPerson } from '../../testing/people/client.ts'
import { machinesOf } from '../../testing/people/machines.ts'

const world = stackAndBrowser()

// A reader who vanished gives their place back when the next comment can't be sent, within 15 seconds.
test('a log that five others follow is opened once one of them has left', async () => {
  const person = await newPerson(world.url)
  const machine = await machinesOf(world.url, world.stack.services.vars.LIBSQL_URL ?? '').startMachine(person)
  const stop = new AbortController()
  const headers = { Accept: 'text/event-stream', Cookie: person.cookieHeader }
  const follow = () => fetch(`${world.url}/api/v1/servers/${machine.id}/log`, { headers, signal: stop.signal })
  for (let i = 0; i < 5; i++) expect((await follow()).status).toBe(200)
  const page = await pageOf(world.browser, world.url, person)
  await page.goto(`${world.url}/servers/${machine.id}`)
  await page.getByText('Waiting to open the log…').waitFor()
  stop.abort()
  await page.getByText(/^(Live|Asking the machine…)$/).waitFor()
  await page.context().close()
})
