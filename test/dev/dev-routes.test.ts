import { join } from 'node:path'
import { DescribeInstancesCommand, EC2Client } from '@aws-sdk/client-ec2'
import { expect, onTestFinished, test } from 'vitest'
import { openClock } from '../../dev/clock.ts'
import { devRoutes } from '../../dev/dev-routes.ts'
import { startEc2 } from '../../dev/ec2/stand-in.ts'
import { openMailbox } from '../../dev/mailbox.ts'
import type { Services } from '../../dev/services.ts'
import { startStripe } from '../../dev/stripe/stand-in.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

test.each([1e20, 1e300, -1, '60', null])(
  'the clock rejects %j and keeps running, even after a restart',
  async (advance_seconds) => {
    const dataDir = temporaryFolder('proving-ground-clock')
    const path = join(dataDir, 'clock')
    const routes = devRoutes({ clock: openClock(path) } as Services, async () => {})
    const advance = (seconds: unknown) =>
      routes.request('/dev/clock', { method: 'POST', body: JSON.stringify({ advance_seconds: seconds }) })

    expect((await advance(90)).status).toBe(200)
    expect((await advance(advance_seconds)).status).toBe(400)
    expect(openClock(path).offset()).toBe(90_000)
    expect((await advance(10)).status).toBe(200)
  },
)

test('one call cancels all pending faults', async () => {
  const dataDir = temporaryFolder('proving-ground-faults')
  const mailbox = openMailbox(join(dataDir, 'mail.jsonl'), Date.now)
  const ec2 = await startEc2({ dataDir: join(dataDir, 'ec2') })
  const stripe = await startStripe({ dataDir: join(dataDir, 'stripe') })
  onTestFinished(ec2.close)
  onTestFinished(stripe.close)
  const routes = devRoutes({ mailbox, ec2, stripe } as unknown as Services, async () => {})
  for (const [target, fault] of [
    ['ec2', 'InternalError'],
    ['stripe', 'error'],
    ['mail', 'error'],
  ])
    await routes.request('/dev/faults', { method: 'POST', body: JSON.stringify({ target, fault, times: 1000 }) })

  expect((await routes.request('/dev/faults', { method: 'DELETE' })).status).toBe(200)
  const keys = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new EC2Client({ endpoint: ec2.endpoint, region: 'us-east-1', credentials: keys, maxAttempts: 1 })
  await client.send(new DescribeInstancesCommand())
  expect((await fetch(`${stripe.apiBase}/v1/prices`, { headers: { authorization: 'Bearer sk' } })).status).toBe(200)
  mailbox.accept({ to: 'a@b.c', from: 'a@b.c', subject: 'Hello', text: 'Hello', html: 'Hello' })
})

test('the mailbox answers with all mail or with one address’s, newest first', async () => {
  const mailbox = openMailbox(join(temporaryFolder('proving-ground-mailbox'), 'mail.jsonl'), Date.now)
  const routes = devRoutes({ mailbox } as unknown as Services, async () => {})
  for (const [to, subject] of [
    ['ada+1@example.com', '1'],
    ['bob@example.com', '2'],
    ['ada+1@example.com', '3'],
  ] as const)
    mailbox.accept({ to, subject, from: 'a@b.c', text: 'Hello', html: 'Hello' })
  const subjects = async (query: string) =>
    ((await (await routes.request(`/dev/mailbox.json${query}`)).json()) as { subject: string }[]).map(
      ({ subject }) => subject,
    )
  expect(await subjects('')).toEqual(['3', '2', '1'])
  expect(await subjects('?to=ada%2B1%40example.com')).toEqual(['3', '1'])
  expect(await subjects('?to=ada')).toEqual([])
})
