import { gunzipSync } from 'node:zlib'
import {
  type _InstanceType,
  DescribeInstanceStatusCommand,
  DescribeInstancesCommand,
  DescribeInstanceTypeOfferingsCommand,
  DescribeLaunchTemplateVersionsCommand,
  DescribeSubnetsCommand,
  EC2Client,
  type ResponseLaunchTemplateData,
  RunInstancesCommand,
  type Subnet,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2'
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas'
import type { PlaceRow } from '../../db/schema/fleet.ts'
import { OWNER_TAG, templateIn } from '../../src/server/fleet/ec2.ts'
import type { Env } from '../../src/server/settings/env.ts'
import { firstOrigin, type Settings } from '../environment.ts'
import { awsRemedy, words } from '../failure.ts'
import { type Finding, fail, ok, skip } from './check.ts'
import { checkQuota } from './quota.ts'

/** Behind a door, machines need no public address. */
export type Aws = { region: string; ec2: EC2Client; quotas: ServiceQuotasClient; hasDoor: boolean; site: string }

export const clientOf = (settings: Settings) => ({
  region: settings.AWS_REGION ?? '',
  credentials: {
    accessKeyId: settings.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: settings.AWS_SECRET_ACCESS_KEY ?? '',
  },
  ...(settings.EC2_ENDPOINT ? { endpoint: settings.EC2_ENDPOINT } : {}),
  maxAttempts: 3,
  // Without these, the SDK waits forever.
  requestHandler: { connectionTimeout: 5_000, requestTimeout: 15_000 },
})

export async function checkAws(settings: Settings, inUse: PlaceRow[]): Promise<Finding[]> {
  const config = clientOf(settings)
  const aws = {
    region: config.region,
    ec2: new EC2Client(config),
    quotas: new ServiceQuotasClient(config),
    hasDoor: settings.DOOR_DOMAIN !== undefined,
    // A path is a separate fault.
    site: URL.parse(firstOrigin(settings))?.origin ?? '',
  }
  try {
    const key = await checkKey(aws)
    if (key.some(({ state }) => state === 'fail')) return key
    const kinds = kindsOf(inUse, settings)
    const byKind = []
    for (const kind of kinds) byKind.push(...(await checkLaunch(aws, kind)))
    // Kinds that differ only in their template share some faults.
    const once = new Map(byKind.map((finding) => [JSON.stringify(finding), finding])).values()
    return [...key, await checkTerminate(aws), ...once, await checkQuota(aws, inUse)]
  } finally {
    aws.ec2.destroy()
    aws.quotas.destroy()
  }
}

async function checkKey({ ec2 }: Aws): Promise<Finding[]> {
  try {
    await ec2.send(new DescribeInstancesCommand({ MaxResults: 5 }))
    await ec2.send(new DescribeInstanceStatusCommand({ MaxResults: 5 }))
    return [ok('access key', 'it finds instances and their health')]
  } catch (error) {
    return [fail('access key', `It can't find instances (${words(error)}). ${awsRemedy(error)}`)]
  }
}

/** A dry run must name an instance. */
async function checkTerminate({ ec2 }: Aws): Promise<Finding> {
  const ours = [
    { Name: `tag:${OWNER_TAG.key}`, Values: [OWNER_TAG.value] },
    { Name: 'instance-state-name', Values: ['pending', 'running'] },
  ]
  const { Reservations } = await ec2.send(new DescribeInstancesCommand({ Filters: ours, MaxResults: 5 }))
  const id = Reservations?.[0]?.Instances?.[0]?.InstanceId
  if (!id) return skip('terminate', 'No server is running to try it on. Start one and run doctor again.')
  const refusal = await dryRun(() => ec2.send(new TerminateInstancesCommand({ InstanceIds: [id], DryRun: true })))
  if (!refusal) return ok('terminate', 'the access key may')
  return fail('terminate', `AWS refuses (${refusal}), so servers would keep running. Deploy infra/account.yaml.`)
}

type Kind = { type: string; zone: string; template: string }

/** One check covers all places with the same type, zone, and template. */
export function kindsOf(inUse: PlaceRow[], settings: Settings): Kind[] {
  const kinds = inUse.map(({ instanceType, availabilityZone, launchTemplate }) => ({
    type: instanceType,
    zone: availabilityZone,
    template: templateIn(availabilityZone, launchTemplate, settings as Pick<Env, 'EC2_LAUNCH_TEMPLATE'>),
  }))
  return [...new Map(kinds.map((kind) => [Object.values(kind).join(), kind])).values()]
}

/** Like a launch with everything: an older infra/account.yaml may allow less. */
const EVERY_TAG = [
  { Key: OWNER_TAG.key, Value: OWNER_TAG.value },
  ...['Name', 'launch', 'session', 'user', 'environment', 'vehicle', 'image', 'agent'].map((Key) => ({
    Key,
    Value: 'doctor',
  })),
]

async function checkLaunch(aws: Aws, { type, zone, template }: Kind): Promise<Finding[]> {
  const { ec2, region } = aws
  const check = `${type} in ${zone}`
  if (!zone.startsWith(region))
    return [
      fail(check, `AWS_REGION is ${region}, where this zone isn't. Correct AWS_REGION, or else drain these places.`),
    ]
  try {
    const Filters = [
      { Name: 'instance-type', Values: [type] },
      { Name: 'location', Values: [zone] },
    ]
    const offered = await ec2.send(
      new DescribeInstanceTypeOfferingsCommand({ LocationType: 'availability-zone', Filters }),
    )
    if (!offered.InstanceTypeOfferings?.length)
      return [fail(check, `The zone ${zone} doesn't offer it. Drain these places, and add others in another zone.`)]
    const data = await templateData(ec2, template)
    if (!data)
      return [fail(check, `The launch template ${template} doesn't exist. Deploy infra/zone.yaml for ${zone}.`)]
    const wrong = await faultOfTemplate(aws, data, zone)
    if (wrong) return [fail(check, `The launch template ${template} ${wrong} Deploy infra/zone.yaml for ${zone}.`)]
  } catch (error) {
    return [fail(check, `The access key can't read what it needs (${words(error)}). ${awsRemedy(error)}`)]
  }
  const launch = new RunInstancesCommand({
    DryRun: true,
    MinCount: 1,
    MaxCount: 1,
    LaunchTemplate: { LaunchTemplateName: template, Version: '$Latest' },
    InstanceType: type as _InstanceType,
    Placement: { AvailabilityZone: zone },
    TagSpecifications: [{ ResourceType: 'instance', Tags: EVERY_TAG }],
  })
  const refusal = await dryRun(() => ec2.send(launch))
  if (!refusal) return [ok(check, `${template} would launch it`)]
  return [
    fail(
      check,
      `AWS refuses to launch it (${refusal}). Deploy infra/account.yaml for its permissions, and infra/zone.yaml.`,
    ),
  ]
}

export async function templateData(ec2: EC2Client, name: string): Promise<ResponseLaunchTemplateData | null> {
  try {
    const command = new DescribeLaunchTemplateVersionsCommand({ LaunchTemplateName: name, Versions: ['$Latest'] })
    return (await ec2.send(command)).LaunchTemplateVersions?.[0]?.LaunchTemplateData ?? null
  } catch (error) {
    if (error instanceof Error && error.name.startsWith('InvalidLaunchTemplateName')) return null
    throw error
  }
}

async function findSubnet(ec2: EC2Client, id: string): Promise<Subnet | null> {
  try {
    return (await ec2.send(new DescribeSubnetsCommand({ SubnetIds: [id] }))).Subnets?.[0] ?? null
  } catch (error) {
    if (error instanceof Error && error.name.startsWith('InvalidSubnetID')) return null
    throw error
  }
}

/** Completes the sentence "The launch template …". */
async function faultOfTemplate(
  { ec2, hasDoor, site }: Aws,
  data: ResponseLaunchTemplateData,
  zone: string,
): Promise<string | null> {
  const network = data.NetworkInterfaces?.[0]
  if (!network?.SubnetId) return 'names no subnet.'
  const subnet = await findSubnet(ec2, network.SubnetId)
  if (!subnet) return `names the subnet ${network.SubnetId}, which doesn't exist.`
  if (subnet.AvailabilityZone !== zone) return `has its subnet in ${subnet.AvailabilityZone}, not in ${zone}.`
  if ((subnet.AvailableIpAddressCount ?? 1) < 1) return 'has no free address left in its subnet.'
  if (!network.AssociatePublicIpAddress && !hasDoor) return 'gives its machines no public address.'
  if (data.MetadataOptions?.HttpTokens !== 'required') return 'allows version 1 of the metadata service.'
  if (data.MetadataOptions.InstanceMetadataTags !== 'enabled') return "doesn't let a machine read what to run."
  if (data.KeyName) return 'names a key pair.'
  const silent = faultOfUserData(data.UserData, site)
  if (silent) return silent
  return data.BlockDeviceMappings?.every(({ Ebs }) => Ebs?.Encrypted) ? null : 'has a disk that is not encrypted.'
}

/** Whether machines report to this site what happens inside a run. Completes the sentence "The launch template …". */
export function faultOfUserData(userData: string | undefined, site: string): string | null {
  if (!userData) return 'starts nothing at the first boot.'
  const data = Buffer.from(userData, 'base64')
  const isGzip = data.subarray(0, 2).toString('hex') === '1f8b'
  const text = (isGzip ? gunzipSync(data) : data).toString()
  if (!text.includes(`SITE=${site}\n`))
    return `doesn't tell its machines that their site is ${site}, so runs have no log.`
  if (text.includes('/machines/agent.py')) return null
  return 'names an agent of one version, which the site no longer serves. Its runs have no log, and those with parameters, secrets, a registry login, or `until: exit` fail. Deploy the zone again.'
}

/** Null if AWS would do it; otherwise its refusal. */
async function dryRun(call: () => Promise<unknown>): Promise<string | null> {
  try {
    await call()
    return 'it ignored the dry run'
  } catch (error) {
    return error instanceof Error && error.name === 'DryRunOperation' ? null : words(error)
  }
}
