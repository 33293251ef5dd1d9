import { resolve } from 'node:path'
import { aws } from './aws.ts'

type Texts = Record<string, string>

/** A stack's parameters; null without such a stack. */
export function parametersOf(region: string, name: string): Texts | null {
  let said: string
  try {
    said = aws(region, 'cloudformation', 'describe-stacks', '--stack-name', name, '--output', 'json')
  } catch (error) {
    if (error instanceof Error && /does not exist/.test(error.message)) return null
    throw error
  }
  const { Parameters = [] } = JSON.parse(said).Stacks[0]
  return Object.fromEntries(Parameters.map((one: Texts) => [one.ParameterKey, one.ParameterValue]))
}

/**
 * Creates or updates it, and waits. Omitted parameters keep their values.
 * @throws the reason of the first resource that failed. AWS has then rolled back everything
 */
export function deployStack(region: string, name: string, file: string, parameters: Texts): void {
  const before = parametersOf(region, name)
  console.log(`${before ? 'Updating' : 'Creating'} the stack ${name} from ${file}. It takes a few minutes.`)
  const given = Object.entries(parameters).map(([ParameterKey, ParameterValue]) => ({ ParameterKey, ParameterValue }))
  const kept = Object.keys(before ?? {})
    .filter((key) => !(key in parameters))
    .map((ParameterKey) => ({ ParameterKey, UsePreviousValue: true }))
  const words = [
    ...['--stack-name', name, '--template-body', `file://${resolve(import.meta.dirname, '..', file)}`],
    ...['--parameters', JSON.stringify([...given, ...kept]), '--capabilities', 'CAPABILITY_NAMED_IAM'],
    ...['--query', 'StackId', '--output', 'text'],
  ]
  const verb = before ? 'update' : 'create'
  let id: string
  try {
    // A stack whose creation failed would be in the way of the next try.
    id = aws(region, 'cloudformation', `${verb}-stack`, ...words, ...(before ? [] : ['--on-failure', 'DELETE']))
  } catch (error) {
    if (error instanceof Error && /No updates are to be performed/.test(error.message)) return
    throw error
  }
  try {
    aws(region, 'cloudformation', 'wait', `stack-${verb}-complete`, '--stack-name', id)
  } catch {
    const failed = "StackEvents[?contains(ResourceStatus, 'FAILED')].[LogicalResourceId, ResourceStatusReason] | [-1]"
    const query = ['--stack-name', id, '--query', failed, '--output', 'text']
    const why = aws(region, 'cloudformation', 'describe-stack-events', ...query).replace(/\s+/g, ' ')
    throw new Error(
      `AWS couldn't ${verb} the stack ${name} (${why}), and took everything back. Correct that, and run it again.`,
    )
  }
}
