import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { SHUTDOWN_MS } from '../files/machine.ts'
import { isOverdue, iso, type Rule, type View } from './rule.ts'

/** What the machines saw. */
const seen = ({ world }: View, rule: string) =>
  world.files?.contradictions.flatMap((one) => (one.rule === rule ? [one.seen] : [])) ?? []

export const FILES_RULES: Rule[] = [
  {
    name: 'files-stay',
    sentence:
      'What was written back before a stop is there at the next start, unless its owner removed it, closed the account, or let the plan end.',
    broken: (view) => [
      ...seen(view, 'files-stay'),
      ...view.people.flatMap(({ user }) => {
        const { files } = view.world
        const found = files?.inBucket(user.id)
        return [...(files?.kept.of(user.id) ?? [])].flatMap(([path, size]) =>
          found?.get(path) === size ? [] : [`${path} of ${user.name} has ${found?.get(path)}, not ${size}`],
        )
      }),
    ],
  },
  {
    name: 'files-are-saved-at-a-stop',
    sentence: 'In quiet times, a machine that we terminate has written everything back before it ends.',
    broken: ({ world, rows }) =>
      world.files?.lost.flatMap(({ machine, instance }) => {
        const { id, shutDownAt, terminatedFrom, stateReason } = instance
        if (shutDownAt === null || terminatedFrom === null || stateReason !== 'Client.UserInitiatedShutdown') return []
        const run = rows.runs.find(({ instanceId }) => instanceId === id)
        const hadTime = terminatedFrom - shutDownAt >= SHUTDOWN_MS
        const isQuiet = world.calm.from('fleet', shutDownAt) === shutDownAt
        return run && (run.endedAt ?? Infinity) >= terminatedFrom && hadTime && isQuiet
          ? [`${id} lost ${[...machine.unsaved.keys()]}`]
          : []
      }) ?? [],
  },
  {
    name: 'files-are-their-owners',
    sentence: "A machine gets credentials for its own user's files and no others, and nobody gets them in its place.",
    broken: (view) => [
      ...seen(view, 'files-are-their-owners'),
      ...(view.world.files?.grants.flatMap(({ instance, Prefix }) => {
        const folder = view.rows.folders.find(({ userId }) => userId === instance.tags.user)
        return folder && Prefix === `${folder.prefix}/files/` ? [] : [`${instance.id} got ${Prefix}`]
      }) ?? []),
    ],
  },
  {
    name: 'credentials-end-with-the-run',
    sentence: 'A machine gets credentials only until its run ends, and each for at most 30 minutes.',
    broken: ({ world, rows }) =>
      world.files?.grants.flatMap(({ instance, askedAt, answeredAt, endsAt }) => {
        const run = rows.runs.find(({ id }) => id === instance.tags.session)
        const isLate = run === undefined || (run.endedAt ?? Infinity) <= askedAt
        return isLate || endsAt > answeredAt + 30 * MINUTE_MS
          ? [`${instance.id} asked ${iso(askedAt)} until ${iso(endsAt)}, and ended ${iso(run?.endedAt ?? null)}`]
          : []
      }) ?? [],
  },
  {
    name: 'full-files-are-read-only',
    sentence:
      'A machine that starts beside full files, or without a paid plan, may only read them, and any other may write.',
    broken: (view) => seen(view, 'full-files-are-read-only'),
  },
  {
    name: 'used-is-what-the-bucket-holds',
    sentence:
      'What we count is what the bucket holds, within 30 quiet minutes of the last change, and at once if nothing changed since the count.',
    broken: ({ world, rows }) =>
      rows.folders.flatMap((folder) => {
        const { userId, prefix, usedBytes, countedAt, countBegunAt } = folder
        if (!world.files || rows.removals.some((row) => row.userId === userId && row.doneAt === null)) return []
        const held = [...world.files.inBucket(userId).values()].reduce((sum, size) => sum + size, 0)
        const last = world.files.changedAt.get(prefix) ?? 0
        const isCounted = countedAt !== null && countedAt > last && countBegunAt === null
        return held !== usedBytes && (isCounted || isOverdue(world, 'money', last, 30 * MINUTE_MS))
          ? [`${userId} has ${held} since ${iso(last)}, counted ${usedBytes} ${iso(countedAt)}`]
          : []
      }),
  },
  {
    name: 'deleted-files-are-gone',
    sentence: 'What was below a folder when its deletion was accepted is gone within 30 quiet minutes.',
    broken: (view) =>
      view.rows.removals.flatMap(({ id, userId, place, acceptedAt, doneAt, stuckKey }) => {
        const folder = view.rows.folders.find((one) => one.userId === userId)
        if (stuckKey !== null) return [`${id} gave up at ${stuckKey}`]
        if (doneAt === null && !isOverdue(view.world, 'money', acceptedAt, 30 * MINUTE_MS)) return []
        const left = [...(view.world.files?.memory.times() ?? [])].find(
          ([key, at]) => key.startsWith(`${folder?.prefix}/${place}`) && at < acceptedAt,
        )
        return left ? [`${left[0]} of ${iso(left[1])}, deleted ${iso(acceptedAt)}`] : []
      }),
  },
  {
    name: 'files-outlast-their-plan',
    sentence:
      'Files without a paid plan are deleted no earlier than 30 days after the plan ended, and 30 after the first email about it.',
    broken: ({ rows }) => {
      const mails = rows.witnessed.flatMap(({ what }) => {
        const [, at, why, days, of] = /^mailed (\d+) files-(end|unpaid):(\d+):(.+)$/.exec(what) ?? []
        return of === undefined ? [] : [{ at: Number(at), why, days, of }]
      })
      return mails.flatMap(({ at, why, days, of }) => {
        if (days !== '0') return []
        const first = mails.find((one) => one.of === of && one.days === '30')
        // An unpaid one stands, and may be paid by now.
        const plans = rows.plans.filter(
          ({ userId, anchor }) => why === 'end' && of.startsWith(`${userId}:`) && anchor < at,
        )
        // A plan whose first payment never came ends where it began.
        const ends = plans.flatMap(({ anchor, endedAt, cancelAt }) =>
          endedAt !== null && endedAt <= anchor ? [] : Math.min(endedAt ?? Infinity, cancelAt ?? Infinity),
        )
        const since = Math.max(first?.at ?? Infinity, ...ends)
        return at - since >= 30 * DAY_MS - MINUTE_MS
          ? []
          : [`${of} deleted ${iso(at)}, without a plan since ${iso(since)}`]
      })
    },
  },
  {
    name: 'files-fit-their-plan',
    sentence:
      'What is stored beyond a paid plan, also after a larger one, is gone after 9 quiet days, however late they pay.',
    broken: ({ world }) =>
      [...(world.files?.over ?? [])].flatMap(([userId, { paidSince, dueAt }]) =>
        // A look emails again, and one a day later deletes; one that comes a moment early does nothing.
        paidSince !== null && dueAt !== null && world.calm.roundsSince('money', Math.max(paidSince, dueAt), DAY_MS) >= 3
          ? [`${userId} has more than their plan, paid since ${iso(paidSince)}, which was due at ${iso(dueAt)}`]
          : [],
      ),
  },
  {
    name: 'closed-accounts-keep-no-files',
    sentence: 'Three quiet hours after an account is closed, the bucket has nothing of it.',
    broken: ({ world, rows }) =>
      rows.folders.flatMap(({ userId, prefix }) => {
        const { closedAt } = rows.users.find(({ id }) => id === userId) ?? {}
        const left = closedAt && world.files?.memory.keys().find((key) => key.startsWith(`${prefix}/`))
        return left && isOverdue(world, 'money', closedAt, 3 * HOUR_MS) ? [`${left} of ${userId}`] : []
      }),
  },
]
