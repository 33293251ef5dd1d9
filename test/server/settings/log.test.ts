import { EC2ServiceException } from '@aws-sdk/client-ec2'
import Stripe from 'stripe'
import { expect, test, vi } from 'vitest'
import { AppError } from '../../../src/domain/error.ts'
import { bindLog, log, openLog } from '../../../src/server/settings/log.ts'
import { testDatabase } from '../../../testing/stack/database.ts'
import { recordLog } from '../../../testing/stack/recorded-log.ts'

function lineOf(error: unknown) {
  let line = ''
  openLog((written) => {
    line = written
  })('something_failed', { jobId: 'job_1' }, error)
  return { line, ...(JSON.parse(line) as { event: string; jobId: string; error: Record<string, unknown>[] }) }
}

test("logs the vendor's own code, words, and request id under our sentence", () => {
  const aws = new EC2ServiceException({
    name: 'VcpuLimitExceeded',
    message: 'You have requested more vCPU capacity than your current limit of 0.',
    $fault: 'client',
    $metadata: { requestId: 'aws-request-1', httpStatusCode: 400 },
  })
  const stripe = new Stripe.errors.StripeCardError({
    message: 'Your card was declined.',
    code: 'card_declined',
    statusCode: 402,
    requestId: 'req_1',
    // biome-ignore lint/suspicious/noExplicitAny: the SDK builds it from a response
  } as any)
  for (const [cause, told] of [
    [aws, { code: 'VcpuLimitExceeded', requestId: 'aws-request-1', status: 400, message: aws.message }],
    [stripe, { code: 'card_declined', requestId: 'req_1', status: 402, message: stripe.message }],
  ] as const) {
    const { event, jobId, error } = lineOf(new AppError('provider_failed', 'They said no.', { cause }))
    expect({ event, jobId }).toEqual({ event: 'something_failed', jobId: 'job_1' })
    expect(error[0]).toMatchObject({ message: 'They said no.' })
    expect(error[1]).toMatchObject(told)
  }
})

test('never logs the parameters of a failed statement', async () => {
  const failed = await testDatabase()
    .run(`INSERT INTO no_such_table VALUES ('a')`)
    .catch((error: unknown) => error)
  const { line } = lineOf(failed)
  expect(line).toContain('no_such_table')

  const wrapped = Object.assign(
    new Error('Failed query: update users set x = ?\nparams: scrypt$secret,ada@example.com'),
    {
      query: 'update users set x = ?',
      params: ['scrypt$secret', 'ada@example.com'],
    },
  )
  expect(lineOf(wrapped).line).not.toMatch(/scrypt|ada@/)
  expect(lineOf(wrapped).line).toContain('update users set x = ?')
})

test('an error that causes itself does not crash the program', () => {
  const error = new Error('round')
  error.cause = error
  expect(lineOf(error).error.length).toBeLessThan(10)
})

test('also logs what is not an error', () => {
  expect(lineOf('just words').error).toEqual([{ message: 'just words' }])
})

test("redacts mail addresses in a vendor's words, and keeps the rest", () => {
  for (const [said, kept] of [
    ['destination address ada.o+1@example.co.uk is not verified', 'destination address [address] is not verified'],
    ['Invalid email address: <Ädä@example.com>', 'Invalid email address: <[address]>'],
    ['to="ada@example.com",from=\'b@c.de\'', 'to="[address]",from=\'[address]\''],
    ['email=ada%40example.com&name=x', 'email=[address]&name=x'],
    ['GET /x@2 of @libsql/client at 12:00', 'GET /x@2 of @libsql/client at 12:00'],
  ]) {
    const { line, error } = lineOf(new AppError('provider_failed', 'They said no.', { cause: new Error(said) }))
    expect(error[1]?.message).toBe(kept)
    expect(line).not.toMatch(/ada\b|Ädä|b@c/i)
  }
  expect(lineOf('550 5.1.1 <ada@example.com> unknown').line).not.toContain('ada@')
})

test('every line names its request, trigger, or job, and a nested log names both', () => {
  const { log, takeLines } = recordLog()
  const ofUser = bindLog(log, { userId: 'user_1' })
  const ofJob = bindLog(ofUser, { jobId: 'job_1' })
  ofJob('job_failed', { attempts: 2 }, new Error('no'))
  ofUser('watch_failed')
  log('settings_wrong')
  expect(takeLines()).toMatchObject([
    { event: 'job_failed', userId: 'user_1', jobId: 'job_1', attempts: 2, error: [{ message: 'no' }] },
    { event: 'watch_failed', userId: 'user_1' },
    { event: 'settings_wrong' },
  ])
})

test('writes one line of JSON to the console', () => {
  const written = vi.spyOn(console, 'error').mockReturnValueOnce()
  log('something_failed', { message: 'first\nsecond' })
  expect(written.mock.calls).toEqual([['{"event":"something_failed","message":"first\\nsecond"}']])
})
