import { and, asc, isNull, type SQL, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { type EnvironmentRow, environments } from '../../../db/schema/fleet.ts'
import type { Act } from '../../domain/audit.ts'
import { AppError } from '../../domain/error.ts'
import { parseImage } from '../../domain/image-reference.ts'
import { toIso } from '../../domain/instant.ts'
import type { PlanType } from '../../domain/money/plan.ts'
import type { EnvironmentLine } from '../../domain/views.ts'
import { ENVIRONMENT_NAME_RULE, isEnvironmentName, PLAN_TYPES } from '../../domain/worlds.ts'
import { newId } from '../crypto/id.ts'
import { auditQuery, type Hand } from '../runtime/audit.ts'

/** The environments that the operator offers. */

const MOST_WORDS = 160

export type NewEnvironment = {
  name: string
  description: string
  /** A container image, or `:tag` for a tag of the machine's own; null: the machine's own. */
  image: string | null
  /** The smallest plan that includes it. Larger ones do as well. */
  from: string
  /** Null: after the others. */
  position: number | null
}

/** What to change; absent: as it is. */
export type EnvironmentChange = { [Field in keyof Omit<NewEnvironment, 'name'>]?: NewEnvironment[Field] }

/** @throws invalid */
export function checkedEnvironment({ name, ...input }: NewEnvironment) {
  if (!isEnvironmentName(name)) throw new AppError('invalid', ENVIRONMENT_NAME_RULE, { field: 'name' })
  return { name, ...checkedChange(input) }
}

/** People can choose it at once. @throws invalid, conflict (the name is taken) */
export async function addEnvironment(hand: Hand, input: NewEnvironment): Promise<void> {
  const { name, description, image, plans, position } = checkedEnvironment(input)
  const id = newId('env')
  const free = sql`NOT EXISTS (SELECT 1 FROM environments WHERE user_id IS NULL AND retired_at IS NULL
    AND lower(name) = lower(${name}))`
  const [, added] = await writeBatch(hand.db, [
    auditQuery(hand, { act: 'add_environment', subject: id, detail: { name, description, image, plans } }, free),
    hand.db.run(sql`INSERT INTO environments (id, name, description, image, plans, position, created_at)
      SELECT ${id}, ${name}, ${description}, ${image}, ${JSON.stringify(plans)},
        coalesce(${position}, (SELECT coalesce(max(position), 0) + 1 FROM environments WHERE user_id IS NULL)), ${hand.now()}
      WHERE ${free}`),
  ])
  if (!added?.rowsAffected)
    throw new AppError('conflict', `There is already an environment called ${name}.`, { field: 'name' })
}

/** Applies from the next start on. Running servers stay as they were started. @throws invalid, not_found, conflict */
export async function changeEnvironment(hand: Hand, name: string, change: EnvironmentChange): Promise<void> {
  const { plans, ...others } = checkedChange(change)
  const detail = { name, ...others, ...(plans && { plans }) }
  const set = Object.entries({ ...others, ...(plans && { plans: JSON.stringify(plans) }) }).filter(
    ([, value]) => value !== undefined,
  )
  if (!set.length) throw new AppError('invalid', 'Please enter what to change.')
  const list = sql.join(
    set.map(([column, value]) => sql`${sql.identifier(column)} = ${value}`),
    sql`, `,
  )
  await write(hand, name, { act: 'change_environment', detail, set: list, left: plans ?? null })
}

/** Starts nothing new in it. Running servers keep running. @throws not_found, conflict */
export async function retireEnvironment(hand: Hand, name: string): Promise<void> {
  const set = sql`retired_at = ${hand.now()}`
  await write(hand, name, { act: 'retire_environment', detail: { name }, set, left: [] })
}

/** @param left the plans that still include it; null: the same as before. No plan may be left without any. */
async function write(
  hand: Hand,
  name: string,
  { act, detail, set, left }: { act: Act; detail: Record<string, unknown>; set: SQL; left: PlanType[] | null },
): Promise<void> {
  const row = await getEnvironment(hand, name)
  const lost = left ? row.plans.filter((plan) => !left.includes(plan)) : []
  const others = lost.map(
    (plan) => sql`EXISTS (SELECT 1 FROM environments WHERE id <> ${row.id} AND user_id IS NULL AND retired_at IS NULL
      AND EXISTS (SELECT 1 FROM json_each(plans) WHERE value = ${plan}))`,
  )
  const due = sql.join(
    [sql`EXISTS (SELECT 1 FROM environments WHERE id = ${row.id} AND retired_at IS NULL)`, ...others],
    sql` AND `,
  )
  const [, changed] = await writeBatch(hand.db, [
    auditQuery(hand, { act, subject: row.id, detail }, due),
    hand.db.run(sql`UPDATE environments SET ${set} WHERE id = ${row.id} AND ${due}`),
  ])
  if (!changed?.rowsAffected)
    throw new AppError('conflict', `A plan would have no environment without ${row.name}. Add another one first.`)
}

async function getEnvironment({ db }: Pick<Hand, 'db'>, name: string): Promise<EnvironmentRow> {
  const [row] = await db
    .select()
    .from(environments)
    .where(
      and(
        isNull(environments.userId),
        isNull(environments.retiredAt),
        sql`lower(name) = lower(${[...name].slice(0, 99).join('')})`,
      ),
    )
  if (!row) throw new AppError('not_found', `There is no environment called ${name}. List them to see their names.`)
  return row
}

export function checkedChange<C extends EnvironmentChange>({ description, image, from, position }: C) {
  if (description !== undefined && !(description.length <= MOST_WORDS && /^\S.*\.$/.test(description)))
    throw new AppError('invalid', `The description must be one sentence of at most ${MOST_WORDS} characters.`, {
      field: 'description',
    })
  if (image && !parseImage(image.startsWith(':') ? `x${image}` : image))
    throw new AppError('invalid', 'The image must be a reference such as ghcr.io/example/harbor:1.2, or a :tag.', {
      field: 'image',
    })
  const smallest = PLAN_TYPES.indexOf(from as PlanType)
  if (from !== undefined && smallest < 0)
    throw new AppError('invalid', `The smallest plan must be one of ${PLAN_TYPES.join(', ')}.`, { field: 'from' })
  if (typeof position === 'number' && !(Number.isInteger(position) && position > 0 && position < 10_000))
    throw new AppError('invalid', 'The position must be a whole number from 1.', { field: 'position' })
  const plans = from === undefined ? undefined : PLAN_TYPES.slice(smallest)
  return { description, image, plans, position } as {
    description: C['description'] extends string ? string : string | undefined
    image: C['image']
    plans: C['from'] extends string ? PlanType[] : PlanType[] | undefined
    position: C['position']
  }
}

/** The whole catalog in order, retired ones last. */
export async function listCatalog({ db }: Pick<Hand, 'db'>): Promise<EnvironmentLine[]> {
  const rows = await db
    .select()
    .from(environments)
    .where(isNull(environments.userId))
    .orderBy(sql`retired_at IS NOT NULL`, asc(environments.position))
  return rows.map(({ name, description, image, plans, position, retiredAt }) => ({
    name,
    description,
    image,
    plans,
    position,
    retiredAt: toIso(retiredAt),
  }))
}
