import type { Webhook } from '../../domain/wire/events.ts'
import { Badge } from '../../ui/Badge.tsx'

const STATUS = {
  on: { color: 'green', word: 'On' },
  failing: { color: 'yellow', word: 'Failing' },
  off: { color: 'red', word: 'Off' },
} as const

export function WebhookStatus({ status }: Pick<Webhook, 'status'>) {
  const { color, word } = STATUS[status]
  return <Badge color={color}>{word}</Badge>
}
