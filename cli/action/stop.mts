import { randomUUID } from 'node:crypto'
import { call, findServer, input, insist, Refused, startServer, step } from './site.mts'

/** Stops the server. GitHub runs this after all other steps, even if one failed or someone canceled the job. */
await step(async () => {
  const { STATE_key: key, STATE_id, STATE_refused } = process.env
  if (!key || STATE_refused) return console.log('No server started.')
  try {
    const id = STATE_id ?? (await startServer(key)).id
    const server = await insist(() => findServer(id))
    if (!server?.pending && !server?.active) return console.log('The server has already stopped.')
    const body = { server_id: server.server_id, session_id: id }
    await insist(() => call('/api/v1/aws/stop_server', randomUUID(), body))
    console.log('Stopping the server. You pay nothing from now on.')
  } catch (error) {
    // The site refused the repeated start, so nothing runs; or the server stopped between our two calls.
    if (error instanceof Refused && error.status !== 401 && error.status !== 403) return console.log(error.message)
    throw new Error(`${(error as Error).message} The server stops on its own ${input('stop-after')} after its start.`)
  }
})
