import { correctBill } from '../src/server/billing/bills/corrections.ts'
import { ENV, NEEDS_DATABASE, openHand, readArguments, runCommand } from './arguments.ts'

const USAGE = `Usage, ${NEEDS_DATABASE}:
  npx node scripts/correct.ts <bill id> <correct seconds> "<reason, for the customer>"`

await runCommand(run)

async function run(): Promise<string> {
  const { positionals, values } = readArguments(USAGE, { allowPositionals: true, options: ENV })
  const [billId = '', seconds = '', reason = ''] = positionals
  if (positionals.length !== 3) throw new Error(USAGE)
  const record = await correctBill(openHand(USAGE, values.env), billId, {
    seconds: Number(seconds || Number.NaN),
    reason,
  })
  if (!record) return `${billId} already says ${seconds} seconds. Nothing changed.`
  return `${record.id} corrects ${billId} by ${record.seconds} seconds and ${(record.amountCents / 100).toFixed(2)} dollars.`
}
