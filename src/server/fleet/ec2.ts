import {
  type _InstanceType,
  CreateTagsCommand,
  DescribeInstancesCommand,
  type DescribeInstancesCommandInput,
  type DescribeInstancesCommandOutput,
  DescribeLaunchTemplateVersionsCommand,
  EC2Client,
  type EC2ClientConfig,
  type Instance as Ec2Instance,
  paginateDescribeInstanceStatus,
  paginateDescribeInstances,
  RunInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2'
import type { Cloud, CloudInstance, InstanceState } from '../ports/cloud.ts'
import type { Env } from '../settings/env.ts'
import { isShortage, isUnknownInstance, madeEarlier, refusalOfEnd, refusalScope, translate } from './ec2-errors.ts'

/** On all our instances, so that the console and the sweep find them and no others. */
export const OWNER_TAG = { key: 'app', value: 'proving-ground' }
/** Not every EC2 server can filter by client token, but all can filter by tag. */
const TOKEN_TAG = 'launch'
const TIMEOUT_MS = 10_000
/** Thousands of instances arrive in several pages. */
const LIST_TIMEOUT_MS = 20_000
const OURS = { Filters: [{ Name: `tag:${OWNER_TAG.key}`, Values: [OWNER_TAG.value] }], MaxResults: 1000 }
type Ec2Env = Pick<
  Env,
  'AWS_REGION' | 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY' | 'EC2_ENDPOINT' | 'EC2_LAUNCH_TEMPLATE'
>

/** The name of a place's launch template. By default, the one that infra/zone.yaml makes for the zone. */
export const templateIn = (
  zone: string,
  named: string | null | undefined,
  { EC2_LAUNCH_TEMPLATE }: Pick<Env, 'EC2_LAUNCH_TEMPLATE'>,
): string => named ?? EC2_LAUNCH_TEMPLATE ?? `proving-ground-${zone}`

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

  const findByToken = (token: string) => findOne({ Filters: [{ Name: `tag:${TOKEN_TAG}`, Values: [token] }] })

  return {
    async launch({ token, instanceType, availabilityZone, launchTemplate, tags }) {
      const allTags = { [OWNER_TAG.key]: OWNER_TAG.value, [TOKEN_TAG]: token, ...tags }
      const command = new RunInstancesCommand({
        ClientToken: token,
        MinCount: 1,
        MaxCount: 1,
        // CloudFormation adds versions, and leaves the default at the first.
        LaunchTemplate: { LaunchTemplateName: templateIn(availabilityZone, launchTemplate, env), Version: '$Latest' },
        InstanceType: instanceType as _InstanceType,
        Placement: { AvailabilityZone: availabilityZone },
        TagSpecifications: [{ ResourceType: 'instance', Tags: toTags(allTags) }],
      })
      try {
        const instance = (await ec2().send(command, limit())).Instances?.[0]
        if (!instance?.InstanceId) throw new Error('RunInstances answered without an instance')
        return toInstance(instance)
      } catch (error) {
        // A look says what happened to it. If EC2 doesn't show it yet, the call is repeated.
        const earlier = madeEarlier(error) ? await findByToken(token) : null
        if (earlier) return earlier
        const scope = refusalScope(error, availabilityZone)
        if (!scope) throw translate(error)
        const code = (error as Error).name
        return { refused: scope, noCapacity: scope === 'place' && isShortage(code), code, error: translate(error) }
      }
    },

    findInstance: (id) => findOne({ InstanceIds: [id] }),

    findByToken,

    async terminate(id) {
      try {
        await ec2().send(new TerminateInstancesCommand({ InstanceIds: [id] }), limit())
        return 'accepted'
      } catch (error) {
        if (isUnknownInstance(error)) return 'unknown'
        throw translate(error)
      }
    },

    async tag(id, tags) {
      try {
        await ec2().send(new CreateTagsCommand({ Resources: [id], Tags: toTags(tags) }), limit())
      } catch (error) {
        throw translate(error)
      }
    },

    async templateVersion(zone, launchTemplate) {
      const LaunchTemplateName = templateIn(zone, launchTemplate, env)
      const command = new DescribeLaunchTemplateVersionsCommand({ LaunchTemplateName, Versions: ['$Latest'] })
      try {
        const [latest] = (await ec2().send(command, limit())).LaunchTemplateVersions ?? []
        return `${latest?.VersionNumber ?? ''}`
      } catch (error) {
        throw translate(error)
      }
    },

    async listPage(after) {
      const input = { ...OURS, ...(after === null ? {} : { NextToken: after }) }
      try {
        const page = await ec2().send(new DescribeInstancesCommand(input), limit())
        return { instances: toInstances(page), next: page.NextToken || null }
      } catch (error) {
        throw translate(error)
      }
    },

    async listInstances(withinMs = LIST_TIMEOUT_MS) {
      const until = { abortSignal: AbortSignal.timeout(withinMs) }
      const instances: CloudInstance[] = []
      const health = new Map<string, string>()
      const readInstances = async () => {
        for await (const page of paginateDescribeInstances({ client: ec2() }, OURS, until))
          instances.push(...toInstances(page))
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

const toTags = (tags: Record<string, string>) => Object.entries(tags).map(([Key, Value]) => ({ Key, Value }))

/** Which version of its launch template made it, by the tag that EC2 adds. */
export const templateVersionOf = ({ tags }: CloudInstance): string | null =>
  tags['aws:ec2launchtemplate:version'] ?? null

function toInstances({ Reservations = [] }: DescribeInstancesCommandOutput): CloudInstance[] {
  return Reservations.flatMap(({ Instances = [] }) => Instances.map(toInstance))
}

function toInstance(instance: Ec2Instance): CloudInstance {
  const tags = Object.fromEntries((instance.Tags ?? []).map((tag) => [tag.Key ?? '', tag.Value ?? '']))
  const refusal = refusalOfEnd(instance)
  return {
    id: instance.InstanceId ?? '',
    name: tags.Name ?? null,
    type: instance.InstanceType ?? '',
    state: (instance.State?.Name ?? 'pending') as InstanceState,
    privateIp: instance.PrivateIpAddress || null,
    publicIp: instance.PublicIpAddress || null,
    launchTime: instance.LaunchTime?.getTime() ?? null,
    token: tags[TOKEN_TAG] ?? null,
    endedAt: endOf(instance.StateTransitionReason),
    endReason: instance.StateTransitionReason || refusal?.words || null,
    shutItselfDown: instance.StateReason?.Code === 'Client.InstanceInitiatedShutdown',
    refusal,
    tags,
  }
}

/** EC2 writes `User initiated (2026-11-22 10:33:12 GMT)`, sometimes words without a time, or nothing. */
function endOf(reason: string | undefined): number | null {
  const [, day, time] = /\((\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (?:GMT|UTC)\)/.exec(reason ?? '') ?? []
  const at = day && time ? Date.parse(`${day}T${time}Z`) : Number.NaN
  return Number.isNaN(at) ? null : at
}
