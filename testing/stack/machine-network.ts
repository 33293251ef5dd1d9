import { writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { metadataService } from './metadata-service.ts'

// What machine-network.sh runs in its namespaces.
const [verb, ...words] = process.argv.slice(2)
if (verb === 'serve') await serve(words[0] ?? '')
if (verb === 'reach') console.log(JSON.stringify(Object.fromEntries(await Promise.all(words.map(reach)))))

/** Listens on every address, with a metadata service on port 80, and then writes the file. */
async function serve(file: string): Promise<void> {
  const listen = (server: Pick<Server, 'listen'>, port: number) =>
    new Promise<void>((resolve) => server.listen(port, '::', resolve))
  const tags = { environment: 'Blocks', vehicle: 'uav' }
  await listen(metadataService(tags), 80)
  for (const port of [22, 443, 5173])
    await listen(
      createServer((socket) => socket.end()),
      port,
    )
  writeFileSync(file, '')
}

function reach(target: string): Promise<[target: string, outcome: string]> {
  const { hostname, port } = new URL(`tcp://${target}`)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/[[\]]/g, ''), port: Number(port) })
    const finish = (outcome: string) => {
      socket.destroy()
      resolve([target, outcome])
    }
    socket.on('connect', () => finish('open'))
    socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? 'error'))
  })
}
