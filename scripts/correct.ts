import { correctBill } from '../src/server/billing/bills/corrections.ts'
import { openHand, readArguments, runCommand } from './arguments.ts'

const USAGE = `Usage, with LIBSQL_URL (and LIBSQL_AUTH_TOKEN) set:
  npx node scripts/correct.ts <bill id> <correct seconds> "<reason, for the customer>"`

await runCommand(run)

async function run(): Promise<string> {
  const { positionals } = readArguments(USAGE, { allowPositionals: true })
  const [billId = '', seconds = '', reason = ''] = positionals
  if (positionals.length !== 3) throw new Error(USAGE)
  const record = await correctBill(openHand(USAGE), billId, { seconds: Number(seconds || Number.NaN), reason })
  if (!record) return `${billId} already says ${seconds} seconds. Nothing changed.`
  return `${record.id} corrects ${billId} by ${record.seconds} seconds and ${(record.amountCents / 100).toFixed(2)} dollars.`
}
