import { like, sql } from 'drizzle-orm'
import { openDatabase } from '../../db/client.ts'
import { apiTokens, recoveryCodes, refusedSignIns, signIns, totps, users } from '../../db/schema/accounts.ts'
import { bills, invoices, plans } from '../../db/schema/billing.ts'
import { webhookDeliveries, webhooks } from '../../db/schema/events.ts'
import { environments, jobs, places, runs, secrets, serverRequests } from '../../db/schema/fleet.ts'
import { line } from '../../db/schema/line.ts'
import { notices } from '../../db/schema/mail.ts'
import { contactMessages } from '../../db/schema/operations.ts'
import type { Stack } from '../../dev/stack.ts'
import type { NoticeKind } from '../../src/domain/notice.ts'
import { EVENT_TYPES } from '../../src/domain/webhook.ts'
import { newId } from '../../src/server/crypto/id.ts'
import { signatureOf } from '../../src/server/crypto/keys.ts'
import { runLinkPath } from '../../src/server/crypto/run-links.ts'
import { offPath } from '../../src/server/mail/off-link.ts'
import { keepRuns } from '../stack/many-instances.ts'
import { newPerson } from './client.ts'
import { newSignedInPerson, type Person, start, untilServer } from './signed-in-person.ts'

export type Role = 'newcomer' | 'starter' | 'runner' | 'customer' | 'debtor' | 'admin' | 'waiter' | 'called' | 'buyer'
export type Cast = {
  cookie(role: Role): string
  userId(role: Role): string
  /** The paths in the emails about the runner's server. */
  linkTo: (act: 'extend' | 'stop') => string
  /** The path in their other emails that turns these off. */
  linkOff: string
  /** Who signs in with a second factor. */
  buyerEmail: string
  /** Keeps every place taken while the work runs. */
  fillTheFleet(work: () => Promise<void>): Promise<void>
}

const NO_WISHES = {
  name: null,
  stopAfterMs: null,
  maxGpus: null,
  environment: null,
  vehicle: null,
  parameters: {},
  untilExit: false,
  command: null,
  secrets: [],
}
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * 60 * MINUTE

/**
 * People in every situation that has its own picture, written to the stack's database. `runner` has a server that
 * really runs.
 */
export async function gatherCast({ url, services }: Stack): Promise<Cast> {
  const databaseUrl = services.vars.LIBSQL_URL as string
  const db = openDatabase(databaseUrl)
  const person = () => newSignedInPerson({ url, databaseUrl, secretKey: services.vars.SECRET_KEY as string })
  const rename = (id: string, set: Partial<typeof users.$inferInsert>) =>
    db.update(users).set(set).where(sql`id = ${id}`)
  const buyer = await newBuyer(url, services.vars.PLANS_FOR_SALE === 'true')
  const cast: Record<Role, Pick<Person, 'id' | 'cookie'>> & Record<'runner', Person> = {
    buyer: { id: buyer.id, cookie: `sign_in=${buyer.cookies.get('sign_in')}` },
    newcomer: await person(),
    starter: await person(),
    runner: await person(),
    customer: await person(),
    debtor: await person(),
    admin: await person(),
    waiter: await person(),
    called: await person(),
  }
  const now = Math.floor(Date.now() / 1000) * 1000

  await start(cast.runner)
  await untilServer(cast.runner, 'active')
  await db
    .update(runs)
    .set({ endsAt: now + 20 * MINUTE, name: 'محاكاة الميناء' })
    .where(sql`user_id = ${cast.runner.id}`)
  const [live] = await db.select({ id: runs.id }).from(runs).where(sql`user_id = ${cast.runner.id}`)
  await run(cast.runner.id, { at: now - 3 * DAY, minutes: 12 })

  const pending = await run(cast.starter.id, { at: now - 6_000, minutes: null })
  await db.insert(jobs).values({
    id: newId('job'),
    userId: cast.starter.id,
    runId: pending,
    kind: 'server_start',
    status: 'running',
    progress: 'Booting the server.',
    runAt: now + 60 * MINUTE,
    createdAt: now - 6_000,
    updatedAt: now - 2_000,
  })

  for (const role of ['customer', 'debtor'] as const) await history(cast[role].id, role === 'debtor')
  await rename(cast.customer.id, { name: 'Katherine Johnson-Montgomery', email: 'katherine@example.com' })
  await rename(cast.debtor.id, { name: 'Max', suspendedAt: now - DAY })
  await rename(cast.admin.id, { name: 'Admin', admin: true })
  // However slow the machine is, the admin needn't confirm the password again.
  await db
    .update(signIns)
    .set({ passwordAt: now + DAY })
    .where(sql`user_id = ${cast.admin.id}`)
  await db.insert(signIns).values({
    id: newId('in'),
    userId: cast.customer.id,
    createdAt: now - 2 * DAY,
    lastSeenAt: now - 3 * MINUTE,
    expiresAt: now + DAY,
    userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Safari/604.1',
    address: '203.0.113.7',
    newBrowser: true,
  })
  const refused = { userId: cast.customer.id, lastAt: now - MINUTE, userAgent: 'curl/8.5.0', address: '2001:db8::7' }
  await db.insert(refusedSignIns).values([
    { ...refused, hour: now - HOUR, wrong: 'password', count: 12 },
    { ...refused, hour: now - HOUR, wrong: 'code', count: 1 },
  ])

  const token = {
    userId: cast.customer.id,
    scope: 'read' as const,
    createdAt: now - 20 * DAY,
    expiresAt: now + 70 * DAY,
  }
  await db.insert(apiTokens).values([
    { ...token, id: newId('tok'), hash: 'grafana', name: 'Grafana' },
    {
      ...token,
      id: newId('tok'),
      hash: 'ci',
      name: 'GitHub Actions',
      scope: 'operate',
      lastUsedAt: now - 3 * MINUTE,
      lastAddress: '2001:db8:85a3:8d3:1319:8a2e:370:7348',
    },
  ])

  const totp = {
    sealed: 'none',
    signInId: 'none',
    createdAt: now - 9 * DAY,
    confirmedAt: now - 9 * DAY,
    lastUsedAt: now - 3 * MINUTE,
  }
  await db.insert(totps).values([cast.debtor, cast.buyer].map(({ id }) => ({ ...totp, userId: id })))
  await db
    .insert(recoveryCodes)
    .values([1, 2, 3].map((code) => ({ userId: cast.debtor.id, hash: `code ${code}`, createdAt: now - 9 * DAY })))

  const secret = { userId: cast.customer.id, sealed: 'none', createdAt: now - 9 * DAY }
  await db.insert(secrets).values([
    { ...secret, name: 'LICENSE_KEY', updatedAt: now - 9 * DAY },
    {
      ...secret,
      name: 'A_SECRET_WITH_THE_LONGEST_NAME_THAT_AN_ACCOUNT_CAN_GIVE_TO_ONE_K',
      updatedAt: now - 3 * MINUTE,
    },
    { ...secret, name: 'ghcr.io', username: 'ada', updatedAt: now - 9 * DAY },
    {
      ...secret,
      name: 'artifacts.a-company-with-a-long-name.example.com:5000',
      username: 'robot$proving-ground+pull-only-for-every-simulator-image',
      updatedAt: now - 3 * MINUTE,
    },
  ])

  const hook = {
    userId: cast.customer.id,
    createdAt: now - 9 * DAY,
    secrets: [{ sealed: 'none', endsAt: now + DAY / 2 }],
  }
  await db.insert(webhooks).values([
    {
      ...hook,
      id: 'whk_ci',
      url: 'https://ci.example.com/hooks/proving-ground?team=flight-control&environment=staging',
      events: [...EVENT_TYPES],
      answeredAt: now - 8 * MINUTE,
    },
    {
      ...hook,
      id: 'whk_off',
      url: 'https://chat.example.com/hooks',
      events: ['server.failed', 'bill.closed'],
      offAt: now - DAY,
      offBecause: 'failing',
    },
  ])
  const delivery = {
    webhookId: 'whk_ci',
    userId: cast.customer.id,
    payload: JSON.stringify({ type: 'server.running', timestamp: new Date(now).toISOString(), data: { server: {} } }),
    triedAt: now - 8 * MINUTE,
  }
  await db.insert(webhookDeliveries).values(
    [
      { type: 'server.failed' as const, attempts: 0, nextAt: now + 60 * MINUTE },
      {
        type: 'server.stopped' as const,
        attempts: 3,
        nextAt: now + 18 * MINUTE,
        status: 503,
        answer: 'Service Unavailable',
      },
      { type: 'server.running' as const, attempts: 1, takenAt: now - 8 * MINUTE, status: 200, answer: '{"ok":true}' },
      { type: 'bill.closed' as const, attempts: 11, status: null, answer: 'No answer within 10 seconds.' },
      { type: 'webhook.test' as const, attempts: 1, takenAt: now - 9 * DAY, status: 204, answer: '' },
    ].map((row, i) => {
      const at = now - i * 9 * MINUTE
      return {
        ...delivery,
        ...row,
        eventId: `evt_server_running_ses_Q6ABAjf9QvuzgWy3ce3u${i}`,
        createdAt: at,
        since: at,
      }
    }),
  )

  await db.insert(environments).values(
    [`ghcr.io/katherine/harbor@sha256:${'3f'.repeat(32)}`, 'docker.io/katherine/shipyard:latest'].map((image, i) => ({
      id: newId('env'),
      userId: cast.customer.id,
      name: ['Harbor', 'Shipyard-At-Night'][i] as string,
      description: 'Your own image.',
      image,
      plans: ['premium' as const],
      position: i,
      createdAt: now - i * DAY,
    })),
  )

  const news = {
    ending: ['Your server stops at 17:20 UTC', 'It has reached the end that you set. Save what you need to /data.'],
    hours: ['5 hours left in your plan', 'You have used 35 of 40 hours this month. After that, an hour is $1.75.'],
    webhook: [
      'We switched off a webhook',
      'https://ci.example.com/hooks/proving-ground?team=flight-control&environment=staging has not answered for 3 days.',
    ],
    bill: ['Payment received', 'We received $71.40 for Oct 25 – Nov 24.'],
  } satisfies Partial<Record<NoticeKind, [string, string]>>
  await db.insert(notices).values(
    Object.entries(news).map(([kind, [title = '', text = '']], i) => ({
      id: newId('ntc'),
      userId: cast.customer.id,
      kind: kind as NoticeKind,
      at: now - i * 9 * HOUR - 20 * MINUTE,
      title,
      text,
      ...(kind === 'hours' ? {} : { link: '/servers', label: 'See it' }),
      readAt: i > 1 ? now : null,
    })),
  )

  // There is no place of this size, so nobody's turn comes.
  const waits = { gpus: 8, trial: true, start: false, wishes: NO_WISHES, joinedAt: now - 9 * MINUTE }
  const held = { gpus: 1, position: 0, givenAt: now - MINUTE, heldUntil: now + HOUR }
  await db.insert(line).values([
    { ...waits, userId: cast.waiter.id, queuedAt: now - 9 * MINUTE, position: 3, p50: 12 * 60, p90: 47 * 60 },
    { ...waits, ...held, userId: cast.called.id, queuedAt: now - 9 * MINUTE },
  ])
  await db.update(places).set({ reservedBy: cast.called.id }).where(sql`id = 'srv_place-11'`)

  await keepRuns(databaseUrl, 12, now)
  await db.insert(contactMessages).values({
    id: newId('msg'),
    name: 'Wing Commander',
    email: 'wing@example.com',
    source: 'A colleague',
    message: 'We fly 40 vehicles at once.\n\nCan each have a GPU of its own, and all of them one clock?',
    createdAt: now - 5 * 60 * MINUTE,
  })
  await db.insert(serverRequests).values({ id: newId('req'), userId: cast.customer.id, createdAt: now - 40 * MINUTE })

  async function run(userId: string, { at, minutes, error }: { at: number; minutes: number | null; error?: string }) {
    const id = newId('ses')
    const end = minutes === null ? null : at + minutes * MINUTE
    await db.insert(runs).values({
      id,
      userId,
      placeId: 'srv_place-1',
      instanceType: 'g6.4xlarge',
      requestedAt: at,
      runningAt: end === null || error ? null : at + 4_000,
      billedFrom: end === null || error ? null : at + 4_000,
      confirmedAt: end,
      stopRequestedAt: end,
      meteredUntil: end,
      endedAt: end,
      endedBecause: end === null ? null : error ? 'failure' : 'you',
      errorCode: error ? 'timeout' : null,
      errorMessage: error ?? null,
    })
    return id
  }

  async function history(userId: string, overdue: boolean) {
    const anchor = now - 95 * DAY
    await db
      .update(plans)
      .set({ planType: 'premium', subType: 'paid', status: 'active', hours: 30, anchor, createdAt: anchor })
      .where(sql`user_id = ${userId}`)
    await db
      .update(users)
      .set({ createdAt: anchor, billedUntil: now - 5 * DAY })
      .where(sql`id = ${userId}`)
    // The last closed month has those that ended 5 days ago or earlier.
    let lastMonth = 0
    for (let i = 0; i < 12; i++) {
      const minutes = 60 + i * 40
      await run(userId, { at: now - i * 2.3 * DAY - 9 * 60 * MINUTE, minutes })
      if (i * 2.3 >= 5) lastMonth += minutes * 60 - 4
    }
    await run(userId, {
      at: now - 9 * DAY,
      minutes: 1,
      error: 'The server did not come up within 10 minutes. Nothing was billed.',
    })
    for (let i = 0; i < 3; i++) {
      const periodEnd = now - (5 + i * 30) * DAY
      const id = newId('bill')
      const record = { id, userId, periodStart: periodEnd - 30 * DAY, periodEnd, planType: 'premium' as const }
      const seconds = [lastMonth, 92_120, 113_007][i] as number
      const amountCents = Math.round((Math.max(0, seconds - 108_000) * 4861) / 1e5)
      const open = overdue && i === 0
      await db.insert(bills).values({
        ...record,
        includedHours: 30,
        trial: false,
        seconds,
        amountCents,
        createdAt: periodEnd,
      })
      await db.insert(invoices).values({
        billId: id,
        userId,
        step: 'sent',
        stripeInvoiceId: `in_${id}`,
        status: open ? 'open' : 'paid',
        dueAt: open ? now - 2 * DAY : periodEnd + 14 * DAY,
        paidAt: open ? null : periodEnd + 3 * DAY,
        hostedUrl: 'https://invoice.stripe.example/in_1',
        remainingCents: open ? amountCents : 0,
        createdAt: periodEnd,
      })
    }
  }

  const secretKey = services.vars.SECRET_KEY as string
  const offKey = signatureOf(secretKey, 'mail-off', JSON.stringify([cast.runner.id, 'ending']))
  return {
    cookie: (role) => cast[role].cookie,
    userId: (role) => cast[role].id,
    linkOff: offPath({ of: cast.runner.id, kind: 'ending', key: offKey.toString('base64url') }),
    buyerEmail: buyer.email,
    linkTo: (act) => runLinkPath(services.vars.SECRET_KEY as string, act, live?.id ?? ''),
    async fillTheFleet(work) {
      await db.update(places).set({ reservedBy: sql`'ses_none-' || id` }).where(sql`reserved_by IS NULL`)
      await work()
      await db.update(places).set({ reservedBy: null }).where(like(places.reservedBy, 'ses_none-%'))
    },
  }
}

/** Someone who paid for Basic at Stripe, if plans are for sale. */
async function newBuyer(url: string, forSale: boolean) {
  const buyer = await newPerson(url, 'Dorothy')
  if (!forSale) return buyer
  const { body } = await buyer.post('/api/v1/subscriptions/create_checkout_session', { plan_type: 'basic' })
  await fetch(body.url, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ card: 'good' }) })
  await buyer.get('/account_overview?checkout=done')
  return buyer
}
