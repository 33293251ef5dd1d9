import type { DeliveryRow, WebhookRow } from '../../../db/schema/events.ts'
import { toIso } from '../../domain/instant.ts'
import type { Delivery, Webhook } from '../../domain/wire/events.ts'

type Listed = Omit<WebhookRow, 'userId' | 'secrets'> & { waiting: number }

export function toWebhook(row: Listed): Webhook {
  return {
    id: row.id,
    url: row.url,
    events: row.events,
    created_at: toIso(row.createdAt),
    status: row.offAt !== null ? 'off' : row.waiting > 0 ? 'failing' : 'on',
    off_because: row.offBecause,
    answered_at: toIso(row.answeredAt),
  }
}

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    event_id: row.eventId,
    type: row.type,
    created_at: toIso(row.createdAt),
    attempts: row.attempts,
    tried_at: toIso(row.triedAt),
    next_try_at: toIso(row.nextAt),
    taken: row.takenAt !== null,
    status: row.status,
    answer: row.answer,
    payload: row.payload,
  }
}
