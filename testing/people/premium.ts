import { eq } from 'drizzle-orm'
import { openDatabase } from '../../db/client.ts'
import { plans } from '../../db/schema/billing.ts'
import { newId } from '../../src/server/crypto/id.ts'
import { newPerson } from './client.ts'

/** A person on Premium, who may bring images. */
export async function newPremiumPerson(url: string, databaseUrl: string) {
  const person = await newPerson(url)
  const db = openDatabase(databaseUrl)
  const now = Date.now()
  await db.update(plans).set({ endedAt: now }).where(eq(plans.userId, person.id))
  await db.insert(plans).values({
    id: newId('sub'),
    userId: person.id,
    planType: 'premium',
    subType: 'paid',
    status: 'active',
    anchor: now,
    hours: 40,
    createdAt: now,
  })
  return person
}
