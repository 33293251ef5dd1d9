export type ApiCall = {
  /** Its anchor. */
  id: string
  method: string
  path: string
  summary: string
  /** The scope that a token needs; null: only signed-in browsers may call it, or anyone. */
  scope: string | null
  curl: string | null
  status: number
  answer: string
  refusals: { status: string; reason: string }[]
}

type Schema = {
  $ref?: string
  type?: string
  format?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  items?: Schema
  maxItems?: number
}
type Content = { content: { 'application/json': { schema: Schema } } }
type Operation = {
  operationId: string
  summary: string
  security: Record<string, string[]>[]
  requestBody?: Content
  parameters?: { name: string; in: string }[]
  responses: Record<string, Content & { description: string }>
}
/** The OpenAPI document. */
export type ApiDocument = {
  paths: Record<string, Record<string, unknown>>
  components: { schemas: Record<string, unknown> }
}

/** Realistic values for the examples, by field name. */
const EXAMPLES: Record<string, unknown> = {
  id: 'ses_01kahq3v8x4m2n6p7r9t',
  server_id: 'srv_place-1',
  session_id: 'ses_01kahq3v8x4m2n6p7r9t',
  job_id: 'job_02mbjr4w9y5n3p7q8s0v',
  ip_address: '203.0.113.24',
  door_url: null,
  files_read_only: null,
  disk_nearly_full: false,
  instance_type: 'g6.4xlarge',
  warm: false,
  availability_zone: 'us-east-1a',
  name: 'first flight',
  stop_after: 3600,
  minutes: 30,
  max_gpus: 1,
  environment: 'Mountains',
  vehicle: 'ugv',
  parameters: { SCENARIO: 'harbor-fog' },
  until: null,
  command: null,
  exit_code: null,
  email: 'ada@example.com',
  image: 'ghcr.io/ada/harbor:1',
  active: true,
  available: true,
  ServerAvailable: true,
  paid: true,
  pending: false,
  message: 'Done.',
  plan: 'Basic',
  amount_owed: 12.25,
  amountOwedDollars: 12.25,
  hours: 5,
  hoursUsed: 12,
  seconds_used: 43200,
  serverSessions: 9,
  runningServers: 1,
  sub_type: 'paid',
  plan_type: 'basic',
  end_time: null,
  ended_because: null,
  error_code: null,
  error_message: null,
  cost_dollars: null,
  reason: null,
  code: null,
  transaction_id: null,
  page: undefined,
}
/** The same for fields that mean something else in these shapes. */
const OF_SHAPE: Record<string, Record<string, unknown>> = {
  User: { id: 'user_03ncks5x0z6p4q8r9t1w', name: 'Ada' },
  OwnEnvironment: { name: 'Harbor' },
  ApiToken: { id: 'tok_04pdlt6y1a7q5r9s0v2x', name: 'CI', scope: 'operate', last_address: '198.51.100.7' },
  Secret: { name: 'LICENSE_KEY' },
  RegistryLogin: { host: 'ghcr.io', username: 'ada' },
  Billing: { id: 'bill_05qemu7z2b8r6s0t1w3y', transaction_id: 'in_1Q2w3e4r5t' },
}
/** What a call sends, if its fields mean something else there. */
const SENT: Record<string, Record<string, unknown>> = {
  '/api/v1/environments': { name: 'Harbor' },
  // Only own images get any.
  '/api/v1/aws/auto_cloud_start_request': { secrets: [] },
  '/api/v1/aws/start': { secrets: [] },
  '/api/v1/line': { secrets: [] },
  '/api/v1/files': { path: 'runs/flight.csv', size: 1000 },
  '/api/v1/files/uploads': { path: 'runs/flight.bag', size: 1000, version: '1' },
  '/api/v1/files/uploads/{id}/parts': { parts: [1] },
}
/** What follows the path of a call that does nothing without it. */
const QUERIES: Record<string, string> = {
  'DELETE /api/v1/files': '?path=runs/',
  'GET /api/v1/files/size': '?path=runs/',
}
/** Shell variables for values that differ for each user. */
const VARIABLES: Record<string, string> = {
  server_id: '$SERVER_ID',
  session_id: '$SESSION_ID',
  ip_address: '$ADDRESS',
  ends_at: '$ENDS_AT',
}

/** Each call with an example of what to send and what comes back. */
export function listCalls(document: ApiDocument): ApiCall[] {
  const schemas = document.components.schemas as Record<string, Schema>
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]): ApiCall => {
      const scope = operation.security.flatMap(({ token }) => token ?? [])[0] ?? null
      const [status = '', success] = Object.entries(operation.responses)[0] ?? []
      const refusals = Object.entries(operation.responses).filter(([code]) => Number(code) >= 400)
      return {
        id: operation.operationId.replaceAll('_', '-'),
        method: method.toUpperCase(),
        path,
        summary: operation.summary,
        scope,
        curl: scope && curlOf(method.toUpperCase(), path, operation, schemas),
        status: Number(status),
        answer: JSON.stringify(exampleOf(success?.content['application/json'].schema ?? {}, '', schemas), null, 2),
        refusals: refusals.map(([code, { description }]) => ({ status: code, reason: description })),
      }
    }),
  )
}

function curlOf(
  method: string,
  path: string,
  { requestBody, parameters = [] }: Operation,
  schemas: Record<string, Schema>,
) {
  const address = path
    .replace('/servers/{id}', '/servers/$SESSION_ID')
    .replace('/uploads/{id}', '/uploads/$UPLOAD_ID')
    .replace('{name}', 'Harbor')
  const query = QUERIES[`${method} ${path}`] ?? ''
  const lines = [
    `curl -sS --fail-with-body${method === 'GET' ? '' : ` -X ${method}`} "$PROVING_GROUND_URL${address}${query}"`,
    '-H "Authorization: Bearer $PROVING_GROUND_TOKEN"',
  ]
  if (parameters.some(({ name }) => name === 'Idempotency-Key')) lines.push('-H "Idempotency-Key: $(date +%s)"')
  const sent = requestBody && (exampleOf(requestBody.content['application/json'].schema, '', schemas) as object)
  if (sent) {
    const known = Object.entries(sent).map(([name, value]) => [name, SENT[path]?.[name] ?? VARIABLES[name] ?? value])
    const text = JSON.stringify(Object.fromEntries(known))
    const quoted = text.includes('$') ? `"${text.replaceAll('"', '\\"')}"` : `'${text}'`
    lines.push('-H "Content-Type: application/json"', `-d ${quoted}`)
  }
  return lines.join(' \\\n  ')
}

/** A value that fits the schema. */
function exampleOf(schema: Schema, name: string, schemas: Record<string, Schema>): unknown {
  const shape = schema.$ref?.split('/').at(-1)
  if (shape) {
    const example = exampleOf(schemas[shape] ?? {}, name, schemas)
    return example && { ...(example as object), ...OF_SHAPE[shape] }
  }
  if (schema.properties)
    return Object.fromEntries(
      Object.entries(schema.properties)
        .map(([key, inner]) => [key, exampleOf(inner, key, schemas)])
        .filter(([, value]) => value !== undefined),
    )
  if (schema.items) return schema.maxItems === 0 ? [] : [exampleOf(schema.items, name, schemas)]
  // Elsewhere, `page` is a path that most answers don't have.
  if (name === 'page' && schema.type === 'integer') return 1
  if (name in EXAMPLES) return EXAMPLES[name]
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const choice = schema.anyOf?.find(({ type }) => type !== 'null')
  if (choice) return exampleOf(choice, name, schemas)
  if (schema.format === 'date-time') return '2026-11-22T14:00:00.000Z'
  if (schema.format === 'date') return '2026-11-22'
  if (schema.type === 'boolean') return false
  if (schema.type === 'integer' || schema.type === 'number') return 0
  return 'text'
}
