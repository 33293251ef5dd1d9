import type { RunRow } from '../../../db/schema/fleet.ts'
import type { EventType } from '../../domain/webhook.ts'
import type { OutgoingEvent } from '../events/outbox.ts'
import type { Context } from '../runtime/context.ts'
import { toServer } from './wire.ts'

/** @param run as it is once the change is written */
export function serverEvent(
  { config }: Pick<Context, 'config'>,
  type: EventType,
  run: RunRow,
  more: Record<string, unknown> = {},
): OutgoingEvent {
  return { type, about: run.id, data: { server: toServer(run, config), ...more } }
}
