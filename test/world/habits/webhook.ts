import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { EVENT_TYPES } from '../../../src/domain/webhook.ts'
import { createWebhook, deleteWebhook, sendAgain, turnOnWebhook } from '../../../src/server/accounts/webhooks.ts'
import type { Random } from '../../../testing/random.ts'
import { PASSWORD, type Person } from '../people.ts'
import type { World } from '../world.ts'
import { does, type Habit } from './habit.ts'

/** Has events sent to endpoints that work, fail, and come back, and deletes some of them. */
export const receiveEvents: Habit = async (world, random, person) => {
  const { users } = await world.database.read()
  // Closing has signed them out.
  if (users.some(({ id, closedAt }) => id === person.user.id && closedAt !== null)) return
  for (let n = random.between(1, 3); n > 0; n--) await addEndpoint(world, random, person)
  for (let times = random.between(1, 4); times > 0; times--) {
    await does(world, person, 'start', () => person.start())
    await world.advance(MINUTE_MS)
    for (const url of await urlsOf(world, person)) world.receivers.change(url, random)
    const run = await person.live()
    const instance = world.ec2.running().find(({ id }) => id === run?.instanceId)
    if (instance && random.chance(0.3)) world.ec2.vanish(instance.id)
    else await does(world, person, 'stop', () => person.stop())
    await world.advance(3 * MINUTE_MS)
    await tend(world, random, person)
    await world.advance(random.pick([MINUTE_MS, 2 * HOUR_MS, 7 * HOUR_MS, 25 * HOUR_MS, 3 * DAY_MS]))
  }
}

async function addEndpoint(world: World, random: Random, person: Person): Promise<void> {
  const url = `https://hooks.example.com/${person.user.name}/${random.between(0, 4)}`
  const input = { url, events: [...EVENT_TYPES], current_password: PASSWORD }
  await does(world, person, 'webhook', () => createWebhook(world.ctx, person.user, input))
}

/** Looks at an endpoint and does something about it. */
async function tend(world: World, random: Random, { user }: Person): Promise<void> {
  const { webhooks, deliveries } = await world.database.read()
  const webhook = random.pick(webhooks.filter(({ userId }) => userId === user.id))
  if (!webhook) return
  const { id, offAt, url } = webhook
  const event = random.pick(deliveries.filter(({ webhookId }) => webhookId === id))
  const chance = random.next()
  const [name, run] =
    offAt !== null
      ? (['turn on', () => turnOnWebhook(world.ctx, user.id, id)] as const)
      : chance < 0.15
        ? (['delete webhook', () => deleteWebhook(world.ctx, user, id)] as const)
        : (['send again', () => event && sendAgain(world.ctx, user.id, id, event.eventId)] as const)
  if (offAt === null && chance > 0.6) return
  world.receivers.change(url, random)
  await world.together([{ name: `${user.name} ${name}`, run: async () => run() }])
}

async function urlsOf(world: World, { user }: Person): Promise<string[]> {
  const { webhooks } = await world.database.read()
  return webhooks.filter(({ userId }) => userId === user.id).map(({ url }) => url)
}
