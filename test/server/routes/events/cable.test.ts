import { expect, inject, test } from 'vitest'
import { answered, jobsChannel, openSocket } from '../../../../testing/people/cable.ts'
import { newPerson, waitFor } from '../../../../testing/people/client.ts'

// What every Action Cable server does is tested in test/contract/cable/.
const url = inject('url')

test("refuses someone else's jobs, whatever headers the client sends", async () => {
  const [ada, eve] = [await newPerson(url), await newPerson(url)]
  const cable = await openSocket(eve, { 'x-user-id': ada.id, 'x-sign-in-id': 'in_1', 'x-expires-at': '9999999999999' })
  const identifier = jobsChannel(ada.id)
  cable.subscribe(identifier)
  await cable.until(JSON.stringify({ identifier, type: 'reject_subscription' }))
  await ada.post('/api/v1/aws/auto_cloud_start_request')
  await waitFor(async () => {
    const { body } = await ada.get<{ servers: { active: boolean }[] }>('/api/v1/servers/get_servers')
    return body.servers[0]?.active
  })
  await answered(cable, eve.id)
  expect(cable.jobs()).toEqual([])
  cable.socket.close()
})

test('a socket may spell its channel in two ways, but not in any number of them', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  const spelled = (i: number) => JSON.stringify({ channel: 'JobsChannel', user_id: ada.id, tab: i })
  for (let i = 0; i < 12; i++) cable.subscribe(spelled(i))
  await answered(cable, ada.id)
  const types = cable.said().map((frame) => JSON.parse(frame).type)
  expect(types.slice(1, -1)).toEqual([
    ...Array(2).fill('confirm_subscription'),
    ...Array(10).fill('reject_subscription'),
  ])
  cable.send(JSON.stringify({ command: 'unsubscribe', identifier: spelled(0) }))
  cable.subscribe(spelled(9))
  await cable.until(JSON.stringify({ identifier: spelled(9), type: 'confirm_subscription' }))
  expect(cable.isClosed()).toBe(false)
  cable.socket.close()
})
