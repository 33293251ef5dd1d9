import { openDatabase } from '../db/client.ts'
import type { Env } from '../src/server/env.ts'
import { ec2Cloud } from '../src/server/fleet/ec2.ts'
import { repair } from '../src/server/operations/repair.ts'
import { findRepairs, type Repair } from '../src/server/operations/restore.ts'
import { readArguments } from './arguments.ts'

const USAGE = `Usage, with LIBSQL_URL (of the restored database), LIBSQL_AUTH_TOKEN, and the AWS_ settings set:
  npm run restore -- --since <time of the backup, such as 2026-11-22T10:00:00Z> [--apply [--sure]]
  Without --apply, it only says what it would do. With --sure, it repairs even if most servers are unknown.`

const WORDS: Record<Repair['what'], string> = {
  adopt: 'runs, and its owner gets it back',
  bill: 'ran and ended after the backup; we bill it',
  end_run: 'ended after the backup; its run ends',
  end_instance: 'belongs to an account that the backup lacks; it ends',
  leave: 'is older than the backup and not ours; it stays',
}

try {
  await run()
} catch (error) {
  // The cause has the vendor's words.
  for (let e = error; e instanceof Error; e = e.cause) console.error(e.message)
  process.exitCode = 1
}

async function run(): Promise<void> {
  const { values } = readArguments(USAGE, {
    options: { since: { type: 'string' }, apply: { type: 'boolean' }, sure: { type: 'boolean' } },
  })
  const since = Date.parse(values.since ?? '')
  const { LIBSQL_URL: url, LIBSQL_AUTH_TOKEN: token } = process.env
  const isSet = url && ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].every((name) => process.env[name])
  if (!isSet || Number.isNaN(since)) throw new Error(USAGE)
  if (since > Date.now()) throw new Error('--since must be the time of the backup, not in the future.')
  const env = { EC2_LAUNCH_TEMPLATE: '', ...process.env } as unknown as Env
  const hand = { db: openDatabase(url, token), now: Date.now, cloud: ec2Cloud(env) }
  const { repairs, doubts } = await findRepairs(hand, since)
  for (const { what, instanceId, runId, userId } of repairs)
    console.log(`${instanceId ?? 'no instance'} (${runId} of ${userId}) ${WORDS[what]}.`)
  if (doubts.length && !values.sure)
    throw new Error(`${doubts.join('\n')}\nNothing has changed. If this is right, add --sure.`)
  if (values.apply) for (const each of repairs) await repair(hand, each)
  const done = values.apply ? 'Done. Run it again.' : 'Nothing has changed. To make these repairs, add --apply.'
  console.log(repairs.every(({ what }) => what === 'leave') ? 'EC2 and the database agree.' : done)
}
