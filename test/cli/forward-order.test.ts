import { expect, test } from 'vitest'
import { newForwarder, openForward } from '../../testing/people/forwarder.ts'
import { listenOn, openDoorStack, socketTo } from '../../testing/stack/door.ts'

const stack = await openDoorStack()
const PORT = 41451

test('a machine sees connections in the order in which they were opened', async () => {
  const ada = await newForwarder(stack)
  const said: string[] = []
  let opened = 0
  await listenOn(ada.server.machine, PORT, (socket) => {
    const nth = opened++
    socket.once('data', (bytes) => {
      said[nth] = String(bytes)
    })
  })
  const { connect } = await openForward(ada, [PORT])
  const all = Array.from({ length: 60 }, (_, i) => `${i}`)
  for (const name of all) (await connect(PORT)).write(name)
  await expect.poll(() => said.filter(Boolean).length).toBe(all.length)
  expect(said).toEqual(all)
})

test('a client that takes turns is connected once it says so, and hears when the machine sees it', async () => {
  const ada = await newForwarder(stack)
  let seen = 0
  await listenOn(ada.server.machine, PORT, (socket) => {
    seen++
    socket.pipe(socket)
  })
  const at = `${stack.url}/api/v1/servers/${ada.server.id}/tcp/${PORT}`
  const { socket, received, state } = await socketTo(at, { authorization: `Bearer ${ada.token}` }, [
    'in-turn.tcp.proving-ground',
    'tcp.proving-ground',
  ])
  expect([socket.protocol, seen]).toEqual(['in-turn.tcp.proving-ground', 0])
  socket.send('0')
  socket.send(Buffer.from('hello'))
  await expect.poll(() => received).toEqual(['0', Buffer.from('hello')])
  expect(seen).toBe(1)
  socket.send(Buffer.alloc(0))
  await expect.poll(() => state.closed).toBe(1000)
})
