import { DescribeInstanceStatusCommand } from '@aws-sdk/client-ec2'
import { expect, test } from 'vitest'
import { bootMs, localEc2, shutdownMs } from './local-ec2.ts'

const hour = 3_600_000

test('states follow the clock, with their codes, addresses, and reasons', async () => {
  const { launchOne, find, terminate, advance } = await localEc2()
  const id = await launchOne()
  advance(bootMs - 1)
  const pending = await find(id)
  expect(pending).toMatchObject({ State: { Code: 0, Name: 'pending' }, PrivateIpAddress: '10.64.0.1' })
  expect(pending?.PublicIpAddress).toBeUndefined()
  advance(1)
  const running = await find(id)
  expect(running).toMatchObject({ State: { Code: 16, Name: 'running' }, PublicIpAddress: '127.64.0.1' })
  expect(running).toMatchObject({ PublicDnsName: 'ec2-127-64-0-1.compute-1.amazonaws.com' })
  await terminate(id)
  advance(shutdownMs - 1)
  expect((await find(id))?.State).toEqual({ Code: 32, Name: 'shutting-down' })
  advance(1)
  const terminated = await find(id)
  expect(terminated).toMatchObject({
    State: { Code: 48, Name: 'terminated' },
    StateReason: { Code: 'Client.UserInitiatedShutdown' },
    StateTransitionReason: 'User initiated (2026-11-21 12:00:03 GMT)',
  })
  expect(terminated?.PublicIpAddress).toBeUndefined()
  expect(terminated?.PrivateIpAddress).toBeUndefined()
  advance(hour - 1)
  expect((await find(id))?.InstanceId).toBe(id)
  advance(1)
  await expect(find(id)).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' })
  await expect(terminate(id)).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' })
})

test('remembers a token for a day after its instance ends, even across a restart', async () => {
  const local = await localEc2()
  const id = await local.launchOne({ ClientToken: 'once' })
  await local.terminate(id)
  expect(await local.launchOne({ ClientToken: 'once' })).toBe(id)
  local.advance(shutdownMs + 24 * hour - 1)
  const { launchOne, advance } = await local.restart()
  await expect(launchOne({ ClientToken: 'once' })).rejects.toMatchObject({ name: 'IdempotentInstanceTerminated' })
  advance(1)
  expect(await launchOne({ ClientToken: 'once' })).not.toBe(id)
})

test('reuses an address only after it forgets the first instance', async () => {
  const { launchOne, find, terminate, advance } = await localEc2()
  const addressOf = async (id: string) => (await find(id))?.PublicIpAddress
  const first = await launchOne()
  await terminate(first)
  advance(hour)
  const second = await launchOne()
  advance(bootMs)
  expect(await addressOf(second)).toBe('127.64.0.2')
  const third = await launchOne()
  advance(bootMs)
  expect(await addressOf(third)).toBe('127.64.0.1')
})

test('status checks have no data, then initialize, then pass', async () => {
  const { client, launchOne, advance, terminate } = await localEc2()
  const id = await launchOne()
  const status = async () => {
    const command = new DescribeInstanceStatusCommand({ InstanceIds: [id], IncludeAllInstances: true })
    const [found] = (await client.send(command)).InstanceStatuses ?? []
    expect(found?.SystemStatus?.Status).toBe(found?.InstanceStatus?.Status)
    return found?.InstanceStatus?.Status
  }
  expect(await status()).toBe('insufficient-data')
  advance(bootMs)
  expect(await status()).toBe('initializing')
  advance(10_000)
  expect(await status()).toBe('ok')
  await terminate(id)
  expect(await status()).toBe('not-applicable')
})
