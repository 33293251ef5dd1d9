import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Wrong } from '../../src/domain/activity.ts'
import type { TokenScope } from '../../src/domain/api-token.ts'
import type { MailKind } from '../../src/domain/notice.ts'

/** Every time is an integer: milliseconds since 1970 in UTC. Every id is text with a readable prefix. */

export const users = sqliteTable(
  'users',
  {
    id: text().primaryKey(),
    /** Trimmed and lower-cased. A closed account keeps its row, not its address. */
    email: text().notNull().unique(),
    name: text().notNull(),
    passwordHash: text('password_hash').notNull(),
    admin: integer({ mode: 'boolean' }).notNull().default(false),
    confirmedAt: integer('confirmed_at'),
    /** Set while a bill is overdue: we refuse starts. */
    suspendedAt: integer('suspended_at'),
    /** While suspended: when we emailed that we will stop the running server tomorrow. */
    stopWarnedAt: integer('stop_warned_at'),
    /** Set while an operator suspends the account for a reason other than a bill: we refuse starts. */
    heldAt: integer('held_at'),
    closedAt: integer('closed_at'),
    /**
     * An HMAC of the mailbox that the address delivers to, once it is confirmed. Null for accounts from before we kept
     * it until a trigger records it, and forgotten with the address.
     */
    mailbox: text(),
    stripeCustomerId: text('stripe_customer_id').unique(),
    /**
     * Every second before this is in a billing record or was free; the open cycle begins here. 0: at
     * `created_at`.
     */
    billedUntil: integer('billed_until').notNull().default(0),
    /** What server time beyond the plan's hours may cost in a month; null: no limit. `src/domain/money/budget.ts` */
    budgetCents: integer('budget_cents'),
    /** Whether we then stop their server. */
    budgetStops: integer('budget_stops', { mode: 'boolean' }).notNull().default(false),
    /** When they last agreed that we charge their card for usage, and when they last said no: `src/domain/money/charge.ts` */
    chargeConsentAt: integer('charge_consent_at'),
    chargeRefusedAt: integer('charge_refused_at'),
    /** Kinds of email that they switched off: `src/domain/notice.ts`. */
    mutedMails: text('muted_mails', { mode: 'json' }).$type<MailKind[]>().notNull().default([]),
    /** After how many minutes without use we stop their server; null: never. `src/domain/idle.ts` */
    idleMinutes: integer('idle_minutes'),
    /** When closing looks at this user next. */
    billingDueAt: integer('billing_due_at').notNull().default(0),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    index('users_billing_due').on(t.billingDueAt),
    index('users_closed').on(t.closedAt).where(sql`closed_at IS NOT NULL`),
    index('users_by_mailbox').on(t.mailbox).where(sql`mailbox IS NOT NULL`),
    index('users_without_mailbox')
      .on(t.confirmedAt)
      .where(sql`mailbox IS NULL AND confirmed_at IS NOT NULL AND password_hash <> ''`),
  ],
)
export type UserRow = typeof users.$inferSelect

/** The user whose row it is. */
export const userId = () =>
  text('user_id')
    .notNull()
    .references(() => users.id)

/** The mailboxes that have had their trial. Outlives the account, and names nobody: see `src/server/accounts/mailboxes.ts`. */
export const trials = sqliteTable('trials_given', {
  mailbox: text().primaryKey(),
  givenAt: integer('given_at').notNull(),
})

/** Random keys that must survive a rotation of SECRET_KEY, encrypted with it. */
export const keptKeys = sqliteTable('kept_keys', {
  purpose: text().$type<'mailbox'>().primaryKey(),
  sealed: text().notNull(),
})

/** Who is signed in: the row that a cookie's JWT names, so that we can revoke it. */
export const signIns = sqliteTable(
  'sign_ins',
  {
    id: text().primaryKey(),
    userId: userId(),
    createdAt: integer('created_at').notNull(),
    lastSeenAt: integer('last_seen_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    revokedAt: integer('revoked_at'),
    /** When they last confirmed their password; null: when they signed in. */
    passwordAt: integer('password_at'),
    userAgent: text('user_agent'),
    address: text(),
    /** Whether this browser had never signed in to the account. */
    newBrowser: integer('new_browser', { mode: 'boolean' }).notNull().default(false),
    /** The network of `address`. The number of people on it decides its rate limits. */
    network: text(),
  },
  (t) => [index('sign_ins_by_user').on(t.userId), index('sign_ins_by_network').on(t.network)],
)

/** How many sign-ins to an account we refused in an hour. Only a count, so that a stranger's guesses can't fill its owner's list. */
export const refusedSignIns = sqliteTable(
  'refused_sign_ins',
  {
    userId: userId(),
    /** When the hour began. */
    hour: integer().notNull(),
    wrong: text().$type<Wrong>().notNull(),
    count: integer().notNull(),
    /** When the last one was, and from where. */
    lastAt: integer('last_at').notNull(),
    userAgent: text('user_agent'),
    address: text(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.hour, t.wrong] }), index('refused_sign_ins_by_hour').on(t.hour)],
)

/** Links in emails. We store only the SHA-256 of the token. */
export const emailTokens = sqliteTable(
  'email_tokens',
  {
    hash: text().primaryKey(),
    userId: userId(),
    purpose: text().$type<'confirm' | 'reset' | 'factor'>().notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    usedAt: integer('used_at'),
  },
  (t) => [index('email_tokens_by_user').on(t.userId)],
)

/** An authenticator app (RFC 6238), one per account. `src/server/accounts/credentials/totp.ts` */
export const totps = sqliteTable('totps', {
  userId: text('user_id')
    .primaryKey()
    .references(() => users.id),
  /** Its secret, encrypted for its account. */
  sealed: text().notNull(),
  createdAt: integer('created_at').notNull(),
  /** The sign-in that started it and may confirm it. */
  signInId: text('sign_in_id').notNull(),
  /** When its owner typed its first code; null: it doesn't count yet. */
  confirmedAt: integer('confirmed_at'),
  /** The step of the last code we accepted. It and earlier ones don't count again. */
  lastStep: integer('last_step').notNull().default(0),
  lastUsedAt: integer('last_used_at'),
})

/** Codes that each open an account once if its other factor is lost. We store only the SHA-256. */
export const recoveryCodes = sqliteTable(
  'recovery_codes',
  {
    userId: userId(),
    hash: text().notNull(),
    createdAt: integer('created_at').notNull(),
    usedAt: integer('used_at'),
  },
  (t) => [primaryKey({ columns: [t.userId, t.hash] })],
)

/**
 * An operator is about to remove an account's second factor, because its owner says that it's lost. We wait a day, so
 * that an owner who still has it can keep it. `src/server/operations/lost-factors.ts`
 */
export const factorRemovals = sqliteTable(
  'factor_removals',
  {
    userId: text('user_id')
      .primaryKey()
      .references(() => users.id),
    /** The operator, and why. */
    actor: text().notNull(),
    reason: text().notNull(),
    dueAt: integer('due_at').notNull(),
  },
  (t) => [index('factor_removals_due').on(t.dueAt)],
)

/** Someone who typed the right password and must still prove a second factor. We store only the SHA-256 of their challenge. */
export const signInChallenges = sqliteTable(
  'sign_in_challenges',
  {
    hash: text().primaryKey(),
    userId: userId(),
    /** A hash of the cookie of the only browser that may answer. */
    browser: text().notNull(),
    tries: integer().notNull().default(0),
    expiresAt: integer('expires_at').notNull(),
    /** Who typed the password, for the account's owner: `src/server/accounts/stopped-sign-ins.ts` */
    newBrowser: integer('new_browser', { mode: 'boolean' }).notNull().default(false),
    userAgent: text('user_agent'),
    address: text(),
  },
  (t) => [index('sign_in_challenges_by_user').on(t.userId), index('sign_in_challenges_by_end').on(t.expiresAt)],
)

/** A passkey (WebAuthn): the public half of a key that never leaves its owner's device. `src/server/accounts/passkeys.ts` */
export const passkeys = sqliteTable(
  'passkeys',
  {
    id: text().primaryKey(),
    userId: userId(),
    /** What its device calls it, in base64url. */
    credentialId: text('credential_id').notNull().unique(),
    /** A COSE key in base64url. */
    publicKey: text('public_key').notNull(),
    /** How often it was used, according to its device; always 0 if the device doesn't count. */
    counter: integer().notNull(),
    /** How browsers reach its device. */
    transports: text({ mode: 'json' }).$type<string[]>().notNull(),
    name: text().notNull(),
    /**
     * Set by a new password until the passkey is used beside it, because someone who knew the old one may have added
     * it. Until then, it can't sign anyone in alone.
     */
    waitsForPassword: integer('waits_for_password', { mode: 'boolean' }).notNull().default(false),
    createdAt: integer('created_at').notNull(),
    lastUsedAt: integer('last_used_at'),
  },
  (t) => [index('passkeys_by_user').on(t.userId)],
)
export type PasskeyRow = typeof passkeys.$inferSelect

/**
 * What a passkey must sign, once. We store only the SHA-256. Challenges for signing in are stored only after they were
 * answered, so that none counts twice. The second step of signing in has its own, in `sign_in_challenges`.
 */
export const passkeyChallenges = sqliteTable(
  'passkey_challenges',
  {
    hash: text().primaryKey(),
    purpose: text().$type<'sign_in' | 'add' | 'confirm'>().notNull(),
    /** Null for signing in: only the answer says who it is. */
    userId: text('user_id').references(() => users.id),
    /** A hash of the cookie of the only browser that may answer. */
    browser: text().notNull(),
    /** The hash of the emailed link, which adding an admin's first factor needs. */
    link: text(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [index('passkey_challenges_by_user').on(t.userId)],
)

/** What a program sends instead of a cookie. We store only the SHA-256 of the token. */
export const apiTokens = sqliteTable(
  'api_tokens',
  {
    id: text().primaryKey(),
    hash: text().notNull().unique(),
    userId: userId(),
    name: text().notNull(),
    scope: text().$type<TokenScope>().notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    revokedAt: integer('revoked_at'),
    lastUsedAt: integer('last_used_at'),
    lastAddress: text('last_address'),
  },
  (t) => [index('api_tokens_by_user').on(t.userId)],
)

/**
 * A command line that requests a token (RFC 8628). Its owner approves it by typing the user code on our page; the
 * program then fetches its token, once. We store only the SHA-256 of the device code.
 */
export const deviceLogins = sqliteTable(
  'device_logins',
  {
    id: text().primaryKey(),
    deviceHash: text('device_hash').notNull().unique(),
    userCode: text('user_code').notNull().unique(),
    /** The program's own name for itself, for its owner to compare. */
    deviceName: text('device_name').notNull(),
    address: text(),
    scope: text().$type<TokenScope>().notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    /** How long the program must wait before it polls again. */
    pollEveryMs: integer('poll_every_ms').notNull(),
    lastPolledAt: integer('last_polled_at'),
    deniedAt: integer('denied_at'),
    /** The token that its approval created. */
    tokenId: text('token_id').references(() => apiTokens.id),
    claimedAt: integer('claimed_at'),
  },
  (t) => [index('device_logins_by_end').on(t.expiresAt), index('device_logins_by_token').on(t.tokenId)],
)
