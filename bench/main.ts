import { openBrowser } from '../test/support/chromium.ts'
import { benchHibernation } from './hibernation.ts'
import { benchPush } from './push.ts'
import { benchRoundTrips } from './round-trips.ts'
import { startBenchSite } from './site.ts'
import { benchStart } from './start.ts'
import { printTable } from './table.ts'

/** `npm run bench`: the product's budgets, measured on the built Worker. Times are those of this machine, ratios hold on others too. */
const site = await startBenchSite()
const browser = await openBrowser()
try {
  printTable('Starting a server, hearing of it', [
    ...(await benchRoundTrips(site)),
    ...(await benchStart(site)),
    ...(await benchPush(site, browser)),
    ...(await benchHibernation(site, browser)),
  ])
} finally {
  await browser.close()
  await site.close()
}
