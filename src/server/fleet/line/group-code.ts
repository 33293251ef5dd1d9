import { and, eq, gt, sql } from 'drizzle-orm'
import { lineGroups } from '../../../../db/schema/line.ts'
import { readUserCode } from '../../../domain/device-code.ts'
import { AppError } from '../../../domain/error.ts'
import { MOST_GROUP_PEOPLE } from '../../../domain/line-group.ts'
import { limitGuesses } from '../../limits/limits.ts'
import type { Context } from '../../runtime/context.ts'

const WRONG = 'This code is wrong or has expired. Ask the organizer for a new one.'
const TWIN_IS_IN = 'Another account of your mailbox is in this group already. Sign in to that one to start a server.'
const FULL = 'This group is full. Ask the organizer to make room for you.'

/**
 * Adds someone to the group whose code they entered, from now until it ends. Only one account per mailbox can join.
 * @throws invalid if the code is wrong or its time is over; conflict if another account used it, or the group is full;
 * too_many
 */
export async function enterGroupCode(ctx: Context, userId: string, text: string): Promise<void> {
  const code = readUserCode(text)
  let group: Entered | undefined
  const look = async () => {
    if (code !== null) group = await enter(ctx, userId, code)
    return group !== undefined
  }
  const isRight = await limitGuesses(ctx, `${userId} group code`, look, 'takeBack')
  if (!isRight) throw new AppError('invalid', WRONG, { field: 'code' })
  if (!group?.isIn) throw new AppError('conflict', group?.twinIsIn ? TWIN_IS_IN : FULL, { field: 'code' })
}

type Entered = { isIn: 0 | 1; twinIsIn: 0 | 1 }

/** @returns undefined if no group has this code now */
async function enter(ctx: Context, userId: string, code: string): Promise<Entered | undefined> {
  const now = ctx.now()
  const twinIsIn = sql<
    0 | 1
  >`EXISTS (SELECT 1 FROM line_group_people AS one JOIN users AS other ON other.email = one.email
    JOIN users AS me ON me.mailbox = other.mailbox WHERE one.group_id = line_groups.id AND me.id = ${userId} AND other.id <> me.id)`
  const [, [entered]] = await ctx.db.batch([
    ctx.db.run(sql`INSERT INTO line_group_people (group_id, email, joined_at)
      SELECT line_groups.id, users.email, ${now} FROM line_groups, users
      WHERE code = ${code} AND ends_at > ${now} AND users.id = ${userId} AND closed_at IS NULL
        AND (SELECT count(*) FROM line_group_people WHERE group_id = line_groups.id) < ${MOST_GROUP_PEOPLE}
        AND NOT ${twinIsIn}
      ON CONFLICT DO NOTHING`),
    ctx.db
      .select({
        isIn: sql<0 | 1>`EXISTS (SELECT 1 FROM line_group_people AS mine JOIN users ON users.email = mine.email
          WHERE mine.group_id = line_groups.id AND users.id = ${userId})`,
        twinIsIn,
      })
      .from(lineGroups)
      .where(and(eq(lineGroups.code, code), gt(lineGroups.endsAt, now))),
  ])
  return entered
}
