import { openDatabase } from '../db/client.ts'
import { correctBill } from '../src/server/billing/bills/corrections.ts'
import { failureOf, readArguments } from './arguments.ts'

const USAGE = `Usage, with LIBSQL_URL (and LIBSQL_AUTH_TOKEN) set:
  npx node scripts/correct.ts <bill id> <correct seconds> "<reason, for the customer>"`

try {
  console.log(await run())
} catch (error) {
  console.error(failureOf(error))
  process.exitCode = 1
}

async function run(): Promise<string> {
  const { positionals } = readArguments(USAGE, { allowPositionals: true })
  const [billId = '', seconds = '', reason = ''] = positionals
  const url = process.env.LIBSQL_URL
  if (!url || positionals.length !== 3) throw new Error(USAGE)
  const hand = { db: openDatabase(url, process.env.LIBSQL_AUTH_TOKEN), now: Date.now }
  const record = await correctBill(hand, billId, { seconds: Number(seconds || Number.NaN), reason })
  if (!record) return `${billId} already says ${seconds} seconds. Nothing changed.`
  return `${record.id} corrects ${billId} by ${record.seconds} seconds and ${(record.amountCents / 100).toFixed(2)} dollars.`
}
