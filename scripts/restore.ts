import { ec2Cloud } from '../src/server/fleet/ec2.ts'
import { repair } from '../src/server/operations/repair.ts'
import { findRepairs, type Plan, type Repair } from '../src/server/operations/restore.ts'
import { isMigrated } from '../src/server/runtime/ready.ts'
import type { Env } from '../src/server/settings/env.ts'
import { ENV, openSettings, readArguments, runCommand } from './arguments.ts'
import { settingsOf } from './environment.ts'

const USAGE = `Usage, with LIBSQL_URL and LIBSQL_AUTH_TOKEN of the restored database in the environment's settings:
  npm run restore -- --env <staging|production> --since <time of the backup, such as 2026-11-22T10:00:00Z>
    [--apply] [--end <run or instance id>]…
  Without --apply, it only says what it would do. Without --env, it takes LIBSQL_ and AWS_ settings from variables.
  --end names a run that you looked up yourself, or the instance that has none: it has ended, although EC2 doesn't know it, or it may end.`

const WORDS: Record<Repair['what'], string> = {
  adopt: 'runs, and its owner gets it back',
  bill: 'ran and ended after the backup; we bill it',
  end_run: 'ended after the backup; its run ends',
  end_instance: 'belongs to an account that the backup lacks; it ends',
  leave: 'is older than the backup and not ours; it stays',
}

await runCommand(run)

async function run(): Promise<string> {
  const { values } = readArguments(USAGE, {
    options: {
      ...ENV,
      since: { type: 'string' },
      apply: { type: 'boolean' },
      end: { type: 'string', multiple: true, default: [] },
    },
  })
  const settings = settingsOf(values.env)
  const since = Date.parse(values.since ?? '')
  const isSet = ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].every((name) => settings[name])
  if (!isSet || Number.isNaN(since)) throw new Error(USAGE)
  if (since > Date.now()) throw new Error('--since must be the time of the backup, not in the future.')
  const env = settings as unknown as Env
  const hand = { ...openSettings(USAGE, settings), cloud: ec2Cloud(env) }
  if (!(await isMigrated(hand.db)))
    throw new Error(
      `The backup is older than this version: it lacks migrations. Run "npm run db:migrate${values.env ? ` -- --env ${values.env}` : ''}" first.`,
    )
  const plan = await findRepairs(hand, since, env.AWS_REGION)
  for (const { what, instanceId, runId, userId } of plan.repairs)
    console.log(`${instanceId ?? 'no instance'} (${runId} of ${userId}) ${WORDS[what]}.`)
  refuseDoubts(plan, values.end)
  if (values.apply) for (const each of plan.repairs) await repair(hand, each)
  const done = values.apply ? 'Done. Run it again.' : 'Nothing has changed. To make these repairs, add --apply.'
  return plan.repairs.every(({ what }) => what === 'leave') ? 'EC2 and the database agree.' : done
}

/** A wrong setting looks like servers that have ended, and ending their runs ends the machines. So a person must name each. */
function refuseDoubts({ doubts, doubted }: Plan, named: string[]): void {
  const left = doubted.filter((id) => !named.includes(id))
  if (!left.length) return
  throw new Error(`${doubts.join('\n')}
Nothing has changed. If the settings are right, look at each of these servers in the AWS console, and name those that may end:
${left.map((id) => `  --end ${id}`).join('\n')}`)
}
