import { and, desc, eq, lt, or, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { users } from '../../../db/schema/accounts.ts'
import { serverRequests } from '../../../db/schema/fleet.ts'
import { contactMessages } from '../../../db/schema/operations.ts'
import { toIso } from '../../domain/instant.ts'
import type { Message } from '../../domain/wire/contact.ts'
import type { Context } from '../runtime/context.ts'

const AT_ONCE = 50

export type MessagePage = {
  messages: Message[]
  /** Where the next (older) page begins; null if there is none. */
  older: string | null
}

/** What people wrote to us and their requests for more servers, newest first. @param before `older` of the previous page */
export async function listMessages(ctx: Context, before: string | null): Promise<MessagePage> {
  const [written, requests] = await ctx.db.batch([
    ctx.db
      .select()
      .from(contactMessages)
      .where(olderThan(before, contactMessages.createdAt, contactMessages.id))
      .orderBy(desc(contactMessages.createdAt), desc(contactMessages.id))
      .limit(AT_ONCE + 1),
    ctx.db
      .select({ request: serverRequests, name: users.name, email: users.email })
      .from(serverRequests)
      .innerJoin(users, eq(users.id, serverRequests.userId))
      .where(olderThan(before, serverRequests.createdAt, serverRequests.id))
      .orderBy(desc(serverRequests.createdAt), desc(serverRequests.id))
      .limit(AT_ONCE + 1),
  ])
  const all: Message[] = [
    ...written.map(({ createdAt, ...message }) => ({ ...message, created_at: toIso(createdAt) })),
    ...requests.map(({ request, name, email }) => ({
      id: request.id,
      kind: 'more_servers' as const,
      name,
      email,
      source: null,
      message: null,
      created_at: toIso(request.createdAt),
    })),
  ].sort((a, b) => (cursor(a) < cursor(b) ? 1 : -1))
  const messages = all.slice(0, AT_ONCE)
  const last = messages.at(-1)
  return { messages, older: last && all.length > AT_ONCE ? cursor(last) : null }
}

/** Sorts by time, then by id for messages of the same millisecond. */
function cursor({ created_at, id }: Message): string {
  return `${created_at}_${id}`
}

function olderThan(before: string | null, createdAt: SQLiteColumn, id: SQLiteColumn): SQL | undefined {
  const [, time = '', lastId = ''] = /^([^_]+)_(.+)$/.exec(before ?? '') ?? []
  const at = Date.parse(time)
  return Number.isNaN(at) ? undefined : or(lt(createdAt, at), and(eq(createdAt, at), lt(id, lastId)))
}
