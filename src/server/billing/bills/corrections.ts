import { eq, or, sql } from 'drizzle-orm'
import { type Database, isUniqueViolation, type Query, writeBatch } from '../../../../db/client.ts'
import { type BillRow, bills, invoices } from '../../../../db/schema/billing.ts'
import { AppError } from '../../../domain/error.ts'
import { instantText, toDay } from '../../../domain/instant.ts'
import { correctionTo } from '../../../domain/money/correction.ts'
import { dollars, UNITS_PER_DOLLAR } from '../../../domain/money/money.ts'
import { stableBillId } from '../../crypto/id.ts'
import { noticeQuery } from '../../mail/notices.ts'
import { billCreditedNotice } from '../../mail/operator-letters.ts'
import { auditQuery, type Hand } from '../../runtime/audit.ts'

const LONGEST_REASON = 200

type Correction = {
  reason: string
  /** The run whose seconds it credits: that happens once. */
  runId?: string | null
} & ({ seconds: number } | { less: number })

/**
 * Corrects a closed bill with a new record, so that both add up to `seconds`, or to `less` seconds than before. An
 * undercharge gets its own invoice; an overpayment is credited. Repeating it with the same seconds changes nothing.
 * @returns the new record; null if the bill is already right
 * @throws not_found, invalid, conflict (another correction at the same time won)
 */
export async function correctBill(
  hand: Hand,
  billId: string,
  { reason, runId = null, ...wanted }: Correction,
): Promise<BillRow | null> {
  const { db, now } = hand
  const rows = await db
    .select()
    .from(bills)
    .where(or(eq(bills.id, billId), eq(bills.corrects, billId)))
  const bill = rows.find((row) => row.id === billId)
  if (!bill) throw new AppError('not_found', `There is no bill ${billId}.`)
  if (bill.corrects) throw new AppError('invalid', `${billId} is a correction itself. Correct ${bill.corrects}.`)
  const corrections = rows.filter((row) => row.id !== billId)
  const seconds = 'seconds' in wanted ? wanted.seconds : Math.max(0, secondsOf(rows) - wanted.less)
  const longest = Math.ceil((bill.periodEnd - bill.periodStart) / 1000)
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > longest)
    throw new AppError('invalid', `The corrected seconds must be a whole number from 0 to ${longest}.`, {
      field: 'seconds',
    })
  const why = reason.trim()
  if (!why || why.length > LONGEST_REASON)
    throw new AppError(
      'invalid',
      `Please give a reason of at most ${LONGEST_REASON} characters: the customer reads it.`,
    )
  const change = correctionTo(seconds, bill, corrections)
  if (change.seconds === 0) return null
  const id = await stableBillId(`${billId} correction ${corrections.length + 1}`)
  const record = { ...bill, ...change, id, corrects: billId, reason: why, runId, createdAt: now() }
  try {
    await writeBatch(db, [
      db.insert(bills).values(record),
      ...costQueries(db, record),
      ...invoiceQueries(db, record),
      ...(record.amountCents < 0 ? [noticeQuery(hand, record.userId, creditNotice(record))] : []),
      auditQuery(
        { ...hand, by: hand.by ?? { id: 'script', reason: why } },
        {
          act: 'correct_bill',
          subject: billId,
          userId: bill.userId,
          detail: { seconds, was: bill.seconds, correction: id },
        },
      ),
    ])
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause
    throw new AppError('conflict', 'Someone just corrected this bill. Check it, then try again.', { cause })
  }
  return record
}

/** A credit for one run's seconds lowers what the run cost. */
function costQueries(db: Database, { runId, amountCents }: BillRow): Query[] {
  if (runId === null) return []
  const units = (amountCents * UNITS_PER_DOLLAR) / 100
  return [db.run(sql`UPDATE server_sessions SET cost_units = cost_units + ${units} WHERE id = ${runId}`)]
}

function creditNotice({ corrects, amountCents, periodStart, periodEnd }: BillRow) {
  const [from, until] = [periodStart, periodEnd - 1].map((at) => instantText(toDay(at), false))
  const less = dollars(-amountCents / 100)
  return billCreditedNotice({ billId: corrects ?? '', period: `${from} – ${until}`, less })
}

const secondsOf = (rows: BillRow[]) => rows.reduce((sum, { seconds }) => sum + seconds, 0)

function invoiceQueries(db: Database, { id, userId, amountCents, createdAt }: BillRow): Query[] {
  if (amountCents === 0) return []
  const step = amountCents > 0 ? ('draft' as const) : ('credit' as const)
  return [db.insert(invoices).values({ billId: id, userId, step, nextAt: createdAt, createdAt })]
}
