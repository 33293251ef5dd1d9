import { findChromium } from '../testing/browser/chromium.ts'
import { moto } from '../testing/stack/moto.ts'
import { schemathesis } from '../testing/stack/schemathesis.ts'
import { stripeMock } from '../testing/stack/stripe-mock.ts'
import { hasTerminals } from '../testing/stack/terminal.ts'
import { isSkipped, prepare, type ThirdParty } from '../testing/stack/third-party.ts'

/** Downloads what `npm test` needs, once. It never fails: it prints what is missing, and so do the tests that need it. */
await Promise.all([
  serverOf(moto),
  serverOf(schemathesis),
  serverOf(stripeMock),
  findChromium().catch((error: Error) => console.log(error.message)),
])
if (!hasTerminals) console.log("The command line's tests on a terminal are skipped: `script` can't open one here.")

async function serverOf(server: ThirdParty): Promise<void> {
  if (server.find()) return
  console.log(`Downloading ${server.name} for the contract tests`)
  const why = await prepare(server)
  if (why) console.log(`${server.name}: its tests ${isSkipped(server) ? 'are skipped' : 'will fail'}. ${why}`)
}
