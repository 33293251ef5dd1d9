import {
  DescribeInstancesCommand,
  EC2Client,
  type Instance,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2'
import { onTestFinished } from 'vitest'
import { type Ec2Options, type Ec2StandIn, startEc2 } from '../../../dev/ec2/stand-in.ts'
import { temporaryFolder } from '../../../testing/stack/at-end.ts'

export const bootMs = 3000
export const shutdownMs = 1000

export type LocalEc2 = {
  ec2: Ec2StandIn
  client: EC2Client
  /** Restarts with the same data. The clock keeps its time. */
  restart(): Promise<LocalEc2>
  advance(ms: number): void
  launch(input?: Partial<RunInstancesCommandInput>): Promise<Instance[]>
  launchOne(input?: Partial<RunInstancesCommandInput>): Promise<string>
  find(id: string): Promise<Instance | undefined>
  terminate(...ids: string[]): Promise<unknown>
}

export function clientOf(endpoint: string): EC2Client {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new EC2Client({ endpoint, region: 'us-east-1', maxAttempts: 1, credentials })
  onTestFinished(() => client.destroy())
  return client
}

/** A separate stand-in for the test, with a clock only the test moves. */
export async function localEc2(options: Partial<Ec2Options> = {}): Promise<LocalEc2> {
  let now = Date.UTC(2026, 10, 21, 12)
  const all = { dataDir: temporaryFolder('ec2'), bootMs, shutdownMs, webPort: 0, now: () => now, ...options }

  async function start(): Promise<LocalEc2> {
    const ec2 = await startEc2(all)
    onTestFinished(() => ec2.close())
    const client = clientOf(ec2.endpoint)
    async function launch(input: Partial<RunInstancesCommandInput> = {}): Promise<Instance[]> {
      const template = { LaunchTemplateName: 'simulator' }
      const command = new RunInstancesCommand({ MinCount: 1, MaxCount: 1, LaunchTemplate: template, ...input })
      return (await client.send(command)).Instances ?? []
    }
    return {
      ec2,
      client,
      launch,
      restart: async () => {
        await ec2.close()
        return start()
      },
      advance: (ms) => {
        now += ms
      },
      launchOne: async (input) => (await launch(input))[0]?.InstanceId ?? '',
      find: async (id) => {
        const answer = await client.send(new DescribeInstancesCommand({ InstanceIds: [id] }))
        return answer.Reservations?.[0]?.Instances?.[0]
      },
      terminate: (...ids) => client.send(new TerminateInstancesCommand({ InstanceIds: ids })),
    }
  }
  return start()
}

export const tagged = (tags: Record<string, string>): Partial<RunInstancesCommandInput> => ({
  TagSpecifications: [{ ResourceType: 'instance', Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) }],
})

export const named = (Name: string) => tagged({ Name })
