import { HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { START_LIMITS } from '../../../src/domain/start-limits.ts'
import { isOverdue, type Rule } from './rule.ts'

export const PEOPLE_RULES: Rule[] = [
  {
    name: 'nobody-starts-who-may-not',
    sentence:
      'Nobody starts a server with a closed or suspended account, an unpaid plan, or a debt of a closed account, or more often than the limits allow.',
    broken: ({ rows }) => [
      ...rows.witnessed.flatMap(({ what, id }) => (what.startsWith('start: ') ? [`${id} started: ${what}`] : [])),
      ...rows.users.flatMap((user) => {
        const counted = rows.runs
          .filter((run) => run.userId === user.id)
          .filter((run) => {
            const refused = rows.jobs.find((job) => job.runId === run.id && job.kind === 'server_start')?.errorCode
            const made = rows.launches.some((launch) => launch.runId === run.id && launch.instanceId !== null)
            // EC2 made no machine.
            return refused !== 'no_capacity' && (refused !== 'launch_refused' || made)
          })
          .map((run) => run.requestedAt)
        return START_LIMITS.flatMap(({ starts, ms }) =>
          counted.some((at) => counted.filter((other) => at - ms < other && other <= at).length > starts)
            ? [`${user.name} started more than ${starts} times in ${ms} ms`]
            : [],
        )
      }),
    ],
  },
  {
    name: 'closed-accounts-run-nothing',
    sentence: 'The server of a closed account is stopped within 5 quiet minutes.',
    broken: ({ world, rows }) =>
      rows.users.flatMap((user) =>
        rows.runs
          .filter((run) => run.userId === user.id && run.stopRequestedAt === null && run.endedAt === null)
          .filter(() => user.closedAt !== null && isOverdue(world, 'fleet', user.closedAt, 5 * MINUTE_MS))
          .map((run) => `${run.id} of ${user.name}`),
      ),
  },
  {
    name: 'keys-work-once',
    sentence: 'A call repeated with its Idempotency-Key within a day does its work once, and gets the same answer.',
    broken: ({ people }) =>
      people.flatMap(({ user, contradictions }) => contradictions.map((one) => `${user.name}: ${one}`)),
  },
  {
    name: 'one-mail-per-cause',
    sentence:
      'We send one email for each suspension, warning, and closing, and every email leaves within 2 quiet hours.',
    broken: ({ world, rows, people, memory }) => [
      ...people.flatMap(({ user }) => {
        const witnessed = (what: string) =>
          rows.witnessed.filter((one) => one.id === user.id && one.what === what).length
        const count = (subject: RegExp) =>
          rows.witnessed.filter(({ what, id }) => id === user.id && what.startsWith('mail: ') && subject.test(what))
            .length
        const row = rows.users.find(({ id }) => id === user.id)
        const closings = count(/closed/i)
        const [suspensions, warnings] = [witnessed('suspension'), witnessed('warning')]
        return [
          ...(closings !== (row?.closedAt === null ? 0 : 1)
            ? [`${user.name} got ${closings} mails of the closing`]
            : []),
          ...(count(/^mail: Account suspended/) !== suspensions
            ? [`${user.name} got ${count(/^mail: Account suspended/)} mails for ${suspensions} suspensions`]
            : []),
          ...(count(/stop your server/i) !== warnings
            ? [`${user.name} got ${count(/stop your server/i)} warnings instead of ${warnings}`]
            : []),
        ]
      }),
      ...rows.outbox.flatMap((mail) => {
        const since = memory.since(`unsent mail ${mail.id}`, mail.sentAt === null)
        return since !== null && isOverdue(world, 'money', since, 2 * HOUR_MS, 4) ? [`${mail.subject} is not sent`] : []
      }),
      ...rows.witnessed.flatMap(({ what }) => (what.startsWith('sent twice: ') ? [what] : [])),
      ...(rows.outbox.filter(({ sentAt }) => sentAt !== null).length > world.sent.length
        ? [`${rows.outbox.length} mails count as sent, ${world.sent.length} were`]
        : []),
    ],
  },
]
