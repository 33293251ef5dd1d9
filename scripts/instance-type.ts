import {
  type _InstanceType,
  DescribeInstanceTypeOfferingsCommand,
  DescribeInstanceTypesCommand,
  EC2Client,
} from '@aws-sdk/client-ec2'
import type { Settings } from './environment.ts'

const NEEDED = ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const

/**
 * Asks EC2, because nobody sees a wrong number before a trial has four GPUs.
 * @returns how many GPUs the type has
 * @throws a sentence, if it has none, or the zone doesn't offer it
 */
export async function gpusIn(settings: Settings, type: string, zone: string): Promise<number> {
  const missing = NEEDED.filter((name) => !settings[name])
  if (missing.length) throw new Error(`EC2 knows how many GPUs a type has. To ask it, set ${missing.join(', ')}.`)
  const { AWS_REGION: region = '', AWS_ACCESS_KEY_ID: id = '', AWS_SECRET_ACCESS_KEY: secret = '' } = settings
  if (!zone.startsWith(region)) throw new Error(`AWS_REGION is ${region}, where ${zone} isn't. Correct one of them.`)
  const ec2 = new EC2Client({
    region,
    credentials: { accessKeyId: id, secretAccessKey: secret },
    ...(settings.EC2_ENDPOINT ? { endpoint: settings.EC2_ENDPOINT } : {}),
  })
  try {
    const { InstanceTypes } = await ec2.send(
      new DescribeInstanceTypesCommand({ InstanceTypes: [type as _InstanceType] }),
    )
    const gpus = (InstanceTypes?.[0]?.GpuInfo?.Gpus ?? []).reduce((sum, { Count }) => sum + (Count ?? 0), 0)
    if (gpus < 1) throw new Error(`${type} has no GPU.`)
    const { InstanceTypeOfferings } = await ec2.send(
      new DescribeInstanceTypeOfferingsCommand({
        LocationType: 'availability-zone',
        Filters: [{ Name: 'instance-type', Values: [type] }],
      }),
    )
    const zones = (InstanceTypeOfferings ?? []).map(({ Location }) => Location ?? '').sort()
    if (!zones.includes(zone))
      throw new Error(`${zone} doesn't offer ${type}. ${zones.length ? `These do: ${zones.join(', ')}.` : ''}`.trim())
    return gpus
  } finally {
    ec2.destroy()
  }
}
