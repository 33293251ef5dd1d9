import * as z from 'zod/mini'
import type { TokenScope } from '../api-token.ts'
import { billing } from './billing.ts'
import { instant } from './fields.ts'
import { job, server } from './fleet.ts'

const scope = z.enum(['read', 'operate']) satisfies z.ZodMiniType<TokenScope>

export const user = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  admin: z.boolean(),
})
export type User = z.infer<typeof user>

/** One browser where the user is signed in. */
export const signIn = z.object({
  id: z.string(),
  /** The one making this request. */
  current: z.boolean(),
  user_agent: z.nullable(z.string()),
  address: z.nullable(z.string()),
  created_at: instant,
  last_seen_at: instant,
})
export type SignIn = z.infer<typeof signIn>

/** What a program sends to act for its owner. The token itself is only in the answer that creates it. */
export const apiToken = z.object({
  id: z.string(),
  name: z.string(),
  scope,
  created_at: instant,
  expires_at: instant,
  last_used_at: z.nullable(instant),
  last_address: z.nullable(z.string()),
})
export type ApiToken = z.infer<typeof apiToken>

/** A value for the account's own images, which nobody can read back. */
export const storedSecret = z.object({
  name: z.string(),
  updated_at: instant,
})
export type StoredSecret = z.infer<typeof storedSecret>

export const recoveryCodes = z.object({ recovery_codes: z.array(z.string()) })

export const passkey = z.object({
  id: z.string(),
  name: z.string(),
  added_at: instant,
  last_used_at: z.nullable(instant),
})
export type Passkey = z.infer<typeof passkey>

/** A login that pulls private images of this host. Nobody can read back its token. */
export const registryLogin = z.object({
  host: z.string(),
  username: z.string(),
  updated_at: instant,
})
export type RegistryLogin = z.infer<typeof registryLogin>

const records = z.array(z.looseObject({}))

/** Everything we keep about a person. The rows are for people to read, so they may change. */
export const personalData = z.object({
  exported_at: instant,
  user: z.looseObject({ id: z.string(), name: z.string(), email: z.string() }),
  sign_ins: records,
  activity: records,
  second_factors: z.looseObject({}),
  api_tokens: records,
  webhooks: records,
  environments: records,
  files: records,
  line_groups: records,
  file_removals: records,
  logs: records,
  webhook_deliveries: records,
  subscriptions: records,
  checkouts: records,
  billings: z.array(billing),
  servers: z.array(server),
  server_events: records,
  line: records,
  jobs: z.array(job),
  server_requests: records,
  notices: records,
  mails: records,
  contact_messages: records,
})
