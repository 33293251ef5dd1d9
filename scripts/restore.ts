import { parseArgs } from 'node:util'
import { openDatabase } from '../db/client.ts'
import type { Env } from '../src/server/env.ts'
import { ec2Cloud } from '../src/server/fleet/ec2.ts'
import { findRepairs, type Repair, repair } from '../src/server/operations/restore.ts'

const USAGE = `Usage, with LIBSQL_URL (of the restored database), LIBSQL_AUTH_TOKEN, and the AWS_ settings set:
  npm run restore -- --since <time of the backup, such as 2026-11-22T10:00:00Z> [--apply]
  Without --apply, it only says what it would do.`

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
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}

async function run(): Promise<void> {
  const { values } = parseArgs({ options: { since: { type: 'string' }, apply: { type: 'boolean' } } })
  const since = Date.parse(values.since ?? '')
  const { LIBSQL_URL: url, LIBSQL_AUTH_TOKEN: token, AWS_REGION, AWS_ACCESS_KEY_ID } = process.env
  if (!url || !AWS_REGION || !AWS_ACCESS_KEY_ID || Number.isNaN(since)) throw new Error(USAGE)
  const env = { EC2_LAUNCH_TEMPLATE: '', ...process.env } as unknown as Env
  const hand = { db: openDatabase(url, token), now: Date.now, cloud: ec2Cloud(env) }
  const repairs = await findRepairs(hand, since)
  for (const each of repairs) {
    const { what, instanceId, runId, userId } = each
    console.log(`${instanceId ?? 'no instance'} (${runId} of ${userId}) ${WORDS[what]}.`)
    if (values.apply) await repair(hand, each)
  }
  const done = values.apply ? 'Done.' : 'Nothing has changed. To make these repairs, add --apply.'
  console.log(repairs.length ? done : 'EC2 and the database agree.')
}
