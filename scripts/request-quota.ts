import { aws } from './aws.ts'
import { QUOTA } from './doctor/quota.ts'

/** A new account can't start GPU machines. AWS may take days to answer, so we ask at the first zone, once. */
export function requestQuota(region: string, type: string, count: number): void {
  const query = ['--query', 'InstanceTypes[0].VCpuInfo.DefaultVCpus', '--output', 'text']
  const cpus = Number(aws(region, 'ec2', 'describe-instance-types', '--instance-types', type, ...query))
  const quota = ['--service-code', QUOTA.ServiceCode, '--quota-code', QUOTA.QuotaCode]
  const has = Number(
    aws(region, 'service-quotas', 'get-service-quota', ...quota, '--query', 'Quota.Value', '--output', 'text'),
  )
  const needed = cpus * count
  if (has >= needed) return
  try {
    aws(region, 'service-quotas', 'request-service-quota-increase', ...quota, '--desired-value', String(needed))
  } catch (error) {
    if (!/ResourceAlreadyExists/.test(String(error))) throw error
  }
  console.log(
    `AWS allows ${has} vCPUs of G and VT instances, and ${count} ${type} ${count === 1 ? 'needs' : 'need'} ${needed}. We requested them: AWS will email you.`,
  )
}
