import {
  type _InstanceType,
  DescribeInstancesCommand,
  type DescribeInstancesCommandInput,
  EC2Client,
  type EC2ClientConfig,
  type Instance as Ec2Instance,
  paginateDescribeInstanceStatus,
  paginateDescribeInstances,
  RunInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2'
import { AppError } from '../../domain/error.ts'
import type { Env } from '../env.ts'
import type { Cloud, CloudInstance, InstanceState, LaunchRefusal } from '../ports/cloud.ts'

/** On every instance of ours, so that the console and the sweep find them and no others. */
export const OWNER_TAG = { key: 'app', value: 'proving-ground' }
/** Not every EC2 server can filter by client token, but all can filter by tag. */
const TOKEN_TAG = 'launch'
const TIMEOUT_MS = 10_000
/** Thousands of instances arrive in several pages. */
const LIST_TIMEOUT_MS = 20_000
/** Codes that concern one zone: its capacity, its subnet, what it offers. */
const PLACE_REFUSALS = new Set([
  'InsufficientCapacity',
  'InsufficientFreeAddressesInSubnet',
  'InsufficientHostCapacity',
  'InsufficientInstanceCapacity',
  'InsufficientReservedInstanceCapacity',
  'InsufficientVolumeCapacity',
  'InvalidAvailabilityZone',
  'ReservationCapacityExceeded',
  'UnfulfillableCapacity',
  'Unsupported',
  'VolumeTypeNotAvailableInZone',
])
/**
 * Codes for bad input. They concern one zone if the message names it (`No default subnet for availability
 * zone: 'us-east-1e'`).
 */
const INPUT_REFUSALS = new Set(['InvalidInput', 'InvalidParameterValue', 'MissingInput'])
const BUSY = new Set([
  'EC2ThrottledException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'Throttling',
  'ThrottlingException',
  'InternalError',
  'InternalFailure',
  'Unavailable',
  'ServiceUnavailable',
])

type Ec2Env = Pick<
  Env,
  'AWS_REGION' | 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY' | 'EC2_ENDPOINT' | 'EC2_LAUNCH_TEMPLATE'
>

/**
 * The only file that knows AWS. Our own jobs do the retrying, so the SDK tries once.
 * @param transport for tests: an EC2 without a network
 */
export function ec2Cloud(env: Ec2Env, transport?: EC2ClientConfig['requestHandler']): Cloud {
  let client: EC2Client | undefined
  const ec2 = () =>
    (client ??= new EC2Client({
      region: env.AWS_REGION,
      credentials: { accessKeyId: env.AWS_ACCESS_KEY_ID, secretAccessKey: env.AWS_SECRET_ACCESS_KEY },
      ...(env.EC2_ENDPOINT ? { endpoint: env.EC2_ENDPOINT } : {}),
      ...(transport ? { requestHandler: transport } : {}),
      maxAttempts: 1,
    }))
  const limit = () => ({ abortSignal: AbortSignal.timeout(TIMEOUT_MS) })

  async function findOne(input: DescribeInstancesCommandInput): Promise<CloudInstance | null> {
    try {
      const answer = await ec2().send(new DescribeInstancesCommand(input), limit())
      const instance = answer.Reservations?.[0]?.Instances?.[0]
      return instance ? toInstance(instance) : null
    } catch (error) {
      if (isUnknownInstance(error)) return null
      throw translate(error)
    }
  }

  return {
    async launch({ token, instanceType, availabilityZone, launchTemplate, name, tags }) {
      const allTags = { Name: name, [OWNER_TAG.key]: OWNER_TAG.value, [TOKEN_TAG]: token, ...tags }
      const command = new RunInstancesCommand({
        ClientToken: token,
        MinCount: 1,
        MaxCount: 1,
        // CloudFormation adds versions, and leaves the default at the first.
        LaunchTemplate: { LaunchTemplateName: launchTemplate ?? env.EC2_LAUNCH_TEMPLATE, Version: '$Latest' },
        InstanceType: instanceType as _InstanceType,
        Placement: { AvailabilityZone: availabilityZone },
        TagSpecifications: [
          { ResourceType: 'instance', Tags: Object.entries(allTags).map(([Key, Value]) => ({ Key, Value })) },
        ],
      })
      try {
        const instance = (await ec2().send(command, limit())).Instances?.[0]
        if (!instance) throw new Error('RunInstances answered without an instance')
        return toInstance(instance)
      } catch (error) {
        const scope = refusalScope(error, availabilityZone)
        if (!scope) throw translate(error)
        return { refused: scope, code: (error as Error).name, error: translate(error) }
      }
    },

    findInstance: (id) => findOne({ InstanceIds: [id] }),

    findByToken: (token) => findOne({ Filters: [{ Name: `tag:${TOKEN_TAG}`, Values: [token] }] }),

    async terminate(id) {
      try {
        await ec2().send(new TerminateInstancesCommand({ InstanceIds: [id] }), limit())
        return 'accepted'
      } catch (error) {
        if (isUnknownInstance(error)) return 'unknown'
        throw translate(error)
      }
    },

    async listInstances(withinMs = LIST_TIMEOUT_MS) {
      const ours = { Filters: [{ Name: `tag:${OWNER_TAG.key}`, Values: [OWNER_TAG.value] }], MaxResults: 1000 }
      const until = { abortSignal: AbortSignal.timeout(withinMs) }
      const instances: CloudInstance[] = []
      const health = new Map<string, string>()
      const readInstances = async () => {
        for await (const page of paginateDescribeInstances({ client: ec2() }, ours, until))
          for (const reservation of page.Reservations ?? [])
            for (const instance of reservation.Instances ?? []) instances.push(toInstance(instance))
      }
      const readHealth = async () => {
        for await (const page of paginateDescribeInstanceStatus({ client: ec2() }, { MaxResults: 1000 }, until))
          for (const status of page.InstanceStatuses ?? [])
            health.set(status.InstanceId ?? '', status.InstanceStatus?.Status ?? 'unknown')
      }
      try {
        await Promise.all([readInstances(), readHealth()])
        return instances.map((instance) => ({ ...instance, statusCheck: health.get(instance.id) ?? null }))
      } catch (error) {
        throw translate(error)
      }
    },
  }
}

function toInstance(instance: Ec2Instance): CloudInstance {
  const tags = Object.fromEntries((instance.Tags ?? []).map((tag) => [tag.Key ?? '', tag.Value ?? '']))
  return {
    id: instance.InstanceId ?? '',
    name: tags.Name ?? null,
    type: instance.InstanceType ?? '',
    state: (instance.State?.Name ?? 'pending') as InstanceState,
    privateIp: instance.PrivateIpAddress || null,
    publicIp: instance.PublicIpAddress || null,
    launchTime: instance.LaunchTime?.getTime() ?? null,
    token: tags[TOKEN_TAG] ?? null,
    tags,
  }
}

function isUnknownInstance(error: unknown): boolean {
  return error instanceof Error && error.name === 'InvalidInstanceID.NotFound'
}

/**
 * Keeps AWS's words in `cause`, for the log; people get ours. No answer, "busy", and faults of theirs are
 * retryable.
 */
function translate(cause: unknown): AppError {
  if (isRefusal(cause))
    return new AppError(
      'provider_failed',
      'Our cloud provider turned this request down. Please try again in a few minutes.',
      { cause },
    )
  return new AppError('unavailable', 'The cloud provider did not answer. Please try again in a moment.', {
    cause,
    retryable: true,
  })
}

/**
 * Unknown refusals count for the whole account: trying every place would not help. Null if it is no refusal,
 * so that the outcome is unknown.
 */
function refusalScope(error: unknown, zone: string): LaunchRefusal['refused'] | null {
  if (!isAnswer(error)) return null
  if (PLACE_REFUSALS.has(error.name) || (INPUT_REFUSALS.has(error.name) && error.message.includes(zone))) return 'place'
  return isRefusal(error) ? 'account' : null
}

function isAnswer(error: unknown): error is Error & { $metadata: object } {
  return error instanceof Error && '$metadata' in error && '$fault' in error
}

function isRefusal(error: unknown): boolean {
  if (!isAnswer(error)) return false
  const { httpStatusCode = 0 } = error.$metadata as { httpStatusCode?: number }
  return httpStatusCode < 500 && !BUSY.has(error.name)
}
