import { expect, inject, test } from 'vitest'
import { answered, confirmed, jobsChannel, openSocket } from '../../../testing/people/cable.ts'
import { newPerson, stopServer, waitFor } from '../../../testing/people/client.ts'

const url = inject('url')
const START = '/api/v1/aws/auto_cloud_start_request'
const identifiersOf = (frames: string[]) =>
  new Set(
    frames
      .map((frame) => JSON.parse(frame))
      .filter(({ message }) => message?.job)
      .map(({ identifier }) => identifier),
  )
const finished = (cable: Awaited<ReturnType<typeof openSocket>>) =>
  waitFor(async () => cable.jobs().find((job) => job.status === 'succeeded'))

test('sends the same jobs to all of a person’s sockets, except any that unsubscribe', async () => {
  const ada = await newPerson(url)
  const [stays, leaves] = [await openSocket(ada), await openSocket(ada)]
  const identifier = jobsChannel(ada.id)
  for (const cable of [stays, leaves]) {
    cable.subscribe(identifier)
    await answered(cable, ada.id)
  }
  await ada.post(START)
  await waitFor(async () => stays.jobs().length && leaves.jobs().length)
  expect(leaves.jobs()[0]?.id).toBe(stays.jobs()[0]?.id)

  leaves.unsubscribe(identifier)
  await answered(leaves, ada.id)
  const before = leaves.jobs().length
  await finished(stays)
  await stopServer(ada)
  await waitFor(async () => stays.jobs().find((job) => job.kind === 'server_stop' && job.status === 'succeeded'))
  await answered(leaves, ada.id)
  expect(leaves.jobs()).toHaveLength(before)
  stays.socket.close()
  leaves.socket.close()
})

test('sends a job once per subscription on one socket', async () => {
  const ada = await newPerson(url)
  const cable = await openSocket(ada)
  const spellings = [1, 2].map((tab) => `{"channel":"JobsChannel","user_id":"${ada.id}","tab":${tab}}`)
  for (const identifier of spellings) cable.subscribe(identifier)
  await answered(cable, ada.id)
  await ada.post(START)
  await finished(cable)
  await answered(cable, ada.id)
  expect(identifiersOf(cable.frames)).toEqual(new Set(spellings))
  cable.socket.close()
})

test('sends no jobs to an unsubscribed socket', async () => {
  const ada = await newPerson(url)
  const [silent, cable] = [await openSocket(ada), await openSocket(ada)]
  cable.subscribe(jobsChannel(ada.id))
  await answered(cable, ada.id)
  await ada.post(START)
  await finished(cable)
  await answered(silent, ada.id)
  expect(silent.jobs()).toEqual([])
  silent.socket.close()
  cable.socket.close()
})

test('sends the latest job after each confirmation, unless the client unsubscribes at once', async () => {
  const ada = await newPerson(url)
  const first = await openSocket(ada)
  const identifier = jobsChannel(ada.id)
  first.subscribe(identifier)
  await answered(first, ada.id)
  await ada.post(START)
  const ready = await finished(first)

  const late = await openSocket(ada)
  const told = [confirmed(identifier), JSON.stringify({ identifier, message: { event: 'job.updated', job: ready } })]
  late.subscribe(identifier)
  await waitFor(async () => late.jobs().length === 1)
  late.unsubscribe(identifier)
  late.subscribe(identifier)
  await waitFor(async () => late.jobs().length === 2)
  expect(late.said()).toEqual(['{"type":"welcome"}', ...told, ...told])

  const gone = await openSocket(ada)
  gone.subscribe(identifier)
  gone.unsubscribe(identifier)
  // The server answers a second subscription after the first, so the first's job would have arrived.
  gone.subscribe(`${identifier} `)
  await waitFor(async () => gone.jobs().length)
  expect(identifiersOf(gone.frames)).toEqual(new Set([`${identifier} `]))
  for (const { socket } of [first, late, gone]) socket.close()
})
