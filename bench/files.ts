import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../db/client.ts'
import { startStack } from '../dev/stack.ts'
import { grantPlan } from '../src/server/billing/plans/grants.ts'
import { type Client, newPerson } from '../testing/people/client.ts'
import { endAll, temporaryFolder } from '../testing/stack/at-end.ts'
import { quickHasher } from '../testing/stack/quick-hasher.ts'
import { startedDataMachine } from '../testing/stack/started-data-machine.ts'
import { type Row, told } from './table.ts'

const SMALL = 10_000
const LARGE = 5_000_000_000
/** The same bytes each time, and none like the others. */
const BYTES = `(openssl enc -aes-128-ctr -nosalt -pbkdf2 -pass pass:flight </dev/zero 2>/dev/null || true) | head -c ${LARGE}`

type Machine = Awaited<ReturnType<typeof startedDataMachine>>
type Timed = (what: string, work: Promise<{ code: number | null; text: string }>) => Promise<void>

/**
 * What takes minutes by nature, with the real rclone and FUSE: many small files, and a large one whose machine loses
 * rclone in the middle of its upload. @throws if anything is lost
 */
export async function benchFiles(): Promise<Row[]> {
  const dataDir = temporaryFolder('bench-files')
  const stack = await startStack({ dataDir, ec2BootMs: 100, log: () => {}, ...quickHasher })
  const rows: Row[] = []
  const timed: Timed = async (what, work) => {
    const from = performance.now()
    const { code, text } = await work
    if (code !== 0) throw new Error(`${what}: ${code} ${text}`)
    const took = `${((performance.now() - from) / 1000).toFixed(1)} s`
    // It takes many minutes: say how far it is.
    console.log(`${what}: ${took}`)
    rows.push(told(what, took))
  }
  const next = async (person: Client): Promise<Machine> => {
    const machine = await startedDataMachine(stack, person)
    await machine.run('load')
    return machine
  }
  try {
    const ada = await newPerson(stack.url)
    const hand = { db: openDatabase(stack.services.vars.LIBSQL_URL as string), now: Date.now }
    await grantPlan({ ...hand, by: { id: 'script', reason: '' } }, ada.email, { type: 'premium', hours: 30 })
    await large(ada, next, timed)
    await small(ada, next, timed)
  } finally {
    await stack.close()
    await endAll()
  }
  return rows
}

async function large(ada: Client, next: (person: Client) => Promise<Machine>, timed: Timed): Promise<void> {
  const machine = await next(ada)
  await timed('5 GB: written', machine.script(`${BYTES} >large.bin`))
  // Some of its 300 parts are in the bucket, and some on their way.
  await sleep(10_000)
  machine.kill()
  await timed('5 GB: mounted again after kill -9', machine.run('load'))
  await timed('5 GB: saved at the stop', machine.run('save'))
  machine.kill()
  await machine.stop()
  const other = await next(ada)
  await timed('5 GB: read and compared on the next server', other.script(`cmp large.bin <(${BYTES})`))
  await other.end()
  await other.stop()
}

async function small(ada: Client, next: (person: Client) => Promise<Machine>, timed: Timed): Promise<void> {
  const machine = await next(ada)
  const write = `mkdir frames; for i in {1..${SMALL}}; do echo $i >frames/$i.txt; done`
  await timed('10,000 files: written', machine.script(write))
  await timed('10,000 files: saved at the stop', machine.run('save'))
  machine.kill()
  await machine.stop()
  const other = await next(ada)
  await timed('10,000 files: ls -l on the next server', other.script(`test $(ls -l frames | wc -l) = ${SMALL + 1}`))
  const read = `ls frames/* | xargs --max-procs=16 --max-args=50 cat | sort -n | cmp - <(seq ${SMALL})`
  await timed('10,000 files: read, 16 at once', other.script(read))
  await other.end()
  await other.stop()
}
