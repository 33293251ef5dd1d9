import * as z from 'zod/mini'
import { REFUSALS, type RefusalCode } from '../../../../domain/error.ts'
import * as accounts from '../../../../domain/wire/accounts.ts'
import * as answers from '../../../../domain/wire/answers.ts'
import * as billing from '../../../../domain/wire/billing.ts'
import * as fleet from '../../../../domain/wire/fleet.ts'
import type { RouteFacts, RouteTable, RouteWords } from '../../../http/route-table.ts'
import { textOf } from './call-table.ts'

/** The shapes that the document names. */
const NAMED = {
  User: accounts.user,
  Server: fleet.server,
  Job: fleet.job,
  Subscription: billing.subscription,
  Summary: billing.summary,
  Billing: billing.billing,
  Instance: fleet.instance,
  SignIn: accounts.signIn,
  ApiToken: accounts.apiToken,
  Secret: accounts.storedSecret,
  RegistryLogin: accounts.registryLogin,
  Refusal: answers.refusal,
}

/** ogen, a Go generator, has its own type named Server. */
const NAMES_IN_GO: Record<string, Schema> = { Server: { 'x-ogen-name': 'ServerRun' } }

const REASONS: Record<number | 'default', string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted',
  400: "The body isn't JSON, or a field is missing or has the wrong type",
  401: 'Not signed in',
  402: 'No trial minutes left, suspended, or the plan is unpaid',
  403: 'Not allowed',
  404: "Doesn't exist or isn't yours",
  408: "The body didn't come in time",
  409: 'Conflicts with what is running or exists',
  413: 'The body is over 64 KiB',
  422: 'A rule refused it',
  429: 'Too many requests',
  502: 'A provider refused',
  503: 'No server is free, or something on our side did not answer',
  default: 'Something went wrong on our side; with 503, try again',
}

type Schema = Record<string, unknown>

/** A route that the document lists: it answers JSON to people's own programs and pages. */
type Call = RouteFacts & RouteWords & Required<Pick<RouteWords, 'summary' | 'answers'>>
const isCall = (facts: RouteFacts & RouteWords): facts is Call => facts.summary !== undefined

/** The OpenAPI document of these routes. */
export function describeApi({ facts: routes }: RouteTable, origin = '') {
  const calls = Object.entries(routes).filter((entry): entry is [string, Call] => isCall(entry[1]))
  const answers = z.registry<{ id: string }>()
  for (const [name, schema] of Object.entries(NAMED)) answers.add(schema, { id: name })
  for (const [route, { answers: answer }] of calls) if (!answers.has(answer[1])) answers.add(answer[1], { id: route })
  const { schemas } = z.toJSONSchema(answers, { uri: (id) => `#/components/schemas/${id}`, override: simplify })
  const named = Object.keys(NAMED)
  const schemaOf = (answer: z.ZodMiniType) => {
    const id = answers.get(answer)?.id ?? ''
    return named.includes(id) ? { $ref: `#/components/schemas/${id}` } : bare(schemas[id])
  }

  const paths: Record<string, Record<string, unknown>> = {}
  for (const [route, call] of calls) {
    const [method = '', path = ''] = route.split(' ')
    const name = path.replace(/:(\w+)/g, '{$1}')
    paths[name] = { ...paths[name], [method.toLowerCase()]: operation(route, call, schemaOf) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Proving Ground', version: '1', description: 'GPU cloud simulation servers, rented by the second.' },
    servers: [{ url: origin }],
    paths,
    components: {
      schemas: Object.fromEntries(named.map((name) => [name, { ...bare(schemas[name]), ...NAMES_IN_GO[name] }])),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'An API token: pg_…' },
        browser: {
          type: 'apiKey',
          in: 'cookie',
          name: 'sign_in',
          description: 'A sign-in. Over HTTPS: __Host-sign_in',
        },
      },
    },
  }
}

function operation(route: string, call: Call, schemaOf: (answer: z.ZodMiniType) => Schema) {
  const { summary, description, answers, later, refuses = [], when = {}, query = {}, repeatable } = call
  const { takes, mayBeEmpty, scope, access } = call
  const isChange = !route.startsWith('GET ')
  const [status, answered] = answers
  const codes: RefusalCode[] = [
    ...refuses,
    ...(repeatable ? (['conflict'] as const) : []),
    // Even a public call refuses a revoked API token, and any token unless it has a scope.
    'unauthenticated',
    ...(scope ? [] : (['forbidden'] as const)),
    ...(scope === 'operate' ? (['insufficient_scope'] as const) : []),
    ...(isChange ? (['csrf', 'other_person', 'too_large'] as const) : []),
    'too_many',
    'unavailable',
  ]
  const refused = new Map<number | 'default', Set<RefusalCode>>([
    ...(takes || repeatable ? [[400, new Set<RefusalCode>(['invalid'])] as const] : []),
    ...(isChange ? [[408, new Set<RefusalCode>(['invalid'])] as const] : []),
  ])
  for (const code of codes) {
    const at = code === 'unavailable' ? 'default' : REFUSALS[code]
    refused.set(at, (refused.get(at) ?? new Set()).add(code))
  }
  refused.get(503)?.add('unavailable')
  const parameters = [
    ...[...route.matchAll(/:(\w+)/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...Object.entries(query).map(([name, given]) => ({
      name,
      in: 'query',
      ...(typeof given === 'string' ? { description: given, schema: { type: 'string' } } : given),
    })),
    ...(repeatable
      ? [
          {
            name: 'Idempotency-Key',
            in: 'header',
            description: 'Makes the call safe to repeat for 24 hours',
            schema: { type: 'string', minLength: 1, maxLength: 255 },
          },
        ]
      : []),
  ]
  return {
    operationId: route.replace(/\W+/g, '_').toLowerCase(),
    summary,
    ...(description ? { description: withoutLinks(textOf(description)) } : {}),
    security:
      access === 'public'
        ? []
        : [...(scope ? [{ token: [scope] }] : []), { browser: access === 'admin' ? ['admin'] : [] }],
    ...(parameters.length ? { parameters } : {}),
    ...(takes
      ? {
          requestBody: {
            required: !mayBeEmpty,
            content: json(bare(z.toJSONSchema(takes, { io: 'input', override: simplify }))),
          },
        }
      : {}),
    responses: {
      ...Object.fromEntries(
        [status, later ?? status].map((code) => [
          code,
          { description: REASONS[code], content: json(schemaOf(answered)) },
        ]),
      ),
      ...Object.fromEntries([...refused].sort().map(([status, codes]) => [status, refusal(status, [...codes], when)])),
    },
  }
}

/** Links lead from docs/api.md. */
const withoutLinks = (markdown: string) => markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')

const json = (schema: Schema) => ({ 'application/json': { schema } })

/**
 * @param codes that this call answers with this status
 * @param when it does, by status
 */
function refusal(status: number | 'default', codes: RefusalCode[], when: NonNullable<RouteWords['when']>) {
  const remark = status !== 'default' && when[status]
  return {
    description: `${REASONS[status]}${remark ? `: ${withoutLinks(remark)}` : ''} (${codes.join(', ')})`,
    'x-codes': codes,
    content: json({ $ref: '#/components/schemas/Refusal' }),
  }
}

/** Answers may gain fields, `format` already describes a time, and without a `format`, Go's numbers have 24 bits. */
function simplify({ jsonSchema }: { jsonSchema: Schema }): void {
  if (jsonSchema.type === 'number') jsonSchema.format = 'double'
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  if (jsonSchema.format) delete jsonSchema.pattern
}

function bare(schema: object | undefined): Schema {
  const { $schema: _, $id: __, id: ___, ...rest } = (schema ?? {}) as Schema
  return rest
}
