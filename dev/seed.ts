import { openDatabase, writeBatch } from '../db/client.ts'
import { users } from '../db/schema/accounts.ts'
import { plans } from '../db/schema/billing.ts'
import { places } from '../db/schema/fleet.ts'

export const SEED_PASSWORD = 'simulate'
export const SEED_EMAILS = { admin: 'admin@example.com', pilot: 'pilot@example.com' }

/** Every fourth place is a large one, for Premium. */
const SMALL = { instanceType: 'g6.4xlarge', gpus: 1 }
const LARGE = { instanceType: 'g6.12xlarge', gpus: 4 }
const ZONES = ['us-east-1a', 'us-east-1b', 'us-east-1c']

/** Adds the fleet's places and two test users. Safe to repeat: existing rows stay unchanged. */
export async function seed(options: {
  libsqlUrl: string
  passwordHash: string
  now: number
  fleetSize: number
}): Promise<void> {
  const db = openDatabase(options.libsqlUrl)
  const createdAt = Math.floor(options.now / 1000) * 1000
  const person = (id: string, name: string, email: string, admin: boolean) => ({
    id,
    name,
    email,
    admin,
    passwordHash: options.passwordHash,
    confirmedAt: createdAt,
    createdAt,
  })
  await writeBatch(db, [
    db
      .insert(places)
      .values(
        Array.from({ length: options.fleetSize }, (_, position) => ({
          id: `srv_place-${position + 1}`,
          ...(position % 4 === 3 ? LARGE : SMALL),
          availabilityZone: ZONES[position % ZONES.length] as string,
          position,
        })),
      )
      .onConflictDoNothing(),
    db
      .insert(users)
      .values([
        person('user_admin', 'Admin', SEED_EMAILS.admin, true),
        person('user_pilot', 'Pilot', SEED_EMAILS.pilot, false),
      ])
      .onConflictDoNothing(),
    db
      .insert(plans)
      .values({
        id: 'sub_pilot',
        userId: 'user_pilot',
        planType: 'demo',
        subType: 'demo',
        status: 'trialing',
        anchor: createdAt,
        hours: 0.5,
        createdAt,
      })
      .onConflictDoNothing(),
  ])
}
