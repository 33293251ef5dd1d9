import type { RouterRoute } from 'hono/types'
import * as z from 'zod/mini'
import { REFUSALS, type RefusalCode } from '../../../../domain/error.ts'
import { type RouteFacts, SITE_MAP } from '../../../http/site-map.ts'
import { isOptional, shapeOf } from '../../../http/valid.ts'
import { CALLS, type JsonCall } from './calls.ts'
import * as shapes from './shapes.ts'

/** The shapes that the document names. */
const NAMED = {
  User: shapes.user,
  Server: shapes.server,
  Job: shapes.job,
  Subscription: shapes.subscription,
  Summary: shapes.summary,
  Billing: shapes.billing,
  Instance: shapes.instance,
  SignIn: shapes.signIn,
  ApiToken: shapes.apiToken,
  Secret: shapes.storedSecret,
  Refusal: shapes.refusal,
}

/** ogen, a generator of Go, has a type of its own that is called Server. */
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
  409: 'Conflicts with what is running or exists',
  413: 'The body is over 64 KiB',
  422: 'A rule refused it',
  429: 'Too many requests',
  502: 'A provider refused',
  503: 'No server is free, or something on our side did not answer',
  default: 'Something went wrong on our side; with 503, try again',
}

type Schema = Record<string, unknown>

/** The OpenAPI document: the site map says who may call, the routes' own shapes what to send, CALLS what comes back. */
export function describeApi(routes: RouterRoute[], origin: string) {
  const answers = z.registry<{ id: string }>()
  for (const [name, schema] of Object.entries(NAMED)) answers.add(schema, { id: name })
  for (const [route, { answer }] of Object.entries(CALLS))
    if (!answers.has(answer[1])) answers.add(answer[1], { id: route })
  const { schemas } = z.toJSONSchema(answers, { uri: (id) => `#/components/schemas/${id}`, override: simplify })
  const named = Object.keys(NAMED)
  const schemaOf = (answer: z.ZodMiniType) => {
    const id = answers.get(answer)?.id ?? ''
    return named.includes(id) ? { $ref: `#/components/schemas/${id}` } : bare(schemas[id])
  }

  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of Object.keys(CALLS) as JsonCall[]) {
    const [method = '', path = ''] = route.split(' ')
    const handler = routes.find((at) => `${at.method} ${at.path}` === route && shapeOf(at.handler))?.handler
    const shape = handler ? shapeOf(handler) : null
    const required = handler !== undefined && !isOptional(handler)
    paths[path.replace(/:(\w+)/g, '{$1}')] = {
      ...paths[path.replace(/:(\w+)/g, '{$1}')],
      [method.toLowerCase()]: operation(route, shape && { shape, required }, schemaOf),
    }
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

type Body = { shape: z.ZodMiniType; required: boolean }

function operation(route: JsonCall, body: Body | null, schemaOf: (answer: z.ZodMiniType) => Schema) {
  const { summary, answer, later, refusals = [], query = {}, repeatable } = CALLS[route]
  const facts: RouteFacts = SITE_MAP[route]
  const isChange = !route.startsWith('GET ')
  const [status, answered] = answer
  const codes: RefusalCode[] = [
    ...refusals,
    ...(repeatable ? (['conflict'] as const) : []),
    // Even a public call refuses an API token that is revoked, and any token unless it has a scope.
    'unauthenticated',
    ...(facts.scope ? [] : (['forbidden'] as const)),
    ...(facts.scope === 'operate' ? (['insufficient_scope'] as const) : []),
    ...(isChange ? (['csrf', 'other_person', 'too_large'] as const) : []),
    'too_many',
    'unavailable',
  ]
  const refused = new Map<number | 'default', Set<RefusalCode>>(body || repeatable ? [[400, new Set(['invalid'])]] : [])
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
    security:
      facts.access === 'public'
        ? []
        : [...(facts.scope ? [{ token: [facts.scope] }] : []), { browser: facts.access === 'admin' ? ['admin'] : [] }],
    ...(parameters.length ? { parameters } : {}),
    ...(body
      ? {
          requestBody: {
            required: body.required,
            content: json(bare(z.toJSONSchema(body.shape, { io: 'input', override: simplify }))),
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
      ...Object.fromEntries([...refused].sort().map(([status, codes]) => [status, refusal(status, [...codes])])),
    },
  }
}

const json = (schema: Schema) => ({ 'application/json': { schema } })

/** @param codes that this call answers with this status */
function refusal(status: number | 'default', codes: RefusalCode[]) {
  return {
    description: `${REASONS[status]} (${codes.join(', ')})`,
    'x-codes': codes,
    content: json({ $ref: '#/components/schemas/Refusal' }),
  }
}

/** Answers may gain fields, `format` already describes a time, and without one, Go's numbers have 24 bits. */
function simplify({ jsonSchema }: { jsonSchema: Schema }): void {
  if (jsonSchema.type === 'number') jsonSchema.format = 'double'
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  if (jsonSchema.format) delete jsonSchema.pattern
}

function bare(schema: object | undefined): Schema {
  const { $schema: _, $id: __, id: ___, ...rest } = (schema ?? {}) as Schema
  return rest
}
