import { createHash } from 'node:crypto'
import type { Ec2Account } from './account.ts'
import { Ec2Error } from './ec2-error.ts'
import { describeReservation } from './instance-answer.ts'
import type { Launch } from './instances.ts'
import type { QueryRequest } from './query-request.ts'
import { instanceTags } from './tags.ts'
import type { Xml } from './xml.ts'

const mostAtOnce = 1000
const invalid = (message: string) => new Ec2Error('InvalidParameterValue', message)

/** Whether the token repeats an earlier launch. A repeat starts nothing, so it can't run out of capacity. */
export function repeatsLaunch(request: QueryRequest, account: Ec2Account): boolean {
  const clientToken = request.text('ClientToken') ?? null
  const zone = request.text('Placement.AvailabilityZone') ?? null
  return account.instances.ofToken(clientToken, zone).length > 0
}

export function runInstances(request: QueryRequest, account: Ec2Account): { [name: string]: Xml } {
  const { instances, region, dies } = account
  const launched = instances.launch({
    ...readLaunch(request, region, instances.templateVersion()),
    count: readCount(request),
    dies,
  })
  return describeReservation(launched, account.now())
}

function readCount(request: QueryRequest): number {
  request.required('MinCount')
  request.required('MaxCount')
  const least = request.integer('MinCount') ?? 0
  const most = request.integer('MaxCount') ?? 0
  if (least < 1) throw invalid(`Value (${least}) for parameter minCount is invalid. Minimum value is 1.`)
  if (most < least) throw invalid(`Value (${least}) for parameter minCount is invalid. It must not exceed maxCount.`)
  if (most > mostAtOnce) {
    throw new Ec2Error('InstanceLimitExceeded', `You have requested more instances (${most}) than one call may start.`)
  }
  return most
}

function readLaunch(request: QueryRequest, region: string, latest: number): Omit<Launch, 'count' | 'dies'> {
  const clientToken = request.text('ClientToken') ?? null
  if (clientToken !== null && !/^[\x20-\x7e]{1,64}$/.test(clientToken)) {
    throw invalid('The client token must be a string of up to 64 ASCII characters.')
  }
  const template = readLaunchTemplate(request, latest)
  const instanceType = request.text('InstanceType') ?? (template ? 'g6.4xlarge' : 'm1.small')
  if (!/^[a-z][a-z0-9-]*\.[a-z0-9-]+$/.test(instanceType)) {
    throw invalid(`Invalid value '${instanceType}' for InstanceType.`)
  }
  const zone = request.text('Placement.AvailabilityZone') ?? null
  if (zone !== null && !(zone.startsWith(region) && /^[a-z]$/.test(zone.slice(region.length)))) {
    throw invalid(`Invalid availability zone: [${zone}]`)
  }
  return {
    clientToken,
    tokenZone: zone,
    fingerprint: request.fingerprint(['ClientToken', 'DryRun']),
    instanceType,
    imageId: readImage(request, template !== undefined),
    availabilityZone: zone ?? `${region}a`,
    tags: { ...instanceTags(request), ...template },
  }
}

function readImage(request: QueryRequest, hasTemplate: boolean): string {
  const imageId = hasTemplate ? (request.text('ImageId') ?? 'ami-0123456789abcdef0') : request.required('ImageId')
  if (!/^ami-([0-9a-f]{8}|[0-9a-f]{17})$/.test(imageId)) {
    throw new Ec2Error('InvalidAMIID.Malformed', `Invalid id: "${imageId}" (expecting "ami-...")`)
  }
  return imageId
}

/** Every template exists here. Returns the tags EC2 adds to instances launched from a template. */
function readLaunchTemplate(request: QueryRequest, latest: number): Record<string, string> | undefined {
  const id = request.text('LaunchTemplate.LaunchTemplateId')
  const name = request.text('LaunchTemplate.LaunchTemplateName')
  if (id === undefined && name === undefined) return undefined
  if (id !== undefined && name !== undefined) {
    throw new Ec2Error('InvalidParameterCombination', 'Give the launch template by its id or by its name, not by both.')
  }
  if (id !== undefined && !/^lt-([0-9a-f]{8}|[0-9a-f]{17})$/.test(id)) {
    throw new Ec2Error('InvalidLaunchTemplateId.Malformed', `Invalid launch template id: "${id}" (expecting "lt-...")`)
  }
  const version = request.text('LaunchTemplate.Version') ?? '$Default'
  if (!/^([1-9]\d{0,8}|\$Latest|\$Default)$/.test(version)) {
    throw invalid(`Invalid launch template version: either '$Default', '$Latest', or a numeric version are allowed.`)
  }
  const idOfName = () =>
    `lt-${createHash('sha256')
      .update(name ?? '')
      .digest('hex')
      .slice(0, 17)}`
  return {
    'aws:ec2launchtemplate:id': id ?? idOfName(),
    'aws:ec2launchtemplate:version': version === '$Latest' ? `${latest}` : version.startsWith('$') ? '1' : version,
  }
}
