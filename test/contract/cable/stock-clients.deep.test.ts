import { describe, expect, inject, test } from 'vitest'
import { cableUrl } from '../../../testing/people/cable.ts'
import { newPerson, serversOf, waitFor } from '../../../testing/people/client.ts'
import { STOCK_CLIENTS, type StockClient } from '../../../testing/people/stock-clients.ts'
import { openBreakableLine } from '../../../testing/stack/breakable-line.ts'

const url = inject('url')
const START = '/api/v1/aws/auto_cloud_start_request'
const STOP = '/api/v1/aws/stop_server'

const succeeded = ({ jobs }: StockClient, id: string) =>
  waitFor(async () => jobs.find((job) => job.id === id && job.status === 'succeeded'))

describe.each(STOCK_CLIENTS)('%s', (_, connect) => {
  test('follows a start and a stop step by step', async () => {
    const ada = await newPerson(url)
    const client = connect(cableUrl(ada), ada, ada.id)
    await waitFor(async () => client.state.connected)
    expect(client.jobs).toEqual([])

    const { body: started } = await ada.post(START)
    const ready = await succeeded(client, started.job_id)
    expect(ready).toMatchObject({ kind: 'server_start', result: 'Your server is running.', server: { active: true } })
    const progress = client.jobs.map((job) => job.progress).filter((said, i, all) => said && said !== all[i - 1])
    expect(progress).toEqual(['Reserv', 'Launch', 'Bootin', 'Waitin'].map((said) => expect.stringMatching(`^${said}`)))

    const stop = { server_id: ready.server?.server_id, session_id: ready.server?.id }
    const stopped = await succeeded(client, (await ada.post(STOP, stop)).body.job_id)
    expect(stopped).toMatchObject({ kind: 'server_stop', server: { active: false, pending: false } })
    expect(stopped.result).toMatch(/^Server stopped\. You used \d+s of your free trial\./)
    expect(client.state).toEqual({ connected: 1, disconnected: 0, rejected: 0 })
    client.stop()
  })

  // Both clients back off with each attempt.
  test('reconnects after a lost connection and gets what it missed', async () => {
    const ada = await newPerson(url)
    const line = await openBreakableLine(url)
    const client = connect(`${line.url.replace('http', 'ws')}/cable`, ada, ada.id)
    await waitFor(async () => client.state.connected === 1)
    const { body: started } = await ada.post(START)
    const ready = await succeeded(client, started.job_id)

    line.cut()
    await waitFor(async () => client.state.disconnected)
    const stop = { server_id: ready.server?.server_id, session_id: ready.server?.id }
    const { body: stopping } = await ada.post(STOP, stop)
    await waitFor(async () => (await serversOf(ada))[0]?.end_time)
    expect(client.jobs.some((job) => job.id === stopping.job_id)).toBe(false)

    line.mend()
    await waitFor(async () => client.state.connected === 2)
    expect(await succeeded(client, stopping.job_id)).toMatchObject({ kind: 'server_stop' })
    expect(client.hasEnded()).toBe(false)

    const again = (await ada.post(START)).body
    await succeeded(client, again.job_id)
    client.stop()
    line.close()
  })

  test("can't subscribe to another person's jobs, and gets none", async () => {
    const [ada, eve] = [await newPerson(url), await newPerson(url)]
    const client = connect(cableUrl(eve), eve, ada.id)
    await waitFor(async () => client.state.rejected)
    await ada.post(START)
    await waitFor(async () => (await serversOf(ada))[0]?.active)
    expect(client.jobs).toEqual([])
    expect(client.state.connected).toBe(0)
    client.stop()
  })

  test('ends permanently with its sign-in, and cannot reconnect', async () => {
    const ada = await newPerson(url)
    const client = connect(cableUrl(ada), ada, ada.id)
    await waitFor(async () => client.state.connected)
    expect(client.hasEnded()).toBe(false)
    const cookies = new Map(ada.cookies)
    await ada.request('DELETE', '/users/sign_out')
    await waitFor(async () => client.hasEnded() && client.state.disconnected)
    expect(client.state).toEqual({ connected: 1, disconnected: 1, rejected: 0 })

    ada.cookies = cookies
    const copy = connect(cableUrl(ada), ada, ada.id)
    await waitFor(async () => copy.hasEnded())
    expect(copy.state.connected).toBe(0)
  })
})
