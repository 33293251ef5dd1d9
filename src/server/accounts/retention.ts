import { and, isNotNull, isNull, lt, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import {
  apiTokens,
  deviceLogins,
  passkeyChallenges,
  refusedSignIns,
  signInChallenges,
  signIns,
} from '../../../db/schema/accounts.ts'
import { stripeEvents } from '../../../db/schema/billing.ts'
import { webhookDeliveries } from '../../../db/schema/events.ts'
import { doorLinks, serverRequests } from '../../../db/schema/fleet.ts'
import { lineGroups, lineWaits } from '../../../db/schema/line.ts'
import { notices, outbox } from '../../../db/schema/mail.ts'
import { alerts, contactMessages, incidents } from '../../../db/schema/operations.ts'
import { DAY_MS } from '../../domain/instant.ts'
import { DELIVERY_DAYS, TRACE_DAYS } from '../../domain/retention.ts'
import { IS_UNPAID } from '../billing/bills/debts.ts'
import { forgetKeys } from '../fleet/repeats.ts'
import type { Context } from '../runtime/context.ts'
import { forgetLinks } from './email-tokens.ts'

/** How long a link still identifies its address, so that people needn't type it again. */
const LINK_DAYS = 30
/** So that a late program still learns that its code has expired. */
const DEVICE_LOGIN_DAYS = 1
/** Its owner hears of it within minutes, unless that fails each time. */
const CHALLENGE_DAYS = 1
/** Alerts only prevent a second email within an hour. */
const ALERT_DAYS = 1

/** Deletes what nobody needs anymore. Keeps the records of servers and money. */
export async function forgetTraces(ctx: Pick<Context, 'db' | 'now'>): Promise<void> {
  const daysAgo = (days: number) => ctx.now() - days * DAY_MS
  const traces = daysAgo(TRACE_DAYS)
  await writeBatch(ctx.db, [
    forgetKeys(ctx),
    // They have paid since: only the trial still counts.
    ctx.db.run(sql`UPDATE users SET mailbox = NULL WHERE mailbox IS NOT NULL AND closed_at IS NOT NULL AND email LIKE 'closed:%'
      AND NOT EXISTS (SELECT 1 FROM invoices WHERE user_id = users.id AND ${IS_UNPAID})`),
    ctx.db.run(sql`UPDATE invoices SET bill_to = NULL WHERE bill_to IS NOT NULL
      AND user_id IN (SELECT id FROM users WHERE closed_at IS NOT NULL AND email LIKE 'closed:%')`),
    forgetLinks(ctx, daysAgo(LINK_DAYS)),
    ctx.db.delete(deviceLogins).where(lt(deviceLogins.expiresAt, daysAgo(DEVICE_LOGIN_DAYS))),
    ctx.db.delete(signInChallenges).where(lt(signInChallenges.expiresAt, daysAgo(CHALLENGE_DAYS))),
    ctx.db.delete(passkeyChallenges).where(lt(passkeyChallenges.expiresAt, ctx.now())),
    ctx.db.delete(signIns).where(lt(signIns.expiresAt, traces)),
    ctx.db.delete(refusedSignIns).where(lt(refusedSignIns.hour, traces)),
    ctx.db.delete(doorLinks).where(lt(doorLinks.expiresAt, traces)),
    ctx.db.delete(apiTokens).where(lt(apiTokens.expiresAt, traces)),
    ctx.db.delete(notices).where(lt(notices.at, traces)),
    ctx.db.delete(stripeEvents).where(lt(stripeEvents.receivedAt, traces)),
    ctx.db.delete(outbox).where(and(isNotNull(outbox.sentAt), lt(outbox.sentAt, traces))),
    // Given up: nobody will send these.
    ctx.db.delete(outbox).where(and(isNull(outbox.sentAt), isNull(outbox.sendAt), lt(outbox.createdAt, traces))),
    ctx.db
      .delete(webhookDeliveries)
      .where(and(isNull(webhookDeliveries.nextAt), lt(webhookDeliveries.createdAt, daysAgo(DELIVERY_DAYS)))),
    ctx.db.delete(contactMessages).where(lt(contactMessages.createdAt, traces)),
    ctx.db.delete(serverRequests).where(lt(serverRequests.createdAt, traces)),
    // The status page shows 90 days.
    ctx.db.delete(incidents).where(lt(incidents.endedAt, traces)),
    ctx.db.run(
      sql`DELETE FROM line_group_people WHERE group_id IN (SELECT id FROM line_groups WHERE ends_at < ${traces})`,
    ),
    ctx.db.delete(lineGroups).where(lt(lineGroups.endsAt, traces)),
    ctx.db.delete(lineWaits).where(lt(lineWaits.joinedAt, traces)),
    ctx.db.delete(alerts).where(lt(alerts.toldAt, daysAgo(ALERT_DAYS))),
  ])
}
