import { Ec2Error } from './ec2-error.ts'
import type { QueryRequest } from './query-request.ts'

/** Finds out how a filter of that name reads its values off a thing; undefined when there is no such filter. */
export type FilterFields<T> = (name: string) => ((thing: T) => (string | null)[]) | undefined

// EC2's filter values know `*`, `?` and a backslash before either.
function pattern(value: string): RegExp {
  const source = value.replace(/\\([*?\\])|([*?])|[.+^${}()|[\]\\]/g, (text, escaped, wildcard) => {
    if (wildcard) return wildcard === '*' ? '.*' : '.'
    return `\\${escaped ?? text}`
  })
  return new RegExp(`^${source}$`, 's')
}

/** The `Filter.N` of a request as one predicate: all filters must hold, of each filter any value. */
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
