import { expect, test } from 'vitest'
import { bootMs, localEc2 } from './local-ec2.ts'

test('a capacity fault hits only launches, as many times as injected', async () => {
  const { ec2, launchOne, find } = await localEc2()
  const id = await launchOne()
  ec2.inject('InsufficientInstanceCapacity', 2)
  expect((await find(id))?.InstanceId).toBe(id)
  const refused = { name: 'InsufficientInstanceCapacity', $metadata: { httpStatusCode: 500 } }
  await expect(launchOne()).rejects.toMatchObject(refused)
  await expect(launchOne()).rejects.toMatchObject(refused)
  await launchOne()
  expect(ec2.instances()).toHaveLength(2)
})

test('a repeated launch never runs out of capacity', async () => {
  const { ec2, launchOne } = await localEc2()
  const id = await launchOne({ ClientToken: 'once' })
  ec2.inject('InsufficientInstanceCapacity', 1)
  expect(await launchOne({ ClientToken: 'once' })).toBe(id)
  await expect(launchOne()).rejects.toMatchObject({ name: 'InsufficientInstanceCapacity' })
})

test.each([
  ['RequestLimitExceeded', 503],
  ['UnauthorizedOperation', 403],
  ['InternalError', 500],
  ['SomethingElse', 400],
])('%s answers %i to any call and changes nothing', async (fault, httpStatusCode) => {
  const { ec2, launchOne, terminate, advance } = await localEc2()
  const id = await launchOne()
  advance(bootMs)
  ec2.inject(fault, 1)
  await expect(terminate(id)).rejects.toMatchObject({ name: fault, $metadata: { httpStatusCode } })
  expect(ec2.instances()).toMatchObject([{ instanceId: id, state: 'running' }])
})

test('limits a fault to an action or instance, and an unknown instance id to calls that name one', async () => {
  const { ec2, launchOne, find, terminate } = await localEc2()
  ec2.inject('InvalidInstanceID.NotFound', 1)
  const [a, b] = [await launchOne(), await launchOne()]
  await expect(find(a)).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' })
  ec2.inject('InternalError', 1, { action: 'TerminateInstances' })
  ec2.inject('UnauthorizedOperation', 1, { instance_id: b })
  await find(a)
  await expect(find(b)).rejects.toMatchObject({ name: 'UnauthorizedOperation' })
  await expect(terminate(a)).rejects.toMatchObject({ name: 'InternalError' })
  await terminate(a)
})

test('a lost response still launches, and its token finds the instance', async () => {
  const { ec2, launchOne } = await localEc2()
  ec2.inject('lost_response', 1)
  const lost = await launchOne({ ClientToken: 'once' }).catch((error: Error) => error)
  expect(lost).toBeInstanceOf(Error)
  expect(lost).not.toHaveProperty('$response.statusCode')
  expect(ec2.instances()).toHaveLength(1)
  expect(await launchOne({ ClientToken: 'once' })).toBe(ec2.instances()[0]?.instanceId)
  expect(ec2.instances()).toHaveLength(1)
})

test('a timeout does nothing and never answers, until the caller gives up', async () => {
  const local = await localEc2()
  local.ec2.inject('timeout', 1)
  const givingUp = new AbortController()
  const outcome = fetch(local.ec2.endpoint, {
    method: 'POST',
    signal: givingUp.signal,
    body: new URLSearchParams({ Action: 'RunInstances', MinCount: '1', MaxCount: '1', ImageId: 'ami-12345678' }),
    headers: { authorization: 'AWS4-HMAC-SHA256 Credential=a/20261121/us-east-1/ec2/aws4_request, Signature=0' },
  }).then(
    () => 'answered',
    (error: Error) => error.name,
  )
  await expect.poll(() => local.ec2.calls()).toHaveLength(1)
  // A later call gets its answer, so the stand-in has seen the first.
  await local.launchOne()
  givingUp.abort()
  expect(await outcome).toBe('AbortError')
  expect(local.ec2.instances()).toHaveLength(1)
})

test('can terminate an instance at once, without warning', async () => {
  const { ec2, launchOne, find, advance } = await localEc2()
  const id = await launchOne()
  advance(bootMs)
  ec2.inject('terminate_instance', 1, { instance_id: id })
  const gone = await find(id)
  expect(gone).toMatchObject({
    State: { Name: 'terminated' },
    StateReason: { Code: 'Server.InternalError' },
  })
  expect(gone?.PublicIpAddress).toBeUndefined()
})

test('an instance whose launch is hit by a reason dies while it is pending', async () => {
  const { ec2, launchOne, find, advance } = await localEc2()
  ec2.inject('Server.InsufficientInstanceCapacity', 1)
  const id = await launchOne()
  const other = await launchOne()
  expect(await find(id)).toMatchObject({ State: { Name: 'pending' } })
  advance(bootMs)
  const dead = await find(id)
  expect(dead).toMatchObject({
    State: { Name: 'terminated' },
    StateReason: {
      Code: 'Server.InsufficientInstanceCapacity',
      Message: 'Server.InsufficientInstanceCapacity: Insufficient capacity to satisfy instance request',
    },
  })
  expect(dead?.PublicIpAddress).toBeUndefined()
  expect(await find(other)).toMatchObject({ State: { Name: 'running' } })
  expect(ec2.history()).toMatchObject([{ runningAt: null }, { runningAt: expect.any(Number) }])
})

test('refuses an unknown fault with a sentence', async () => {
  const { ec2 } = await localEc2()
  expect(() => ec2.inject('terminate_instance', 1)).toThrow('Invalid id')
  expect(() => ec2.inject('terminate_instance', 1, { instance_id: 'i-0123456789abcdef0' })).toThrow('does not exist')
  expect(() => ec2.inject('drop_table', 1)).toThrow('neither an AWS error code nor')
  expect(() => ec2.inject('InternalError', 0)).toThrow('whole number')
})

test('remaining faults survive a restart', async () => {
  const local = await localEc2()
  local.ec2.inject('InternalError', 2)
  await expect(local.launchOne()).rejects.toThrow()
  const { launchOne } = await local.restart()
  await expect(launchOne()).rejects.toMatchObject({ name: 'InternalError' })
  await launchOne()
})
