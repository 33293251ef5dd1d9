import type { Rule } from './rule.ts'

const HELD_MAIL = 'mail: We suspended your account'
const STOPPED_MAIL = 'mail: We stopped your server'

export const ACTS_RULES: Rule[] = [
  {
    name: 'acts-are-recorded',
    sentence: 'Each act of an operator is in the audit log once, and a form that is sent twice acts once.',
    broken: ({ world, rows }) => [
      ...world.acts.flatMap(({ id, act, subject }, i) => {
        const record = rows.audit.find((row) => row.id === id)
        return [
          ...(record?.act === act && (act.includes('plan') || record.subject === subject)
            ? []
            : [`${act} of ${subject} has no record ${id}`]),
          ...(world.acts.findIndex((one) => one.id === id) === i ? [] : [`${id} was accepted twice`]),
        ]
      }),
      ...rows.users.flatMap((user) =>
        ['suspend', 'lift'].flatMap((act) => {
          const done = rows.witnessed.filter(({ what, id }) => id === user.id && what === `act: ${act}`).length
          const known = rows.audit.filter((row) => row.act === act && row.userId === user.id).length
          return done === known ? [] : [`${act} of ${user.name}: done ${done} times, ${known} records`]
        }),
      ),
      ...rows.jobs.flatMap(({ kind, errorCode, runId }) => {
        const known = rows.audit.filter((row) => row.act === 'stop_run' && row.subject === runId).length
        const isOurs = kind === 'server_stop' && errorCode === 'stopped_by_us'
        return kind !== 'server_stop' || known === (isOurs ? 1 : 0) ? [] : [`${runId} has ${known} records of its stop`]
      }),
    ],
  },
  {
    name: 'people-hear-of-acts',
    sentence: 'People get one email when an operator suspends them, and one when an operator stops their server.',
    broken: ({ rows, people }) =>
      people.flatMap(({ user }) =>
        Object.entries({ suspend: HELD_MAIL, stop_run: STOPPED_MAIL }).flatMap(([act, mail]) => {
          const acts = rows.audit.filter((row) => row.act === act && row.userId === user.id).length
          const mails = rows.witnessed.filter(({ what, id }) => id === user.id && what === mail).length
          return acts === mails ? [] : [`${user.name} got ${mails} mails for ${acts} times ${act}`]
        }),
      ),
  },
  {
    name: 'stopped-by-us-is-not-billed-on',
    sentence: 'If an operator stops a server, its bill ends at that stop.',
    broken: ({ rows }) =>
      rows.audit.flatMap(({ act, subject, at }) => {
        const run = rows.runs.find(({ id }) => act === 'stop_run' && id === subject)
        return run &&
          (run.stopRequestedAt === null ||
            (run.meteredUntil ?? 0) > run.stopRequestedAt ||
            run.stopRequestedAt < at - 60_000)
          ? [`${subject} was stopped at ${at}, and is billed until ${run.meteredUntil}`]
          : []
      }),
  },
]
