import { asc, eq, sql } from 'drizzle-orm'
import { readByName } from '../../../db/client.ts'
import { apiTokens, signIns, users } from '../../../db/schema/accounts.ts'
import { checkouts, plans } from '../../../db/schema/billing.ts'
import { webhookDeliveries, webhooks } from '../../../db/schema/events.ts'
import { fileFolders, fileRemovals } from '../../../db/schema/files.ts'
import { serverRequests } from '../../../db/schema/fleet.ts'
import { line, lineGroupPeople, lineGroups } from '../../../db/schema/line.ts'
import { contactMessages } from '../../../db/schema/operations.ts'
import { toIso } from '../../domain/instant.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { billsQuery, toBills } from '../billing/bills/billing-history.ts'
import { planPaymentsQuery } from '../billing/bills/plan-payments.ts'
import { toDelivery, toWebhook } from '../events/wire.ts'
import { ownEnvironmentsQuery, toOwnEnvironment } from '../fleet/own-environments.ts'
import { limitPerson } from '../limits/limits.ts'
import type { Context } from '../runtime/context.ts'
import { listActivity, MOST_IN_EXPORT } from './activity.ts'
import { toApiToken } from './api-tokens.ts'
import { getFactors } from './credentials/second-factor.ts'

/** Everything we keep about a person, for them to download, except what grows with every run. @throws too_many */
export async function collectPersonalData(ctx: Context, user: User) {
  const { db } = ctx
  const own = user.id
  await limitPerson(ctx, 'export', own)
  const found = await readByName(db, {
    users: db.select().from(users).where(eq(users.id, own)),
    devices: db.select().from(signIns).where(eq(signIns.userId, own)).orderBy(asc(signIns.createdAt)),
    tokens: db.select().from(apiTokens).where(eq(apiTokens.userId, own)).orderBy(asc(apiTokens.createdAt)),
    plans: db.select().from(plans).where(eq(plans.userId, own)).orderBy(asc(plans.createdAt)),
    visits: db.select().from(checkouts).where(eq(checkouts.userId, own)).orderBy(asc(checkouts.createdAt)),
    wishes: db
      .select()
      .from(serverRequests)
      .where(eq(serverRequests.userId, own))
      .orderBy(asc(serverRequests.createdAt)),
    messages: db.select().from(contactMessages).where(eq(contactMessages.email, user.email)),
    hooks: db.select().from(webhooks).where(eq(webhooks.userId, own)).orderBy(asc(webhooks.createdAt)),
    images: ownEnvironmentsQuery({ db }, own),
    waits: db.select().from(line).where(eq(line.userId, own)),
    groups: db
      .select({ name: lineGroups.name, joinedAt: lineGroupPeople.joinedAt, endsAt: lineGroups.endsAt })
      .from(lineGroupPeople)
      .innerJoin(lineGroups, eq(lineGroups.id, lineGroupPeople.groupId))
      .where(eq(lineGroupPeople.email, user.email)),
    told: db
      .select()
      .from(webhookDeliveries)
      .where(sql`endpoint_id IN (SELECT id FROM webhook_endpoints WHERE user_id = ${own})`)
      .orderBy(asc(webhookDeliveries.createdAt)),
    folders: db.select().from(fileFolders).where(eq(fileFolders.userId, own)),
    removals: db.select().from(fileRemovals).where(eq(fileRemovals.userId, own)).orderBy(asc(fileRemovals.acceptedAt)),
    bills: billsQuery(ctx, own),
    payments: planPaymentsQuery(ctx, own),
  })
  const [account] = found.users
  const [{ totp, recovery_codes, passkeys }, activity] = await Promise.all([
    getFactors(ctx, own),
    listActivity(ctx, user, null, MOST_IN_EXPORT),
  ])
  return {
    exported_at: toIso(ctx.now()),
    user: {
      ...user,
      created_at: toIso(account?.createdAt ?? null),
      confirmed_at: toIso(account?.confirmedAt ?? null),
      suspended_at: toIso(account?.suspendedAt ?? null),
      stop_warned_at: toIso(account?.stopWarnedAt ?? null),
      mailbox_code: account?.mailbox ?? null,
      muted_mails: account?.mutedMails ?? [],
      idle_minutes: account?.idleMinutes ?? null,
      charge_consent_at: toIso(account?.chargeConsentAt ?? null),
      charge_refused_at: toIso(account?.chargeRefusedAt ?? null),
    },
    sign_ins: found.devices.map((row) => ({
      id: row.id,
      user_agent: row.userAgent,
      address: row.address,
      created_at: toIso(row.createdAt),
      last_seen_at: toIso(row.lastSeenAt),
      revoked_at: toIso(row.revokedAt),
    })),
    // Their secrets open the account: those belong only in the app and on paper.
    second_factors: { totp, recovery_codes, passkeys },
    activity: activity.lines,
    api_tokens: found.tokens.map((row) => ({ ...toApiToken(row), revoked_at: toIso(row.revokedAt) })),
    webhooks: found.hooks.map((row) => toWebhook({ ...row, waiting: 0 })),
    environments: found.images.map(toOwnEnvironment),
    line: found.waits.map(({ joinedAt, gpus, start, wishes, givenAt, heldUntil, lapses }) => ({
      joined_at: toIso(joinedAt),
      size: gpus,
      starts_by_itself: start,
      wishes,
      given_at: toIso(givenAt),
      held_until: toIso(heldUntil),
      lapsed_holds: lapses,
    })),
    line_groups: found.groups.map(({ name, joinedAt, endsAt }) => ({
      name,
      joined_at: toIso(joinedAt),
      ends_at: toIso(endsAt),
    })),
    // The files themselves: /files, or any S3 program.
    files: found.folders.map((row) => ({
      used_bytes: row.usedBytes,
      files: row.usedFiles,
      counted_at: toIso(row.countedAt),
      delete_at: toIso(row.deleteAt),
      created_at: toIso(row.createdAt),
    })),
    file_removals: found.removals.map(({ place, acceptedAt, doneAt }) => ({
      place,
      accepted_at: toIso(acceptedAt),
      done_at: toIso(doneAt),
    })),
    webhook_deliveries: found.told.map((row) => ({ webhook_id: row.webhookId, ...toDelivery(row) })),
    subscriptions: found.plans.map((row) => ({
      plan_type: row.planType,
      sub_type: row.subType,
      status: row.status,
      hours: row.hours,
      created_at: toIso(row.createdAt),
      ended_at: toIso(row.endedAt),
    })),
    checkouts: found.visits.map((row) => ({
      plan_type: row.planType,
      status: row.status,
      created_at: toIso(row.createdAt),
    })),
    billings: toBills(found.bills, found.payments, ctx.now()),
    server_requests: found.wishes.map((row) => ({ id: row.id, created_at: toIso(row.createdAt) })),
    contact_messages: found.messages.map(({ createdAt, ...row }) => ({ ...row, created_at: toIso(createdAt) })),
  }
}
