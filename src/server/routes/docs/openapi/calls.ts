import * as z from 'zod/mini'
import type { RefusalCode } from '../../../../domain/error.ts'
import { RUN_STATUSES } from '../../../../domain/run-list.ts'
import type { SITE_MAP } from '../../../http/site-map.ts'
import * as shape from './shapes.ts'

type Rows = typeof SITE_MAP
type Call = { [Route in keyof Rows]: Rows[Route] extends { kind: 'call' } ? Route : never }[keyof Rows]

/** Calls that browsers, search engines, Stripe, monitors, our machines, the console, or our own deployment make, the socket, and a redirect. */
type OtherCall =
  | Extract<Call, `${string} /admin/${string}`>
  | 'POST /servers/:id/extend'
  | 'POST /servers/:id/stop'
  | 'POST /mails/off'
  | 'GET /notices/latest'
  | 'POST /theme'
  | 'POST /files'
  | 'GET /healthz'
  | 'GET /readyz'
  | 'GET /metrics'
  | 'GET /robots.txt'
  | 'GET /sitemap.xml'
  | 'GET /llms.txt'
  | 'GET /prefetch.json'
  | 'POST /webhooks/stripe'
  | 'POST /machines/credentials'
  | 'POST /machines/key'
  | 'POST /machines/files'
  | 'GET /cable'
  | 'GET /api/v1/servers/:id/tcp/:port'
  | 'GET /api/v1/files/content'
  | 'GET /api/v1/files/deletions'
  | 'POST /api/v1/files/deletions/:id/undo'
  | 'POST /api/v1/files/folders'
  | 'POST /api/v1/files/moves'
  | 'GET /api/openapi.json'
  | 'POST /oauth/device_authorization'
  | 'POST /oauth/token'

export type JsonCall = Exclude<Call, OtherCall>

/** What it means, and its schema; without one, any text. */
type Parameter = string | { description: string; schema: Record<string, unknown> }

type Description = {
  summary: string
  /** The status of success, and the shape of its answer. */
  answer: [status: 200 | 201 | 202, shape: z.ZodMiniType]
  /** It answers the same while the work goes on. */
  later?: 202
  /** The codes of refusals that are particular to this call. */
  refusals?: RefusalCode[]
  query?: Record<string, Parameter>
  /** Takes an Idempotency-Key. */
  repeatable?: true
}

const MAY_NOT_START: RefusalCode[] = [
  'no_minutes',
  'suspended',
  'plan_unpaid',
  'no_plan',
  'budget',
  'held',
  'has_server',
  'stopping',
  'conflict',
  'invalid',
  'not_offered',
]

const started = [202, z.object({ job_id: z.string() })] as const

/** What the document adds to each call's row in the site map and the shape that checks its body. */
export const CALLS: Record<JsonCall, Description> = {
  'POST /users': { summary: 'Sign up', answer: [201, shape.message], refusals: ['invalid'] },
  'PUT /users': {
    summary: 'Change your name or password',
    answer: [200, z.object({ status: z.literal('ok'), user: shape.user, message: z.string() })],
    refusals: ['invalid'],
  },
  'DELETE /users': {
    summary: 'Close your account',
    answer: [200, shape.message],
    refusals: ['invalid', 'provider_failed'],
  },
  'GET /users/confirmation': {
    summary: 'Confirm an email address',
    answer: [200, z.extend(shape.message, { trial: z.boolean() })],
    refusals: ['invalid'],
    query: { confirmation_token: 'From the email' },
  },
  'POST /users/confirmation': { summary: 'Email the link again', answer: [200, shape.message], refusals: ['invalid'] },
  'POST /users/password': {
    summary: 'Email a link to reset a password',
    answer: [200, shape.message],
    refusals: ['invalid'],
  },
  'PUT /users/password': { summary: 'Reset a password', answer: [200, shape.message], refusals: ['invalid'] },
  'POST /users/sign_in': {
    summary: 'Sign in a browser',
    answer: [200, z.object({ user: shape.user, page: z.string() })],
    refusals: ['invalid_credentials', 'forbidden', 'invalid'],
  },
  'DELETE /users/sign_out': { summary: 'Sign out', answer: [200, shape.message] },
  'GET /api/v1/users/get_session': { summary: 'Show who is signed in', answer: [200, z.object({ Body: shape.user })] },
  'GET /api/v1/users/export': { summary: 'Download your data', answer: [200, shape.personalData] },
  'GET /api/v1/users/sign_ins': {
    summary: 'List your sign-ins',
    answer: [200, z.object({ sign_ins: z.array(shape.signIn) })],
  },
  'DELETE /api/v1/users/sign_ins': { summary: 'Sign out everywhere', answer: [200, shape.message] },
  'DELETE /api/v1/users/sign_ins/:id': {
    summary: 'End a sign-in',
    answer: [200, shape.message],
    refusals: ['not_found'],
  },
  'POST /api_tokens': {
    summary: 'Create an API token',
    answer: [201, z.extend(shape.apiToken, { token: z.string() })],
    refusals: ['conflict', 'invalid'],
  },
  'GET /api/v1/api_token': {
    summary: 'Show the API token in use',
    answer: [200, z.object({ api_token: shape.apiToken })],
    refusals: ['not_found'],
  },
  'DELETE /api/v1/api_token': {
    summary: 'Revoke the API token in use',
    answer: [200, shape.message],
    refusals: ['not_found'],
  },
  'POST /activate': {
    summary: 'Approve a command line, or refuse it',
    answer: [200, shape.message],
    refusals: ['not_found', 'conflict', 'invalid'],
  },
  'DELETE /api_tokens/:id': { summary: 'Revoke an API token', answer: [200, shape.message], refusals: ['not_found'] },
  'POST /webhooks': {
    summary: 'Add a webhook',
    answer: [201, z.extend(shape.webhook, { secret: z.string() })],
    refusals: ['conflict', 'invalid'],
  },
  'DELETE /webhooks/:id': { summary: 'Delete a webhook', answer: [200, shape.message], refusals: ['not_found'] },
  'POST /webhooks/:id/secret': {
    summary: "Replace a webhook's secret",
    answer: [201, z.object({ secret: z.string() })],
    refusals: ['not_found', 'conflict', 'invalid'],
  },
  'POST /webhooks/:id/on': {
    summary: 'Turn a webhook on again',
    answer: [200, shape.message],
    refusals: ['not_found'],
  },
  'POST /webhooks/:id/test': {
    summary: 'Send a test event',
    answer: [202, shape.message],
    refusals: ['not_found', 'conflict'],
  },
  'POST /webhooks/:id/deliveries/:event': {
    summary: 'Send an event again',
    answer: [202, shape.message],
    refusals: ['not_found', 'conflict'],
  },
  'GET /api/v1/secrets': {
    summary: 'List the names of your secrets',
    answer: [200, z.object({ secrets: z.array(shape.storedSecret) })],
  },
  'PUT /secrets/:name': {
    summary: 'Add a secret, or replace its value',
    answer: [200, shape.storedSecret],
    refusals: ['conflict', 'invalid', 'not_found'],
  },
  'POST /secrets': {
    summary: 'Add a secret, or replace its value, by a form',
    answer: [200, shape.storedSecret],
    refusals: ['conflict', 'invalid'],
  },
  'DELETE /secrets/:name': { summary: 'Remove a secret', answer: [200, shape.message], refusals: ['not_found'] },
  'GET /api/v1/servers/get_servers': {
    summary: 'List your latest servers, newest first',
    answer: [200, z.object({ servers: z.array(shape.server) })],
  },
  'GET /api/v1/servers': {
    summary: 'List all your servers, newest first, 50 a page',
    answer: [200, z.object({ servers: z.array(shape.server), page: z.int(), pages: z.int() })],
    query: {
      page: { description: 'Counts from 1', schema: { type: 'integer', minimum: 1, maximum: 999_999 } },
      q: {
        description: 'Part of a name, an ID, a machine, or a zone',
        schema: { type: 'string', maxLength: 100 },
      },
      month: {
        description: 'When they were requested: YYYY-MM, in UTC',
        schema: { type: 'string', pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$' },
      },
      status: { description: 'What it is now', schema: { type: 'string', enum: RUN_STATUSES } },
    },
    refusals: ['invalid'],
  },
  'GET /api/v1/servers/:id': {
    summary: 'Show one server: what happened, what it cost, and when EC2 ran it',
    answer: [200, shape.run],
    refusals: ['not_found'],
  },
  'GET /api/v1/servers/:id/log': {
    summary: "Read a server's log: what its program prints, and what its machine does with it",
    answer: [200, shape.logPart],
    query: {
      after: {
        description: 'The lines that follow the one with this number. All by default',
        schema: { type: 'integer', minimum: 0 },
      },
    },
    refusals: ['not_found', 'invalid'],
  },
  'DELETE /api/v1/servers/:id/log': {
    summary: "Delete a server's log so far",
    answer: [200, shape.message],
    refusals: ['not_found'],
  },
  'GET /api/v1/servers/:id/metrics': {
    summary: "Show how busy a server's machine is: GPU, CPU, memory, disk, and network",
    answer: [200, shape.metrics],
    query: {
      since: {
        description: 'The samples from this time on. The last hour by default',
        schema: { type: 'string', format: 'date-time' },
      },
    },
    refusals: ['not_found', 'invalid'],
  },
  'GET /api/v1/servers/:id/guests': {
    summary: "List the guests of your server's own address",
    answer: [200, z.object({ guests: z.array(shape.guest) })],
    refusals: ['not_found'],
  },
  'POST /api/v1/servers/:id/guests': {
    summary: 'Make a link that lets guests into your server',
    answer: [201, z.object({ guest: z.extend(shape.guest, { url: z.string() }) })],
    refusals: ['not_found', 'not_running', 'conflict', 'invalid'],
  },
  'DELETE /api/v1/servers/:id/guests/:guest': {
    summary: "End a guest's link and close their connections",
    answer: [200, shape.message],
    refusals: ['not_found'],
  },
  'GET /api/v1/notices': {
    summary: 'List your latest notices, newest first',
    answer: [200, z.object({ notices: z.array(shape.notice), unread: z.int() })],
  },
  'POST /api/v1/notices/read': {
    summary: 'Mark your notices as read',
    answer: [200, shape.message],
    refusals: ['invalid'],
  },
  'GET /api/v1/idle': {
    summary: 'See after how many minutes without use your server stops',
    answer: [200, z.object({ minutes: z.nullable(z.int()) })],
  },
  'POST /api/v1/idle': {
    summary: 'Stop servers that nobody uses',
    answer: [200, z.extend(shape.message, { minutes: z.nullable(z.int()) })],
    refusals: ['invalid'],
  },
  'POST /api/v1/mails': {
    summary: 'Choose your emails: those you leave out stay as they are',
    answer: [200, z.extend(shape.message, { mails: shape.mails })],
  },
  'GET /api/v1/aws/server_available': { summary: 'See which servers are free', answer: [200, shape.availability] },
  'GET /api/v1/files': {
    summary: 'List a folder of your files',
    answer: [200, shape.fileList],
    refusals: ['not_found', 'invalid'],
    query: { path: 'A folder; without it, all of yours', after: 'The `next` of the page before' },
  },
  'POST /api/v1/files': {
    summary: 'Request a link to upload a file',
    answer: [201, z.object({ upload: shape.fileUpload })],
    refusals: ['no_plan', 'not_found', 'conflict', 'invalid'],
  },
  'GET /api/v1/files/size': {
    summary: 'Count what is in a folder, up to 8,000 files',
    answer: [200, shape.folderSize],
    refusals: ['not_found', 'invalid'],
    query: { path: 'A folder; its path ends in a slash' },
  },
  'DELETE /api/v1/files': {
    summary: 'Delete a file, or a folder with everything in it, for good',
    answer: [200, z.extend(shape.message, { path: z.string(), files_left: z.int() })],
    later: 202,
    refusals: ['not_found', 'invalid'],
    query: {
      path: 'A file, or a folder, whose path ends in a slash',
      only: {
        description: '`file`: a file whose name ends in a slash, not the folder',
        schema: { type: 'string', enum: ['file'] },
      },
    },
  },
  'GET /api/v1/files/uploads': {
    summary: 'List uploads in parts that can continue',
    answer: [200, z.object({ uploads: z.array(shape.unfinishedUpload) })],
    refusals: ['not_found'],
  },
  'POST /api/v1/files/uploads': {
    summary: 'Begin an upload in parts, or continue it',
    answer: [200, z.object({ upload: shape.partsUpload })],
    refusals: ['no_plan', 'not_found', 'conflict', 'invalid'],
  },
  'POST /api/v1/files/uploads/:id/parts': {
    summary: 'Request links to upload parts',
    answer: [200, shape.partLinks],
    refusals: ['not_found', 'invalid'],
  },
  'POST /api/v1/files/uploads/:id/complete': {
    summary: 'Make the file of its parts',
    answer: [200, z.extend(shape.message, { file: z.object({ path: z.string(), size: z.number() }) })],
    refusals: ['not_found', 'conflict', 'invalid'],
  },
  'DELETE /api/v1/files/uploads/:id': {
    summary: 'Discard an unfinished upload',
    answer: [200, shape.message],
    refusals: ['not_found'],
  },
  'POST /api/v1/files/credentials': {
    summary: 'Request credentials for your files, for 15 minutes or longer',
    answer: [201, z.object({ credentials: shape.filesAccess })],
    refusals: ['not_found', 'conflict'],
  },
  'GET /api/v1/environments': { summary: 'List what a server can simulate', answer: [200, shape.worlds] },
  'POST /api/v1/environments': {
    summary: 'Add a container image of your own as an environment',
    answer: [201, z.extend(shape.message, { environment: shape.ownEnvironment })],
    refusals: ['forbidden', 'conflict', 'invalid'],
  },
  'DELETE /api/v1/environments/:name': {
    summary: 'Remove an environment of your own',
    answer: [200, shape.message],
    refusals: ['not_found'],
  },
  'GET /api/v1/line': {
    summary: 'Show your place in line',
    answer: [200, z.object({ line: z.nullable(shape.linePlace) })],
    refusals: ['not_found'],
  },
  'POST /api/v1/line': {
    summary: 'Wait in line for a server',
    answer: [201, z.extend(shape.message, { line: shape.linePlace })],
    refusals: [...MAY_NOT_START, 'not_found', 'no_capacity'],
  },
  'DELETE /api/v1/line': {
    summary: 'Leave the line',
    answer: [200, z.extend(shape.message, { line: z.null() })],
    refusals: ['not_found'],
  },
  'POST /api/v1/aws/auto_cloud_start_request': {
    summary: 'Start a server in any free place',
    answer: [
      202,
      z.object({ server: shape.server, job_id: z.string(), errors: z.array(z.string()).check(z.maxLength(0)) }),
    ],
    refusals: [...MAY_NOT_START, 'no_capacity'],
    repeatable: true,
  },
  'POST /api/v1/aws/start': {
    summary: 'Start a server in a given place',
    answer: [...started],
    refusals: [...MAY_NOT_START, 'not_found', 'no_capacity'],
    repeatable: true,
  },
  'POST /api/v1/aws/stop_server': {
    summary: 'Stop a server',
    answer: [202, z.object({ job_id: z.string(), server: shape.server })],
    refusals: ['not_found', 'not_running', 'invalid'],
    repeatable: true,
  },
  'PUT /api/v1/servers/:id': {
    summary: "Change a server's end or its name",
    answer: [200, z.object({ server: shape.server, message: z.string() })],
    refusals: ['not_found', 'not_running', 'conflict', 'invalid'],
  },
  'POST /api/v1/aws/check_server_ip_status': {
    summary: 'See whether your server answers',
    answer: [200, z.object({ status: z.enum(['reachable', 'unreachable']), code: z.nullable(z.string()) })],
    refusals: ['not_found'],
  },
  'POST /api/servers/request_more': { summary: 'Request more servers', answer: [202, shape.message] },
  'GET /api/v1/instances': {
    summary: 'List all instances (admins)',
    answer: [200, z.array(shape.instance)],
    refusals: ['provider_failed'],
  },
  'GET /api/v1/billings/summary': { summary: "See this month's usage and your plan", answer: [200, shape.summary] },
  'GET /api/v1/billings/history': {
    summary: 'List your bills, newest first',
    answer: [200, z.object({ billings: z.array(shape.billing) })],
  },
  'POST /api/v1/billings/portal': {
    summary: "Open Stripe's page with your payment method and receipts",
    answer: [200, z.object({ url: z.url() })],
    refusals: ['not_found', 'provider_failed'],
  },
  'POST /api/v1/billings/charge_card': {
    summary: 'Choose whether we charge your card for usage',
    answer: [200, z.object({ message: z.string(), charges_card: z.boolean() })],
  },
  'POST /api/v1/billings/budget': {
    summary: 'Set or remove your monthly budget',
    answer: [200, z.object({ message: z.string(), budget: shape.budget })],
    refusals: ['invalid'],
  },
  'POST /api/v1/subscriptions/cancel_subscription_at_period_end': {
    summary: 'Cancel your plan at the end of its period',
    answer: [200, z.object({ subscription: z.nullable(shape.subscription), message: z.string() })],
    refusals: ['not_found', 'provider_failed'],
  },
  'POST /api/v1/subscriptions/keep_subscription': {
    summary: 'Keep your plan: undo its cancellation, or its change with the next period',
    answer: [200, z.object({ subscription: shape.subscription, message: z.string() })],
    refusals: ['not_found', 'conflict', 'provider_failed'],
  },
  'POST /api/v1/subscriptions/change_plan': {
    summary: 'Upgrade at once, or switch to the smaller plan with the next period',
    answer: [200, z.object({ subscription: shape.subscription, message: z.string() })],
    refusals: ['plan_unpaid', 'not_found', 'conflict', 'invalid', 'not_offered', 'provider_failed'],
  },
  'POST /api/v1/subscriptions/create_checkout_session': {
    summary: 'Open a checkout page',
    answer: [200, z.object({ url: z.url() })],
    refusals: ['conflict', 'invalid', 'not_offered', 'provider_failed'],
  },
  'POST /api/v1/contact_sales': {
    summary: 'Write to sales',
    answer: [200, z.object({ Errors: z.array(z.string()).check(z.maxLength(0)) })],
    refusals: ['invalid'],
  },
  'POST /api/v1/help': { summary: 'Ask for help', answer: [200, shape.message], refusals: ['invalid'] },
  'POST /api/v1/feedback': { summary: 'Send feedback', answer: [200, shape.message], refusals: ['invalid'] },
}
