import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../src/domain/error.ts'
import { isFree } from './free-port.ts'
import { faultOfServers } from './own-servers.ts'
import { SEED_EMAILS, SEED_PASSWORD } from './seed.ts'
import type { StackOptions } from './services.ts'

/** `npm run dev` and `npm start`: the whole product on this machine, with no accounts or keys. */
const mode = process.argv[2] === 'dev' ? 'dev' : 'start'
const port = Number(process.env.PORT ?? 8787)
const options: StackOptions = {
  port,
  dataDir: resolve(process.env.DATA_DIR ?? '.data'),
  ec2BootMs: Number(process.env.EC2_BOOT_MS ?? 3000),
  ec2Endpoint: process.env.EC2_ENDPOINT || undefined,
  stripeApiBase: process.env.STRIPE_API_BASE || undefined,
  plansForSale: process.env.PLANS_FOR_SALE === 'true',
  adminFactor: process.env.ADMIN_FACTOR === 'on',
  libsqlUrl: process.env.LIBSQL_URL || undefined,
  doorDomain: process.env.DOOR_DOMAIN,
  doorPorts: { DOOR_PORTS: process.env.DOOR_PORTS, DOOR_TCP_PORTS: process.env.DOOR_TCP_PORTS },
}

const fault = faultOfServers(options)
if (fault) {
  console.error(fault)
  process.exit(1)
}
await portMustBeFree(port)
// A kill leaves Miniflare's temporary folders behind. In this place, the next start finds them.
const temporary = join(options.dataDir, 'tmp')
rmSync(temporary, { recursive: true, force: true })
mkdirSync(temporary, { recursive: true })
process.env.TMPDIR = temporary
const stack = await start().catch((error) => {
  if (!(error instanceof AppError && error.code === 'conflict')) throw error
  console.error(error.message)
  if (!options.libsqlUrl)
    console.error(`"npm start" at that commit also migrates it. Delete ${options.dataDir} to start over.`)
  process.exit(1)
})
const addresses = [
  ...stack.services.addresses,
  ['Sign in as', `${SEED_EMAILS.pilot} (free trial) or ${SEED_EMAILS.admin} (admin), password ${SEED_PASSWORD}`],
]
for (const [name = '', address] of addresses) console.log(`${name.padEnd(18)}${address}`)
console.log(`Ready: http://localhost:${port}`)

let closing = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (closing) process.exit(1)
    closing = true
    void stack.close().finally(() => process.exit(0))
  })

async function start() {
  if (mode === 'dev') return (await import('./vite.ts')).startViteStack(options)
  return (await import('./stack.ts')).startStack(options)
}

/** A stack killed a moment ago may still hold its port. */
async function portMustBeFree(port: number): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    if (await isFree(port, 'localhost')) return
    await sleep(250)
  }
  console.error(`Port ${port} is in use. Stop the other program, or choose another port: PORT=8800 npm run ${mode}`)
  process.exit(1)
}
