import { moto } from '../testing/stack/moto.ts'
import { oldestRclone, rclone } from '../testing/stack/rclone.ts'
import { schemathesis } from '../testing/stack/schemathesis.ts'
import { stockPrograms } from '../testing/stack/stock-programs.ts'
import { stripeMock } from '../testing/stack/stripe-mock.ts'
import { isSkipped, prepare, type ThirdParty } from '../testing/stack/third-party.ts'

/** Downloads what `npm run test:deep` needs, once. It never fails, but prints what is missing, and so do the tests that need it. */
await Promise.all([
  ...[moto, schemathesis, stockPrograms, stripeMock].map(download),
  oneAfterTheOther(rclone, oldestRclone),
])

/** Each compiles for minutes on all cores. */
async function oneAfterTheOther(...servers: ThirdParty[]): Promise<void> {
  for (const server of servers) await download(server)
}

async function download(server: ThirdParty): Promise<void> {
  if (server.find()) return
  console.log(`Downloading ${server.name} for the contract tests`)
  const why = await prepare(server)
  if (why) console.log(`${server.name}: its tests ${isSkipped(server) ? 'are skipped' : 'will fail'}. ${why}`)
}
