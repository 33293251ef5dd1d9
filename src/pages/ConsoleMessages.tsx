import type { Message } from '../domain/wire/contact.ts'
import { Badge } from '../ui/Badge.tsx'
import { ButtonLink } from '../ui/Button.tsx'
import { EmptyState } from '../ui/States.tsx'
import { Time } from '../ui/Time.tsx'
import { ConsoleTabs } from './console/ConsoleTabs.tsx'

const KINDS = {
  sales: { label: 'Contact sales', color: 'green', about: 'via' },
  help: { label: 'Help', color: 'red', about: 'Topic:' },
  feedback: { label: 'Feedback', color: 'gray', about: '' },
  more_servers: { label: 'More servers', color: 'yellow', about: '' },
} as const

/** What people wrote to us and their requests for more servers, newest first. */
export function ConsoleMessages({ messages, older }: { messages: Message[]; older: string | null }) {
  return (
    <div className="page page-wide console">
      <ConsoleTabs here="/console/messages" />
      <header className="page-head">
        <h1>Messages</h1>
      </header>
      {messages.length ? (
        <ol className="messages">
          {messages.map((message) => (
            <MessageItem key={message.id} {...message} />
          ))}
        </ol>
      ) : (
        <EmptyState>No messages yet.</EmptyState>
      )}
      {older ? (
        <ButtonLink href={`/console/messages?before=${encodeURIComponent(older)}`}>Older messages</ButtonLink>
      ) : null}
    </div>
  )
}

/** Encoded, so that a stranger's address (`…?bcc=…`) can't add a recipient or words to our reply. */
function mailto(email: string): string {
  return `mailto:${email.split('@').map(encodeURIComponent).join('@')}`
}

function MessageItem({ kind, name, email, source, message, created_at }: Message) {
  return (
    <li>
      <article>
        <header>
          <h2>
            <bdi>{name || email}</bdi>
          </h2>
          <a href={mailto(email)}>{email}</a>
          <Badge color={KINDS[kind].color}>{KINDS[kind].label}</Badge>
          {source ? (
            <span className="hint">
              {KINDS[kind].about} {source}
            </span>
          ) : null}
          <Time at={created_at} />
        </header>
        <p dir="auto">{message ?? 'Wants to run more than one server at a time.'}</p>
      </article>
    </li>
  )
}
