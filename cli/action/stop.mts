import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { keepFolder } from './keep.mts'
import { call, findServer, input, insist, leaveLine, Refused, startServer, step } from './site.mts'

/** Stops the server, and keeps a folder. GitHub runs this after all other steps, even if one failed or someone canceled the job. */
await step(async () => {
  const { STATE_key: key, STATE_id, STATE_refused, STATE_run } = process.env
  if (STATE_run) return stop(STATE_id ?? (() => startAgain(STATE_run)))
  if (!key || STATE_refused) return console.log('No server started.')
  await stop(STATE_id ?? (async () => (await (process.env.STATE_line ? leaveLine() : startServer(key)))?.id))
  // Its time costs nothing anymore.
  if (STATE_id) await keepFolder()
})

/** Sends the command line's last start again: it gets the same server. */
async function startAgain(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return
  const { key, body } = JSON.parse(text) as { key: string; body: object }
  return (await startServer(key, body)).id
}

async function stop(known: string | (() => Promise<string | undefined>)): Promise<void> {
  try {
    const id = typeof known === 'string' ? known : await known()
    if (!id) return console.log('No server started.')
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
}
