import { and, desc, eq } from 'drizzle-orm'
import { signIns, totps } from '../../../db/schema/accounts.ts'
import { outbox } from '../../../db/schema/mail.ts'
import { MINUTE_MS } from '../../../src/domain/instant.ts'
import { createApiToken } from '../../../src/server/accounts/api-tokens.ts'
import { closeAccount } from '../../../src/server/accounts/close-account.ts'
import { answerChallenge } from '../../../src/server/accounts/credentials/challenges.ts'
import { approveDeviceLogin, requestDeviceLogin } from '../../../src/server/accounts/device-logins.ts'
import type { CurrentSignIn } from '../../../src/server/accounts/live-sign-ins.ts'
import { startPasskey } from '../../../src/server/accounts/passkeys.ts'
import { requestPasswordReset, resetPassword } from '../../../src/server/accounts/password-reset.ts'
import { updateProfile } from '../../../src/server/accounts/profile.ts'
import { confirmTotp, removeTotp, renewRecoveryCodes, startTotp } from '../../../src/server/accounts/second-factors.ts'
import { signIn } from '../../../src/server/accounts/sign-in.ts'
import { confirmPassword } from '../../../src/server/operations/operator.ts'
import { totpAt } from '../../../testing/people/authenticator.ts'
import { PASSWORD, type Person } from '../people.ts'
import type { World } from '../world.ts'
import { does, type Habit, task } from './habit.ts'

export const THIEF = 'thief'

/** Someone knows the password, sees codes over a shoulder, reads the mailbox, and finds an open browser. Their owner adds a second factor and uses it. */
export const stealThePassword: Habit = async (world, random, person) => {
  for (let tries = 0; tries < 3 && !(await hasFactor(world, person)); tries++) await addFactor(world, person)
  if (!(await hasFactor(world, person))) return
  world.note('second factor added')
  for (let times = random.between(2, 6); times > 0; times--) {
    await world.advance(random.pick([1_000, 30_000, 2 * MINUTE_MS]))
    const name = random.pick(Object.keys(THEFTS))
    const theft = THEFTS[name] as Theft
    const seen = random.pick(['', '000000', ...person.seenCodes.slice(-2)])
    const ways = { 'a code': signInWithCode, 'a recovery code': signInWithRecoveryCode }
    const way = random.pick(Object.keys(ways) as (keyof typeof ways)[])
    await world.together([
      task(person, `signs in with ${way}`, () => ways[way](world, person)),
      task(person, `thief ${name}`, async () => {
        if (!(await theft(world, person, seen))) return
        world.thefts.push(`${person.user.name}: ${name}`)
      }),
    ])
    await world.watch()
  }
}

async function hasFactor({ database }: World, { user }: Person): Promise<boolean> {
  const [row] = await database.db.select().from(totps).where(eq(totps.userId, user.id))
  return typeof row?.confirmedAt === 'number'
}

/** With the right password. A challenge, or a sign-in. */
function enter({ ctx }: World, { user }: Person, who: string) {
  const input = { email: user.email, password: PASSWORD }
  return signIn({ ...ctx, browser: who }, input, device(who), { address: null, knownDevice: null })
}

const device = (who: string) => ({ userAgent: who, address: null })
const signedInAs = ({ user }: Person, id: string, hasFactor: boolean) => ({ id, user, hasFactor }) as CurrentSignIn

/** The thief signs in at the same moment. */
async function addFactor(world: World, person: Person): Promise<void> {
  let current = null as CurrentSignIn | null
  await does(world, person, 'starts a factor', async () => {
    const entered = await enter(world, person, 'owner')
    if ('challenge' in entered) return
    current = signedInAs(person, entered.signIn.id, false)
    person.secret = (await startTotp(world.ctx, current, { current_password: PASSWORD })).secret
  })
  const { secret } = person
  if (!current || secret === null) return
  const started = current
  const code = totpAt(secret, world.clock.ms)
  await world.together([
    task(person, 'adds a factor', async () => {
      person.recoveryCodes = (await confirmTotp(world.ctx, started, code)).codes
      person.seenCodes.push(code)
    }),
    task(person, 'thief signs in meanwhile', async () => {
      if ('signIn' in (await enter(world, person, THIEF))) world.note('thief signed in before the factor')
    }),
  ])
  await world.watch()
}

async function signInWithCode(world: World, person: Person): Promise<void> {
  const code = totpAt(person.secret ?? '', world.clock.ms)
  await answer(world, person, 'owner', code)
  person.seenCodes.push(code)
  world.note('signed in with a code')
}

async function signInWithRecoveryCode(world: World, person: Person): Promise<void> {
  const code = person.recoveryCodes.pop() ?? ''
  await answer(world, person, 'owner', code)
  person.seenCodes.push(code)
  world.note('signed in with a recovery code')
}

async function answer(world: World, person: Person, who: string, totp: string): Promise<boolean> {
  const entered = await enter(world, person, who)
  if ('signIn' in entered) return true
  const attempt = { address: null, knownDevice: () => null }
  const given = { challenge: entered.challenge, totp }
  await answerChallenge({ ...world.ctx, browser: who }, given, device(who), attempt)
  return true
}

/** Whether it opened something. @param seen a code that was used before, a guess, or none */
type Theft = (world: World, person: Person, seen: string) => Promise<boolean>

/** In a browser that is still open, with the password and whatever code they have. */
function inOpenBrowser(
  act: (world: World, current: CurrentSignIn, proof: { current_password: string; totp: string }) => Promise<unknown>,
): Theft {
  return async (world, person, totp) => {
    const { db } = world.database
    const [open] = await db.select().from(signIns).where(eq(signIns.userId, person.user.id)).limit(1)
    await act(world, signedInAs(person, open?.id ?? 'in_open', true), { current_password: PASSWORD, totp })
    return true
  }
}

/** By a link in the mailbox, which they read as well. The new password is the old one, so that the others still know it. */
async function resetByEmail(world: World, { user: { email } }: Person): Promise<void> {
  const { ctx, database } = world
  await requestPasswordReset(ctx, { email }, { address: null })
  const theirs = and(eq(outbox.recipient, email), eq(outbox.subject, 'Choose a new password'))
  const [mail] = await database.db.select().from(outbox).where(theirs).orderBy(desc(outbox.createdAt)).limit(1)
  const token = /reset_password_token=([\w-]+)/.exec(mail?.text ?? '')?.[1] ?? ''
  await resetPassword(ctx, { reset_password_token: token, password: PASSWORD, password_confirmation: PASSWORD })
  world.note('thief reset the password')
}

const THEFTS: Record<string, Theft> = {
  'resets the password, and signs in': async (world, person) => {
    await resetByEmail(world, person)
    return 'signIn' in (await enter(world, person, THIEF))
  },
  'approves a command line': inOpenBrowser(async ({ ctx }, { user }, proof) => {
    const asked = { scope: 'operate', name: 'Laptop', address: null } as const
    const { userCode } = await requestDeviceLogin(ctx, { address: null }, asked)
    await approveDeviceLogin(ctx, user, { userCode, name: `CLI ${ctx.now()}`, ...proof })
  }),
  'signs in': async (world, person) => 'signIn' in (await enter(world, person, THIEF)),
  'answers with a code': (world, person, seen) => answer(world, person, THIEF, seen),
  'makes a token': inOpenBrowser(({ ctx }, { user }, proof) =>
    createApiToken(ctx, user, { name: `Token ${ctx.now()}`, scope: 'operate', days: 1, ...proof }),
  ),
  'removes the factor': inOpenBrowser(({ ctx }, { user }, proof) => removeTotp(ctx, user, proof)),
  'makes new codes': inOpenBrowser(({ ctx }, { user }, proof) => renewRecoveryCodes(ctx, user, proof)),
  'adds a passkey': inOpenBrowser(({ ctx }, current, proof) => startPasskey(ctx, current, proof)),
  'sets a password': inOpenBrowser(({ ctx }, current, proof) =>
    updateProfile(ctx, current, {
      name: current.user.name,
      password: PASSWORD,
      password_confirmation: PASSWORD,
      ...proof,
    }),
  ),
  'closes the account': inOpenBrowser(({ ctx }, { user }, proof) => closeAccount(ctx, user, proof)),
  'opens the console': inOpenBrowser(({ ctx }, current, proof) =>
    confirmPassword({ ctx, admin: { ...current.user, admin: true } }, current, proof),
  ),
}
