import type { Ec2Account } from './account.ts'
import { Ec2Error } from './ec2-error.ts'
import type { QueryRequest } from './query-request.ts'
import { tagsIn } from './tags.ts'
import type { Xml } from './xml.ts'

export function createTags(request: QueryRequest, { instances, region }: Ec2Account): { [name: string]: Xml } {
  const ids = request.list('ResourceId')
  if (ids.length === 0) throw new Ec2Error('MissingParameter', 'The request must contain the parameter ResourceId')
  instances.tag(ids, tagsIn(request), region)
  return { return: true }
}

/** Every template exists here, and all have the same versions. */
export function describeLaunchTemplateVersions(
  request: QueryRequest,
  { instances }: Ec2Account,
): { [name: string]: Xml } {
  const launchTemplateName = request.required('LaunchTemplateName')
  return { launchTemplateVersionSet: [{ launchTemplateName, versionNumber: instances.templateVersion() }] }
}
