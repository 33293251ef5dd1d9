type Values = string | string[]

export type Statement = {
  Sid: string
  Effect: 'Allow'
  Action: Values
  Resource: Values
  Condition?: Record<string, Record<string, Values>>
}

/** What IAM looks at: one call on one resource, with the condition keys that AWS documents for it. */
export type Access = { action: string; resource?: string; keys?: Record<string, Values> }

const OPERATORS: Record<string, (wanted: string, actual: string) => boolean> = {
  StringEquals: (wanted, actual) => wanted === actual,
  Bool: (wanted, actual) => wanted === actual,
  ArnLike: like,
}

/**
 * The Sid of the statement that allows an access, otherwise null. Only the IAM rules that our policy uses: only
 * Allow, three operators, and a missing key fails its condition, except with `ForAllValues:`.
 */
export function allowedBy(policy: Statement[], { action, resource = '*', keys = {} }: Access): string | null {
  const allows = ({ Action, Resource, Condition = {} }: Statement) =>
    list(Action).some((pattern) => like(pattern, action)) &&
    list(Resource).some((pattern) => like(pattern, resource)) &&
    Object.entries(Condition).every(([operator, wants]) =>
      Object.entries(wants).every(([key, values]) => {
        const [, forAll, name = ''] = /^(ForAllValues:)?(.*)$/.exec(operator) ?? []
        const holds = OPERATORS[name]
        if (!holds) throw new Error(`The condition operator ${operator} is unknown here.`)
        const actual = list(keys[key] ?? [])
        const isWanted = (one: string) => list(values).some((value) => holds(value, one))
        return forAll ? actual.every(isWanted) : actual.length === 1 && actual.every(isWanted)
      }),
    )
  return policy.find(allows)?.Sid ?? null
}

const list = (values: Values): string[] => (typeof values === 'string' ? [values] : values)

function like(pattern: string, text: string): boolean {
  const literal = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${literal.join('.*')}$`, 'i').test(text)
}
