import { createHash } from 'node:crypto'
import { Ec2Error } from './ec2-error.ts'

/** An EC2 Query protocol call: flat form parameters, with lists numbered from 1 (`Filter.1.Value.2`). */
export class QueryRequest {
  readonly #parameters: Map<string, string>

  constructor(parameters: Iterable<[string, string]>) {
    this.#parameters = new Map(parameters)
  }

  static parse(body: string): QueryRequest {
    return new QueryRequest(new URLSearchParams(body))
  }

  /** EC2 treats an empty parameter as absent. */
  text(name: string): string | undefined {
    return this.#parameters.get(name) || undefined
  }

  required(name: string): string {
    const value = this.text(name)
    if (value === undefined) throw new Ec2Error('MissingParameter', `The request must contain the parameter ${name}`)
    return value
  }

  integer(name: string): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    if (!/^-?\d{1,9}$/.test(value)) {
      throw new Ec2Error(
        'InvalidParameterValue',
        `Value (${value}) for parameter ${name} is invalid. Expecting a number.`,
      )
    }
    return Number(value)
  }

  flag(name: string): boolean {
    return this.text(name)?.toLowerCase() === 'true'
  }

  /** The values of `Prefix.1`, `Prefix.2`, …, in numeric order. */
  list(prefix: string): string[] {
    return this.#numbered(prefix, /^(\d+)$/).map(([, , value]) => value)
  }

  /** The structures `Prefix.1.…`, `Prefix.2.…`, each as its own request without the prefix. */
  structures(prefix: string): QueryRequest[] {
    const byNumber = new Map<number, [string, string][]>()
    for (const [number, name, value] of this.#numbered(prefix, /^(\d+)\.(.+)$/)) {
      byNumber.set(number, [...(byNumber.get(number) ?? []), [name, value]])
    }
    return [...byNumber.values()].map((parameters) => new QueryRequest(parameters))
  }

  /** Equal for calls with the same parameters, ignoring those in `except`. */
  fingerprint(except: string[]): string {
    const counted = [...this.#parameters]
      .filter(([name]) => !except.includes(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
    return createHash('sha256').update(JSON.stringify(counted)).digest('base64url')
  }

  #numbered(prefix: string, rest: RegExp): [number: number, name: string, value: string][] {
    const found: [number, string, string][] = []
    for (const [name, value] of this.#parameters) {
      const match = name.startsWith(`${prefix}.`) ? rest.exec(name.slice(prefix.length + 1)) : null
      if (match) found.push([Number(match[1]), match[2] ?? '', value])
    }
    return found.sort(([a], [b]) => a - b)
  }
}
