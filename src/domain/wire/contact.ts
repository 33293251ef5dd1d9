/** A message to sales, or a customer's request for more servers. */
export type MessageKind = 'sales' | 'help' | 'feedback'

export type Message = {
  id: string
  kind: MessageKind | 'more_servers'
  name: string
  email: string
  /** How the sender heard about us, or the topic they need help with. */
  source: string | null
  message: string | null
  created_at: string
}
