import * as z from 'zod/mini'
import { REFUSALS } from '../../../../domain/error.ts'
import * as accounts from '../../../../domain/wire/accounts.ts'
import * as billing from '../../../../domain/wire/billing.ts'
import * as door from '../../../../domain/wire/door.ts'
import * as events from '../../../../domain/wire/events.ts'
import * as fleet from '../../../../domain/wire/fleet.ts'
import type { RouteTable, RouteWords } from '../../../http/route-table.ts'

/** The shapes that docs/api.md describes, by their names there. */
const DESCRIBED = new Map<z.core.$ZodType, string>([
  [accounts.user, 'user'],
  [fleet.server, 'server'],
  [fleet.job, 'job'],
  [events.notice, 'notice'],
  [events.webhook, 'webhook'],
  [accounts.apiToken, 'api_token'],
  [billing.subscription, 'subscription'],
  [billing.billing, 'billing'],
  [fleet.instance, 'instance'],
  [fleet.linePlace, 'line'],
  [door.guest, 'guest'],
])

/** The part of a JSON schema that says which fields there are. */
type Schema = {
  title?: string
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  maxItems?: number
  anyOf?: Schema[]
  const?: unknown
}

/** docs/api.md with the table of these routes. */
export function withCallTable(markdown: string, routes: RouteTable): string {
  return markdown.replace(/(?<=\n<!-- `npm run types` writes .*\n\n)(\|.*\n)+/, () => writeCallTable(routes))
}

/** Each route that says something to programs' authors. */
function writeCallTable({ facts }: RouteTable): string {
  const rows = Object.entries(facts).flatMap(([at, { takes, ...words }]) =>
    words.summary || words.description ? [[callOf(at, words, takes), successOf(words), refusalsOf(words)]] : [],
  )
  return [['call', 'success', 'notable refusals'], ['---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`.replace('|  |', '| |'))
    .join('')
}

export const textOf = (description: NonNullable<RouteWords['description']>) => [description].flat().join(' ')

function callOf(at: string, { query = {} }: RouteWords, takes: z.ZodMiniType | undefined): string {
  const names = Object.keys(query)
  const call = `\`${at}${names.length ? `?${names.map((name) => `${name}=`).join('&')}` : ''}\``
  return takes ? `${call} \`${fieldsOf(takes, 'input')}\`` : call
}

function successOf({ summary, description, answers }: RouteWords): string {
  const shape = answers && `${answers[0]} \`${fieldsOf(answers[1], 'output')}\``
  return [shape && `${shape}.`, summary && `${summary}.`, description && textOf(description)].filter(Boolean).join(' ')
}

function refusalsOf({ refuses = [], when = {} }: RouteWords): string {
  const statuses = new Set([...refuses.map((code) => REFUSALS[code]), ...Object.keys(when).map(Number)])
  const all = [...statuses].sort((a, b) => a - b).map((status) => [status, when[status]].filter(Boolean).join(': '))
  return all.join(Object.keys(when).length ? '; ' : ', ')
}

function fieldsOf(shape: z.ZodMiniType, io: 'input' | 'output'): string {
  const { title: _, ...schema } = z.toJSONSchema(shape, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const name = DESCRIBED.get(zodSchema)
      if (name) jsonSchema.title = name
    },
  })
  return written(schema as Schema)
}

/** `{id, cost: {dollars}, events: [{at}], server}`; empty for a single value. */
function written(schema: Schema): string {
  if (schema.title) return schema.title
  const fields = Object.entries(schema.properties ?? {}).map(([name, inner]) => {
    const of = written(inner)
    return of && of !== name ? `${name}: ${of}` : name
  })
  if (fields.length) return `{${fields.join(', ')}}`
  if (schema.maxItems === 0) return '[]'
  if (schema.items) return written(schema.items) && `[${written(schema.items)}]`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === 'null') return 'null'
  const choice = schema.anyOf?.find(({ type }) => type !== 'null')
  return choice ? written(choice) : ''
}
