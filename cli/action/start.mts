import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { findServer, input, Refused, seconds, startServer, step, tell, waitInLine } from './site.mts'

const POLL_MS = 3_000
const NO_SERVER_FREE = 503
const MOST_TRIES = 5
/** By then, the site has ended every start. */
const START_DEADLINE_MS = 55 * 60_000

/** Starts a server and waits until it answers; with `run`, runs a program on it to its end. */
await step(async () => {
  if (!input('token')) throw new Error('Set the input token. Pull requests from forks get no secrets.')
  seconds(input('stop-after'))
  console.log(`::add-mask::${input('token')}`)
  if (input('run')) process.exit(await (await import('./run.mts')).runProgram())
  const key = randomUUID()
  // Before the start, so that if the runner kills us in between, the post step still finds the server.
  tell('STATE', 'key', key)
  let canceled = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      canceled = true
    })
  const { id } = await startOrWait(key, () => canceled)
  tell('STATE', 'id', id)
  console.log('Starting the server…')
  for (const deadline = Date.now() + START_DEADLINE_MS; Date.now() < deadline && !canceled; await sleep(POLL_MS)) {
    const server = await findServer(id).catch((error: Error) => {
      if (error instanceof Refused) throw error
    })
    if (server && !server.pending && !server.active)
      throw new Error(server.error_message ?? 'Someone stopped the server while it was starting.')
    if (!server?.billed_from) continue
    const address = server.door_url ?? `http://${server.ip_address}:5173`
    tell('OUTPUT', 'address', address)
    // Only a private address gets the token: the other one is public, and unencrypted.
    tell('OUTPUT', 'header', server.door_url ? `Authorization: Bearer ${input('token')}` : '')
    tell('OUTPUT', 'ip-address', server.ip_address ?? '')
    tell('OUTPUT', 'id', id)
    return console.log(`Your server is running: ${address}`)
  }
  throw new Error(canceled ? 'The job was canceled.' : "The server still doesn't answer.")
})

/** One that becomes free between the two calls is in neither: the line sends us back to start it. */
async function startOrWait(key: string, canceled: () => boolean) {
  for (let tries = 1; ; tries++) {
    try {
      return await startOnceStopped(key, canceled)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      if (error.status !== NO_SERVER_FREE || input('wait-in-line') !== 'true') {
        tell('STATE', 'refused', 'true')
        throw error
      }
    }
    tell('STATE', 'line', 'true')
    try {
      return await waitInLine(canceled)
    } catch (error) {
      const isFree = error instanceof Refused && error.code === 'conflict'
      if (!isFree || canceled() || tries === MOST_TRIES) throw error
      await sleep(POLL_MS)
    }
  }
}

/** The job before this one has just stopped its server, which may take EC2 a minute or two. */
async function startOnceStopped(key: string, canceled: () => boolean) {
  for (let tries = 1; ; tries++) {
    try {
      return await startServer(key)
    } catch (error) {
      const mayWait = !canceled() && tries * POLL_MS < START_DEADLINE_MS
      const waits = mayWait && error instanceof Refused && error.code === 'stopping'
      if (!waits) throw error
      if (tries === 1) console.log(error.message)
      await sleep(POLL_MS)
    }
  }
}
