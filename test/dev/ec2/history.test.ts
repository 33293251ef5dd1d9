import { expect, test } from 'vitest'
import { bootMs, localEc2, named, shutdownMs } from './local-ec2.ts'

test('records when every instance ran, even after forgetting it', async () => {
  const local = await localEc2()
  const id = await local.launchOne(named('audited'))
  const [launched] = local.ec2.history()
  const launchedAt = launched?.launchedAt ?? 0
  expect(launched).toMatchObject({ instanceId: id, runningAt: null, shuttingDownAt: null, terminatedAt: null })
  local.advance(bootMs + 60_000)
  await local.terminate(id)
  const record = {
    instanceId: id,
    tags: { Name: 'audited' },
    launchedAt,
    runningAt: launchedAt + bootMs,
    shuttingDownAt: launchedAt + bootMs + 60_000,
  }
  expect(local.ec2.history()).toMatchObject([{ ...record, terminatedAt: null }])
  local.advance(shutdownMs)
  expect(local.ec2.history()).toMatchObject([{ ...record, terminatedAt: record.shuttingDownAt + shutdownMs }])
  local.advance(48 * 3_600_000)
  const { ec2 } = await local.restart()
  expect(ec2.instances()).toEqual([])
  expect(ec2.history()).toMatchObject([record])
})

test('an instance that never ran has no running time', async () => {
  const { ec2, launchOne, terminate, advance } = await localEc2()
  await terminate(await launchOne())
  advance(bootMs)
  expect(ec2.history()).toMatchObject([{ runningAt: null, shuttingDownAt: expect.any(Number) }])
})

test('an instance that vanishes during shutdown stopped running when we terminated it', async () => {
  const { ec2, launchOne, terminate, advance } = await localEc2()
  const id = await launchOne()
  advance(bootMs)
  await terminate(id)
  const [told] = ec2.history()
  advance(shutdownMs / 2)
  ec2.inject('terminate_instance', 1, { instance_id: id })
  const terminatedAt = (told?.shuttingDownAt ?? 0) + shutdownMs / 2
  expect(ec2.history()).toEqual([{ ...told, terminatedAt }])
})
