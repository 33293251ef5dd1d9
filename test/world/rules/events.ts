import { DAY_MS, HOUR_MS } from '../../../src/domain/instant.ts'
import { SENDER } from '../alarms.ts'
import { isOverdue, iso, type Rule } from './rule.ts'

const SLACK_MS = 10_000

/**
 * The run, bill, or budget that an event is about. A newer endpoint hears of the same budget, with what it has cost by
 * then. Whoever moves an end is warned of the new one as well.
 */
function aboutOf(body: string): string {
  const { type, data } = JSON.parse(body)
  const { server, billing, budget, ends_at: endsAt = '' } = data
  const about = server?.id ?? billing?.id ?? `${budget?.period_start} ${budget?.dollars}`
  return `${type} ${about} ${endsAt}`
}

export const EVENTS_RULES: Rule[] = [
  {
    name: 'events-are-written',
    sentence: 'When a server answers or ends, and when a bill is written, each endpoint that is on gets one event.',
    broken: ({ rows }) => {
      const written = rows.witnessed.filter(({ what }) => what.startsWith('event: ')).map(({ what }) => what.slice(7))
      const due = rows.witnessed.filter(({ what }) => what.startsWith('event due: '))
      return due.flatMap(({ what }) => {
        const [endpoint = '', types = '', about = ''] = what.slice(11).split(' ')
        const events = types.split('|').map((type) => `${endpoint} evt_${type}_${about}`)
        const times = written.filter((one) => events.includes(one)).length
        return times === 1 ? [] : [`${times} events for ${what}`]
      })
    },
  },
  {
    name: 'events-are-delivered',
    sentence:
      'An event is delivered, or we give it up after a day of tries; then it waits for no more than 3 quiet hours.',
    broken: ({ world, rows, now }) => [
      ...rows.webhooks.flatMap(({ id, offAt, offBecause }) => {
        const mine = rows.deliveries.filter(({ webhookId }) => webhookId === id)
        const isTried = mine.some((one) => one.takenAt === null && (offAt ?? 0) >= one.createdAt + DAY_MS - SLACK_MS)
        // Old ones are forgotten.
        const isWhole = mine.length === rows.witnessed.filter(({ what }) => what.startsWith(`event: ${id} `)).length
        return isWhole && offAt !== null && offBecause === 'failing' && !isTried
          ? [`${id} was switched off before a day of tries`]
          : []
      }),
      ...rows.deliveries.flatMap(({ webhookId, eventId, userId, since, nextAt, takenAt, triedAt, attempts }) => {
        const webhook = rows.webhooks.find(({ id }) => id === webhookId)
        const arrived = world.receivers.posts.some(
          ({ url, id, taken }) => url === webhook?.url && id === eventId && taken,
        )
        const wasOff = rows.witnessed.some(({ what, id }) => id === webhookId && what === 'webhook off')
        const isGivenUp = nextAt === null && takenAt === null && !wasOff
        // Its last try comes at the end of that day, but a late alarm may find a newer event due, which is tried first.
        const end = since + DAY_MS
        const lateMs = () => world.alarms.heldUp(`${SENDER}${userId}`, end, now)
        return [
          ...(takenAt !== null && !arrived ? [`${eventId} counts as delivered to ${webhook?.url}, and never was`] : []),
          ...(isGivenUp && (triedAt ?? 0) < since + DAY_MS - SLACK_MS
            ? [`${eventId} of ${iso(since)} was given up at ${iso(triedAt)}, after ${attempts} tries`]
            : []),
          ...(nextAt !== null && webhook?.offAt === null && isOverdue(world, 'money', end + lateMs(), 3 * HOUR_MS)
            ? [`${eventId} of ${iso(since)} still waits`]
            : []),
        ]
      }),
    ],
  },
  {
    name: 'one-id-per-event',
    sentence: 'Each try of an event has the same webhook-id and the same body, and no other event has them.',
    broken: ({ world }) => {
      const { posts } = world.receivers
      const ids = Map.groupBy(posts, ({ url, body }) => `${url} ${aboutOf(body)}`)
      const bodies = Map.groupBy(posts, ({ id }) => id)
      const several = <T>(all: T[]) => new Set(all).size > 1
      return [
        ...[...ids].flatMap(([event, all]) => (several(all.map(({ id }) => id)) ? [`${event} has several ids`] : [])),
        ...[...bodies].flatMap(([id, all]) =>
          several(all.map(({ body }) => aboutOf(body))) ? [`${id} stands for several events`] : [],
        ),
      ]
    },
  },
]
