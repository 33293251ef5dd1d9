import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ec2Cloud } from '../../src/server/fleet/ec2.ts'
import type { Cloud } from '../../src/server/ports/cloud.ts'

type Server = {
  endpoint: string
  launchTemplate: string
  /** Only if it checks keys. */
  key?: { accessKeyId: string; secretAccessKey: string }
  stop(): Promise<void>
}

/** Tests what our jobs need from EC2, through the adapter itself. */
export function cloudSuite(
  name: string,
  start: () => Promise<Server>,
  { idempotentTokens, skip = false }: { idempotentTokens: boolean; skip?: boolean },
) {
  describe.skipIf(skip)(`the EC2 adapter against ${name}`, () => {
    let server: Server
    let cloud: Cloud
    const launch = (token: string) => ({
      token,
      instanceType: 'g6.4xlarge',
      availabilityZone: 'us-east-1a',
      tags: { Name: `server ${token}`, session: token },
    })
    const launched = async (token: string) => {
      const instance = await cloud.launch(launch(token))
      if ('refused' in instance) throw instance.error
      return instance
    }

    beforeAll(async () => {
      server = await start()
      cloud = ec2Cloud({
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: server.key?.accessKeyId ?? 'local',
        AWS_SECRET_ACCESS_KEY: server.key?.secretAccessKey ?? 'local',
        EC2_ENDPOINT: server.endpoint,
        EC2_LAUNCH_TEMPLATE: server.launchTemplate,
      })
    })
    afterAll(() => server?.stop())

    test('launches in the requested place, with our name and tags', async () => {
      const image = `ghcr.io/example/harbor@sha256:${'0'.repeat(64)}`
      const tags = { Name: 'server launch_a', session: 'launch_a', environment: 'Mountains', vehicle: 'ugv', image }
      const instance = await cloud.launch({ ...launch('launch_a'), tags })
      if ('refused' in instance) throw instance.error
      expect(instance).toMatchObject({ type: 'g6.4xlarge', name: 'server launch_a', shutItselfDown: false })
      expect(instance.tags).toMatchObject({ app: 'proving-ground', ...tags })
      expect((await cloud.findInstance(instance.id))?.tags).toMatchObject(tags)
    })

    test.runIf(idempotentTokens)('the same token never launches twice', async () => {
      const [first, second] = [await launched('launch_b'), await launched('launch_b')]
      expect(second.id).toBe(first.id)
    })

    test('finds an instance by id and by token', async () => {
      const { id } = await launched('launch_c')
      expect((await cloud.findInstance(id))?.id).toBe(id)
      expect((await cloud.findByToken('launch_c'))?.id).toBe(id)
    })

    test('lists our instances in pages', async () => {
      const { id } = await launched('launch_page')
      const { instances, next } = await cloud.listPage(null)
      expect(instances.find((instance) => instance.id === id)).toMatchObject({ token: 'launch_page' })
      expect(next).toBeNull()
    })

    test('returns null for an unknown instance', async () => {
      expect(await cloud.findInstance('i-00000000000000000')).toBeNull()
      expect(await cloud.findByToken('launch_nobody')).toBeNull()
    })

    test('runs an instance with an address, and terminates it twice without error', async () => {
      const { id } = await launched('launch_d')
      await expect.poll(() => cloud.findInstance(id)).toMatchObject({ state: 'running', publicIp: expect.any(String) })
      await cloud.terminate(id)
      await cloud.terminate(id)
      await expect.poll(async () => (await cloud.findInstance(id))?.state).toBe('terminated')
    })

    test('terminates a nonexistent instance without error', async () => {
      await cloud.terminate('i-00000000000000000')
    })

    test('lists all our instances with their health', async () => {
      const { id } = await launched('launch_e')
      await expect
        .poll(async () => (await cloud.listInstances()).find((instance) => instance.id === id)?.statusCheck ?? null)
        .not.toBeNull()
    })
  })
}
