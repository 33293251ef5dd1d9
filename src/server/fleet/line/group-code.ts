import { and, eq, gt, sql } from 'drizzle-orm'
import { lineGroupPeople, lineGroups } from '../../../../db/schema.ts'
import { readUserCode } from '../../../domain/device-code.ts'
import { AppError } from '../../../domain/error.ts'
import { MOST_GROUP_PEOPLE } from '../../../domain/line-group.ts'
import type { Context } from '../../context.ts'
import { limitGuesses } from '../../limits/limits.ts'

/**
 * Makes someone one of the group whose code they entered, from now until it ends. One account of a mailbox can.
 * @throws invalid if the code is wrong or its time is over, too_many
 */
export async function enterGroupCode(ctx: Context, userId: string, text: string): Promise<void> {
  const code = readUserCode(text)
  const isRight = await limitGuesses(ctx, `${userId} group code`, async () => {
    if (code === null) return false
    const now = ctx.now()
    const [, found] = await ctx.db.batch([
      ctx.db.run(sql`INSERT INTO line_group_people (group_id, email, joined_at)
        SELECT line_groups.id, users.email, ${now} FROM line_groups, users
        WHERE code = ${code} AND ends_at > ${now} AND users.id = ${userId} AND closed_at IS NULL
          AND (SELECT count(*) FROM line_group_people WHERE group_id = line_groups.id) < ${MOST_GROUP_PEOPLE}
          AND NOT EXISTS (SELECT 1 FROM line_group_people AS one JOIN users AS other ON other.email = one.email
            WHERE one.group_id = line_groups.id AND other.mailbox = users.mailbox AND other.id <> users.id)
        ON CONFLICT DO NOTHING`),
      ctx.db
        .select({ id: lineGroups.id })
        .from(lineGroups)
        .innerJoin(lineGroupPeople, eq(lineGroupPeople.groupId, lineGroups.id))
        .where(
          and(
            eq(lineGroups.code, code),
            gt(lineGroups.endsAt, now),
            sql`email = (SELECT email FROM users WHERE id = ${userId})`,
          ),
        ),
    ])
    return found.length > 0
  })
  if (isRight) return
  throw new AppError('invalid', 'This code is wrong or has expired. Ask the organizer for a new one.', {
    field: 'code',
  })
}
