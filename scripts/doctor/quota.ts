import { type _InstanceType, DescribeInstanceTypesCommand } from '@aws-sdk/client-ec2'
import { GetServiceQuotaCommand } from '@aws-sdk/client-service-quotas'
import type { PlaceRow } from '../../db/schema/fleet.ts'
import { awsRemedy, words } from '../failure.ts'
import type { Aws } from './aws.ts'
import { type Finding, fail, ok, skip } from './check.ts'

/** vCPUs of "Running On-Demand G and VT instances". New accounts have 0. */
export const QUOTA = { ServiceCode: 'ec2', QuotaCode: 'L-DB2E81BA' }

/** How the account's administrator can raise it. */
const quotaCommand = (region: string, vcpus: number): string =>
  `aws service-quotas request-service-quota-increase --service-code ${QUOTA.ServiceCode} --quota-code ${QUOTA.QuotaCode} --desired-value ${vcpus} --region ${region}`

export async function checkQuota({ region, ec2, quotas }: Aws, inUse: PlaceRow[]): Promise<Finding> {
  try {
    if (inUse.some(({ availabilityZone }) => !availabilityZone.startsWith(region)))
      return skip('quota', `Some places aren't in ${region}. Fix that first.`)
    const types = [...new Set(inUse.map(({ instanceType }) => instanceType))]
    if (!types.length) return skip('quota', 'There are no places yet.')
    const described = await ec2.send(new DescribeInstanceTypesCommand({ InstanceTypes: types as _InstanceType[] }))
    const cpus = new Map(
      described.InstanceTypes?.map((type) => [type.InstanceType as string, type.VCpuInfo?.DefaultVCpus ?? 0]),
    )
    const unknown = types.filter((type) => !cpus.get(type))
    if (unknown.length)
      return fail('quota', `AWS doesn't report how many vCPUs ${unknown.join(', ')} has. Drain these places.`)
    const needed = inUse.reduce((sum, { instanceType }) => sum + (cpus.get(instanceType) ?? 0), 0)
    const { Quota } = await quotas.send(new GetServiceQuotaCommand(QUOTA))
    const has = Quota?.Value ?? 0
    if (has >= needed) return ok('quota', `${has} vCPUs for G and VT instances; all places together need ${needed}`)
    const what = `AWS allows ${has} vCPUs of G and VT instances at once; all places together need ${needed}.`
    return fail('quota', `${what} Request more, or drain places: "${quotaCommand(region, needed)}".`)
  } catch (error) {
    return fail('quota', `It can't be read (${words(error)}). ${awsRemedy(error)}`)
  }
}
