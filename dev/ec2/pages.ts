import { Ec2Error } from './ec2-error.ts'
import type { Instance } from './instance.ts'
import type { QueryRequest } from './query-request.ts'

const largestPage = 1000

function pageSize(request: QueryRequest): number {
  const size = request.integer('MaxResults') ?? largestPage
  if (size < 5) {
    const message = `Value ( ${size} ) for parameter maxResults is invalid. Expecting a value greater than 5.`
    throw new Ec2Error('InvalidParameterValue', message)
  }
  return Math.min(size, largestPage)
}

function sequenceOf(token: string | undefined): number {
  if (token === undefined) return 0
  const match = /^after (\d+)$/.exec(Buffer.from(token, 'base64url').toString())
  if (!match) throw new Ec2Error('InvalidParameterValue', 'Unable to parse pagination token')
  return Number(match[1])
}

/**
 * One page of the matching instances in launch order, at most 1000 even without `MaxResults`. The token names
 * the page's last instance, so launches and terminations between pages never repeat or skip one.
 */
export function pageOf(request: QueryRequest, chosen: Instance[]): { page: Instance[]; nextToken: string | undefined } {
  if (request.list('InstanceId').length > 0) {
    if (request.text('MaxResults') !== undefined) {
      const message = 'The parameter instancesSet cannot be used with the parameter maxResults'
      throw new Ec2Error('InvalidParameterCombination', message)
    }
    return { page: chosen, nextToken: undefined }
  }
  const after = sequenceOf(request.text('NextToken'))
  const rest = chosen.filter((instance) => instance.sequence > after)
  const page = rest.slice(0, pageSize(request))
  const last = page.at(-1)
  const nextToken = last && rest.length > page.length ? `after ${last.sequence}` : undefined
  return { page, nextToken: nextToken && Buffer.from(nextToken).toString('base64url') }
}
