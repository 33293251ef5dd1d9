import { Ec2Error } from './ec2-error.ts'
import type { QueryRequest } from './query-request.ts'

/** The tags a launch puts on its instances. We accept tags for volumes and other resources, but ignore them. */
export function instanceTags(request: QueryRequest): Record<string, string> {
  const specifications = request.structures('TagSpecification')
  return readTags(
    specifications
      .filter((specification) => specification.required('ResourceType') === 'instance')
      .flatMap((specification) => specification.structures('Tag')),
  )
}

/** The tags that a call names itself. */
export const tagsIn = (request: QueryRequest): Record<string, string> => readTags(request.structures('Tag'))

function readTags(given: QueryRequest[]): Record<string, string> {
  const tags = new Map<string, string>()
  for (const tag of given) {
    const key = tag.required('Key')
    if (tags.has(key)) throw new Ec2Error('InvalidParameterValue', `Duplicate tag key '${key}' specified.`)
    tags.set(key, tagValue(key, tag.text('Value') ?? ''))
  }
  if (tags.size > 50) throw new Ec2Error('TagLimitExceeded', 'An instance can have at most 50 tags.')
  return Object.fromEntries(tags)
}

function tagValue(key: string, value: string): string {
  if (/^aws:/i.test(key)) {
    throw new Ec2Error('InvalidParameterValue', `Tag keys starting with 'aws:' are reserved for internal use: ${key}`)
  }
  if (key.length > 128)
    throw new Ec2Error('InvalidParameterValue', 'Tag key exceeds the maximum length of 128 characters')
  if (value.length > 256) {
    throw new Ec2Error('InvalidParameterValue', 'Tag value exceeds the maximum length of 256 characters')
  }
  return value
}
