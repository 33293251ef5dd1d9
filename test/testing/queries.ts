import { aliasedTable, and, count, desc, eq, exists, inArray, isNull, lte, max, not, or, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/libsql'
import { unionAll } from 'drizzle-orm/sqlite-core'
import { users } from '../../db/schema/accounts.ts'
import { invoices, plans } from '../../db/schema/billing.ts'
import { runs } from '../../db/schema/fleet.ts'
import { outbox } from '../../db/schema/mail.ts'

/** The SQL and the parameters of queries in every form that ours have. */
export function queryTexts() {
  const db = drizzle.mock()
  const other = aliasedTable(runs, 'other')
  const latest = db
    .select({ userId: runs.userId, at: max(runs.requestedAt).as('at') })
    .from(runs)
    .groupBy(runs.userId)
  const sub = latest.as('latest')
  const live = and(isNull(runs.endedAt), eq(runs.userId, 'usr_1'))
  const mail = { id: 'm', recipient: 'a@b.c', subject: 'S', text: 'T', html: 'H', createdAt: 1 }
  return [
    db.select().from(users),
    db.select().from(plans).where(eq(plans.cancelAtPeriodEnd, true)),
    db.select({ plan: plans, closedAt: users.closedAt }).from(plans).innerJoin(users, eq(users.id, plans.userId)),
    db.select({ plan: plans, user: users }).from(users).leftJoin(plans, eq(users.id, plans.userId)),
    db.select({ id: runs.id, other: other.id }).from(runs).innerJoin(other, eq(runs.placeId, other.placeId)),
    db.select().from(other).where(lte(other.requestedAt, 5)).orderBy(desc(other.requestedAt)).limit(3).offset(2),
    db.select({ user: users.id, at: sub.at }).from(users).innerJoin(sub, eq(sub.userId, users.id)),
    db.select({ all: count(), newest: sql<number>`max(${runs.requestedAt}, ${7})` }).from(runs),
    db
      .selectDistinct({ id: invoices.userId })
      .from(invoices)
      .where(inArray(invoices.status, ['open', 'paid'])),
    db
      .select()
      .from(users)
      .where(exists(db.select({ one: sql`1` }).from(runs).where(eq(runs.userId, users.id)))),
    db
      .select()
      .from(runs)
      .where(or(not(eq(runs.userId, 'a')), sql`${runs.endedBecause} IN ${['you', 'fault']}`)),
    db
      .select()
      .from(users)
      .where(inArray(users.id, db.select({ id: runs.userId }).from(runs).where(live))),
    db.$with('w').as(latest) && db.with(db.$with('w').as(latest)).select({ n: sql`count(*)` }).from(sql`w`),
    unionAll(db.select({ id: users.id }).from(users), db.select({ id: runs.id }).from(runs).where(live)),
    db
      .update(runs)
      .set({ endedAt: sql`coalesce(${runs.endedAt}, ${9})`, endedBecause: 'you' })
      .where(live),
    db.update(plans).set({ checkAt: null, cancelAtPeriodEnd: false }).returning({ id: plans.id }),
    db
      .insert(outbox)
      .values([mail, { ...mail, id: 'n' }] as never)
      .onConflictDoNothing(),
    db
      .insert(users)
      .values({ id: 'u', name: 'Ada', email: 'e', passwordHash: 'x', createdAt: 1 })
      .onConflictDoUpdate({ target: users.email, set: { name: sql`excluded.name` }, setWhere: isNull(users.closedAt) }),
    db
      .delete(runs)
      .where(and(live, sql`id > ${sql.raw("'a'")}`))
      .returning(),
  ].map((query) => query.toSQL())
}
