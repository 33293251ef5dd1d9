import { Ec2Error } from './ec2-error.ts'
import type { QueryRequest } from './query-request.ts'

/** Returns a function that reads the named filter's values, or undefined for an unknown filter. */
export type FilterFields<T> = (name: string) => ((thing: T) => (string | null)[]) | undefined

// EC2's filter values support `*`, `?`, and a backslash to escape them.
function pattern(value: string): RegExp {
  const source = value.replace(/\\([*?\\])|([*?])|[.+^${}()|[\]\\]/g, (text, escaped, wildcard) => {
    if (wildcard) return wildcard === '*' ? '.*' : '.'
    return `\\${escaped ?? text}`
  })
  return new RegExp(`^${source}$`, 's')
}

/** Combines a request's `Filter.N` into one predicate: all filters must match, each by any of its values. */
export function requestFilter<T>(request: QueryRequest, fields: FilterFields<T>): (thing: T) => boolean {
  const filters = request.structures('Filter').map((filter) => {
    const name = filter.required('Name')
    const values = fields(name)
    if (!values) throw new Ec2Error('InvalidParameterValue', `The filter '${name}' is invalid`)
    const patterns = filter.list('Value').map(pattern)
    return (thing: T) => values(thing).some((value) => value !== null && patterns.some((p) => p.test(value)))
  })
  return (thing) => filters.every((holds) => holds(thing))
}
