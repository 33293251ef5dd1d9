import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { alertOperator } from '../../../src/server/mail/alerts.ts'
import { deliverMail } from '../../../src/server/mail/outbox.ts'
import { accountContext } from '../../../testing/people/account-app.ts'

// Other tests share the database, and alert the operator as well.
const quota = {
  matter: `launch_refused:${randomUUID()}`,
  subject: `EC2 refuses to launch servers ${randomUUID()}`,
  sentences: ['The quota of this account is used up.'],
  fields: { jobId: 'job_1' },
}

test('mails the operator once an hour per matter, and logs each time', async () => {
  const { ctx, sent: all, clock, takeLines } = accountContext()
  const sent = () => all.filter(({ subject }) => subject === quota.subject)
  const raise = async (matter = quota.matter) => {
    await alertOperator(ctx, { ...quota, matter }, new Error('vendor words'))
    await deliverMail(ctx)
  }
  await Promise.all([raise(), raise()])
  expect(sent().map((mail) => [mail.to, mail.subject])).toEqual([['op@b.c', quota.subject]])
  await raise(randomUUID())
  expect(sent()).toHaveLength(2)
  clock.ms += 3_600_000 - 1
  await raise()
  expect(sent()).toHaveLength(2)
  clock.ms += 1
  await raise()
  expect(sent()).toHaveLength(3)
  const lines = takeLines()
  expect(lines.map(({ event }) => event)).toEqual(Array(5).fill('alert'))
  expect(lines[0]).toMatchObject({ matter: quota.matter, jobId: 'job_1', error: [{ message: 'vendor words' }] })
})

test('an alert that cannot be written does not undo the work that raised it', async () => {
  const { ctx, takeLines } = accountContext()
  const broken = { ...ctx, db: { run: () => ({}), $client: {} } as never }
  await expect(alertOperator(broken, quota)).resolves.toBeUndefined()
  const { matter } = quota
  expect(takeLines()).toMatchObject([
    { event: 'alert', matter, jobId: 'job_1' },
    { event: 'alert_not_mailed', matter },
  ])
})
