import { emailTokens, users } from '../../../db/schema/accounts.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { confirmEmail } from '../../../src/server/accounts/confirmation.ts'
import { newEmailToken } from '../../../src/server/accounts/email-tokens.ts'
import { recordMailboxes } from '../../../src/server/accounts/mailboxes.ts'
import { PASSWORD_HASH, Person } from '../people.ts'
import type { World } from '../world.ts'
import { does, type Habit } from './habit.ts'

/** Signs up with two more addresses of their mailbox, and opens both links at once. Many closed an account and left a bill. */
export const signUpAgain: Habit = async (world, random, somebody, people) => {
  // Those who were there from the start had their trial before we kept mailboxes.
  await recordMailboxes({ ...world.ctx, db: world.database.db })
  // A trial leaves no bill.
  const { plans } = await world.database.read()
  const isOnTrial = ({ user }: Person) =>
    plans.some((one) => one.userId === user.id && one.subType === 'demo' && one.endedAt === null)
  const person = people.find((one) => one.closedAt === null && !isOnTrial(one)) ?? somebody
  if (random.chance(0.7)) {
    if ((await person.live()) === null) await does(world, person, 'start', () => person.start())
    await world.advance(random.between(5 * MINUTE_MS, 8 * HOUR_MS))
    await does(world, person, 'close', () => person.close())
    await world.advance(random.pick([MINUTE_MS, 10 * MINUTE_MS, DAY_MS, 33 * DAY_MS]))
  }
  const fresh = await Promise.all(['1', '2'].map((tag) => signUp(world, person, `${tag}_${people.length}`)))
  await world.together(fresh.map(({ open }) => open))
  // The answer may have been lost: they open the link again.
  for (let tries = 0; tries < 3; tries++) {
    await world.advance(MINUTE_MS)
    await world.together(fresh.map(({ open }) => open))
  }
  await world.watch()
  people.push(...fresh.map(({ again }) => again))
  for (const wait of [MINUTE_MS, 3 * HOUR_MS, DAY_MS]) {
    const { again } = random.pick(fresh)
    await does(world, again, 'start', () => again.start())
    await world.advance(wait)
    if (random.chance(0.4)) await does(world, person, 'pay bill', () => person.payBill(random))
  }
}

/** As far as the mailed link. */
async function signUp(world: World, { user, behavior, mailbox }: Person, tag: string) {
  const { db } = world.database
  const { token, hash } = newEmailToken()
  const now = world.clock.ms
  const name = `${user.name.split('+')[0]}+${tag}`
  const email = `${mailbox}+${tag}@EXAMPLE.com`.toLowerCase()
  const again = new Person(world, { id: `user_${name}`, name, email, admin: false }, behavior, now)
  await db.insert(users).values({ ...again.user, passwordHash: PASSWORD_HASH, createdAt: now })
  await db
    .insert(emailTokens)
    .values({ hash, userId: again.user.id, purpose: 'confirm', createdAt: now, expiresAt: now + DAY_MS })
  const open = {
    name: `${name} confirms`,
    run: async () => {
      const { hasTrial } = await confirmEmail(world.ctx, token)
      world.note(hasTrial ? 'confirmed with a trial' : 'confirmed without a trial')
    },
  }
  return { again, open }
}
