import { randomUUID } from 'node:crypto'
import {
  DescribeInstanceStatusCommand,
  DescribeInstancesCommand,
  EC2Client,
  type Instance,
  paginateDescribeInstances,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

type Ec2Server = {
  endpoint: string
  /** What that server's launches need besides count and token: an image or a launch template. */
  launch: Partial<RunInstancesCommandInput>
  stop(): Promise<void>
}

export type Ec2ProtocolOptions = {
  start: () => Promise<Ec2Server>
  /** Test names where that server differs from AWS, and how. They must really differ. */
  deviations?: Record<string, string>
  /** Whether that server is missing on this machine. */
  skip?: boolean
}

/** Tests what AWS documents about the EC2 calls we make, with the real SDK. */
export function ec2ProtocolSuite(name: string, { start, deviations = {}, skip = false }: Ec2ProtocolOptions): void {
  describe.skipIf(skip)(name, () => {
    let server: Ec2Server
    let ec2: EC2Client
    const behaviors: string[] = []

    beforeAll(async () => {
      server = await start()
      const credentials = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret' }
      ec2 = new EC2Client({ endpoint: server.endpoint, region: 'us-east-1', maxAttempts: 1, credentials })
    })

    afterAll(async () => {
      ec2?.destroy()
      await server?.stop()
    })

    /** A listed deviation must still occur. Once it doesn't, delete its row. */
    function behaves(behavior: string, check: () => Promise<void>): void {
      behaviors.push(behavior)
      if (deviations[behavior] === undefined) test(behavior, check)
      else test.fails(`${behavior} (deviates: ${deviations[behavior]})`, check)
    }

    async function launch(input: Partial<RunInstancesCommandInput> = {}): Promise<Instance[]> {
      const command = new RunInstancesCommand({ ...server.launch, MinCount: 1, MaxCount: 1, ...input })
      return (await ec2.send(command)).Instances ?? []
    }

    async function launchOne(input: Partial<RunInstancesCommandInput> = {}): Promise<string> {
      return idOf((await launch(input))[0])
    }

    async function find(id: string): Promise<Instance | undefined> {
      const answer = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [id] }))
      return answer.Reservations?.[0]?.Instances?.[0]
    }

    async function idsBy(filters: Record<string, string[]>): Promise<string[]> {
      const Filters = Object.entries(filters).map(([Name, Values]) => ({ Name, Values }))
      const answer = await ec2.send(new DescribeInstancesCommand({ Filters }))
      return (answer.Reservations ?? []).flatMap((reservation) => (reservation.Instances ?? []).map(idOf))
    }

    async function until(id: string, state: string): Promise<Instance> {
      for (;;) {
        const instance = await find(id)
        if (instance?.State?.Name === state) return instance
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }

    async function terminate(...ids: string[]) {
      return (await ec2.send(new TerminateInstancesCommand({ InstanceIds: ids }))).TerminatingInstances ?? []
    }

    const tagged = (tags: Record<string, string>): Partial<RunInstancesCommandInput> => ({
      TagSpecifications: [
        { ResourceType: 'instance', Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) },
      ],
    })

    behaves('launches an instance that reaches running, with addresses', async () => {
      const [launched] = await launch({ InstanceType: 'g6.4xlarge', Placement: { AvailabilityZone: 'us-east-1b' } })
      expect(launched?.State).toMatchObject({ Code: 0, Name: 'pending' })
      const running = await until(idOf(launched), 'running')
      expect(running.State?.Code).toBe(16)
      expect(running.InstanceType).toBe('g6.4xlarge')
      expect(running.Placement?.AvailabilityZone).toBe('us-east-1b')
      expect(running.LaunchTime).toBeInstanceOf(Date)
      expect(running.PublicIpAddress).toMatch(/^\d+\.\d+\.\d+\.\d+$/)
      expect(running.PrivateIpAddress).toMatch(/^10\.\d+\.\d+\.\d+$/)
      expect(running.PrivateDnsName).toContain(running.PrivateIpAddress?.replaceAll('.', '-'))
      expect(running.PublicDnsName).toContain(running.PublicIpAddress?.replaceAll('.', '-'))
    })

    behaves('answers the same token and parameters with the same instance', async () => {
      const ClientToken = randomUUID()
      const [first] = await launch({ ClientToken, InstanceType: 'g6.xlarge' })
      const [second] = await launch({ ClientToken, InstanceType: 'g6.xlarge' })
      expect(second?.InstanceId).toBe(first?.InstanceId)
      expect(second?.ClientToken).toBe(ClientToken)
      expect(await idsBy({ 'client-token': [ClientToken] })).toEqual([first?.InstanceId])
    })

    behaves('refuses the same token with other parameters', async () => {
      const ClientToken = randomUUID()
      await launch({ ClientToken, InstanceType: 'g6.xlarge' })
      await expect(launch({ ClientToken, InstanceType: 'g6.4xlarge' })).rejects.toMatchObject({
        name: 'IdempotentParameterMismatch',
        $metadata: { httpStatusCode: 400 },
      })
    })

    behaves('lets the same token launch once in each named zone', async () => {
      const ClientToken = randomUUID()
      const first = await launchOne({ ClientToken, Placement: { AvailabilityZone: 'us-east-1a' } })
      const second = await launchOne({ ClientToken, Placement: { AvailabilityZone: 'us-east-1b' } })
      expect(second).not.toBe(first)
    })

    behaves('refuses the token of a terminated instance', async () => {
      const ClientToken = randomUUID()
      const id = await launchOne({ ClientToken })
      await terminate(id)
      await until(id, 'terminated')
      await expect(launch({ ClientToken })).rejects.toMatchObject({ name: 'IdempotentInstanceTerminated' })
    })

    behaves('launches the requested count in one reservation', async () => {
      const tag = randomUUID()
      const launched = await launch({ MinCount: 3, MaxCount: 3, ...tagged({ fleet: tag }) })
      expect(new Set(launched.map(idOf)).size).toBe(3)
      expect(launched.map((instance) => instance.AmiLaunchIndex)).toEqual([0, 1, 2])
      const Filters = [{ Name: 'tag:fleet', Values: [tag] }]
      const found = await ec2.send(new DescribeInstancesCommand({ Filters }))
      expect(found.Reservations).toHaveLength(1)
      expect(found.Reservations?.[0]?.Instances).toHaveLength(3)
    })

    behaves('returns tags unchanged', async () => {
      const tags = { Name: 'Rover & "drone" <7>', 'ségment/1': 'übung 試験 🚁', empty: '', spaced: 'a  b' }
      const instance = await find(await launchOne(tagged(tags)))
      expect(Object.fromEntries((instance?.Tags ?? []).map(({ Key, Value }) => [Key, Value]))).toMatchObject(tags)
    })

    behaves('tags instances launched from a template', async () => {
      const instance = await find(await launchOne())
      const keys = (instance?.Tags ?? []).map(({ Key }) => Key)
      expect(keys).toEqual(expect.arrayContaining(['aws:ec2launchtemplate:id', 'aws:ec2launchtemplate:version']))
    })

    behaves('filters match if all do, each by any of its values', async () => {
      const fleet = randomUUID()
      const a = await launchOne({ ...tagged({ fleet, role: 'uav' }), Placement: { AvailabilityZone: 'us-east-1a' } })
      const b = await launchOne({ ...tagged({ fleet, role: 'ugv' }), Placement: { AvailabilityZone: 'us-east-1b' } })
      await Promise.all([until(a, 'running'), until(b, 'running')])
      const ours = { 'tag:fleet': [fleet] }
      expect((await idsBy(ours)).sort()).toEqual([a, b].sort())
      expect(await idsBy({ ...ours, 'tag:role': ['uav'] })).toEqual([a])
      expect((await idsBy({ ...ours, 'tag:role': ['uav', 'ugv', 'usv'] })).sort()).toEqual([a, b].sort())
      expect((await idsBy({ ...ours, 'tag-key': ['role'] })).sort()).toEqual([a, b].sort())
      expect(await idsBy({ ...ours, 'availability-zone': ['us-east-1b'] })).toEqual([b])
      expect(await idsBy({ ...ours, 'instance-id': [a] })).toEqual([a])
      expect(await idsBy({ ...ours, 'instance-state-name': ['terminated'] })).toEqual([])
      expect((await idsBy({ ...ours, 'instance-state-name': ['pending', 'running'] })).sort()).toEqual([a, b].sort())
      expect(await idsBy({ 'tag:fleet': [`${fleet.slice(0, -1)}?`], 'tag:role': ['*gv'] })).toEqual([b])
    })

    behaves('refuses a filter that it does not know', async () => {
      await expect(idsBy({ 'no-such-filter': ['x'] })).rejects.toMatchObject({ name: 'InvalidParameterValue' })
    })

    behaves('describes in pages, each instance once', async () => {
      const fleet = randomUUID()
      const ids: string[] = []
      for (let i = 0; i < 12; i++) ids.push(await launchOne(tagged({ fleet })))
      const pages: string[][] = []
      const Filters = [{ Name: 'tag:fleet', Values: [fleet] }]
      for await (const page of paginateDescribeInstances({ client: ec2, pageSize: 5 }, { Filters })) {
        pages.push((page.Reservations ?? []).flatMap((reservation) => (reservation.Instances ?? []).map(idOf)))
      }
      expect(pages.map((page) => page.length)).toEqual([5, 5, 2])
      expect(pages.flat().sort()).toEqual(ids.sort())
    })

    behaves('refuses a page size with instance ids', async () => {
      const id = await launchOne()
      const command = new DescribeInstancesCommand({ InstanceIds: [id], MaxResults: 5 })
      await expect(ec2.send(command)).rejects.toMatchObject({ name: 'InvalidParameterCombination' })
    })

    behaves('refuses pages of fewer than five', async () => {
      const command = new DescribeInstancesCommand({ MaxResults: 4 })
      await expect(ec2.send(command)).rejects.toMatchObject({ name: 'InvalidParameterValue' })
    })

    behaves('reports an unknown instance as not found', async () => {
      const unknown = { name: 'InvalidInstanceID.NotFound', $metadata: { httpStatusCode: 400 } }
      const id = 'i-0123456789abcdef0'
      await expect(find(id)).rejects.toMatchObject(unknown)
      await expect(terminate(id)).rejects.toMatchObject(unknown)
    })

    behaves('reports the status of an unknown instance as not found', async () => {
      const command = new DescribeInstanceStatusCommand({ InstanceIds: ['i-0123456789abcdef0'] })
      await expect(ec2.send(command)).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' })
    })

    behaves('says that an id is malformed', async () => {
      await expect(find('srv_1')).rejects.toMatchObject({ name: 'InvalidInstanceID.Malformed' })
    })

    behaves('still describes a terminated instance, without a public address', async () => {
      const id = await launchOne()
      await until(id, 'running')
      const [change] = await terminate(id)
      expect(change).toMatchObject({
        InstanceId: id,
        CurrentState: { Code: 32, Name: 'shutting-down' },
        PreviousState: { Code: 16, Name: 'running' },
      })
      const terminated = await until(id, 'terminated')
      expect(terminated.State?.Code).toBe(48)
      expect(terminated.PublicIpAddress).toBeUndefined()
      expect(terminated.StateReason?.Code).toBe('Client.UserInitiatedShutdown')
      expect(terminated.StateTransitionReason).toMatch(/^User initiated \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (GMT|UTC)\)$/)
    })

    behaves('terminates a second time without complaint', async () => {
      const id = await launchOne()
      await terminate(id)
      await until(id, 'terminated')
      const [change] = await terminate(id)
      expect(change?.PreviousState).toMatchObject({ Code: 48, Name: 'terminated' })
      expect(change?.CurrentState).toMatchObject({ Code: 48, Name: 'terminated' })
    })

    behaves('terminates nothing if one id is unknown', async () => {
      const id = await launchOne()
      await expect(terminate(id, 'i-0123456789abcdef0')).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' })
      expect((await find(id))?.State?.Name).toMatch(/^(pending|running)$/)
    })

    behaves('requires ids to terminate', async () => {
      await expect(terminate()).rejects.toMatchObject({ name: 'InvalidParameterCombination' })
    })

    behaves('gives the status of running instances, and of others on request', async () => {
      const running = await launchOne()
      const gone = await launchOne()
      await until(running, 'running')
      await terminate(gone)
      await until(gone, 'terminated')
      const InstanceIds = [running, gone]
      const plain = await ec2.send(new DescribeInstanceStatusCommand({ InstanceIds }))
      expect(plain.InstanceStatuses?.map((status) => status.InstanceId)).toEqual([running])
      expect(plain.InstanceStatuses?.[0]?.InstanceStatus?.Status).toMatch(/^(initializing|insufficient-data|ok)$/)
      expect(plain.InstanceStatuses?.[0]?.SystemStatus?.Status).toMatch(/^(initializing|insufficient-data|ok)$/)
      const all = await ec2.send(new DescribeInstanceStatusCommand({ InstanceIds, IncludeAllInstances: true }))
      const states = all.InstanceStatuses?.map((status) => [status.InstanceId, status.InstanceState?.Name])
      expect(states?.sort()).toEqual(
        [
          [running, 'running'],
          [gone, 'terminated'],
        ].sort(),
      )
    })

    behaves('gives a status in pages', async () => {
      const launched = (await launch({ MinCount: 6, MaxCount: 6 })).map(idOf)
      const seen: string[] = []
      let NextToken: string | undefined
      do {
        const command = new DescribeInstanceStatusCommand({
          IncludeAllInstances: true,
          MaxResults: 5,
          ...(NextToken && { NextToken }),
        })
        const page = await ec2.send(command)
        expect(page.InstanceStatuses?.length).toBeLessThanOrEqual(5)
        seen.push(...(page.InstanceStatuses ?? []).map((status) => status.InstanceId ?? ''))
        NextToken = page.NextToken
      } while (NextToken)
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen).toEqual(expect.arrayContaining(launched))
    })

    test('the deviations name only existing behaviors', () => {
      expect(behaviors).toEqual(expect.arrayContaining(Object.keys(deviations)))
    })
  })
}

function idOf(instance: Instance | undefined): string {
  if (!instance?.InstanceId) throw new Error('An instance without an id.')
  return instance.InstanceId
}
