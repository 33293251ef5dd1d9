import { openBrowser } from '../testing/browser/chromium.ts'
import { newSignedInPerson } from '../testing/people/signed-in-person.ts'
import { byteRows } from './bytes.ts'
import { benchCrowd } from './crowd.ts'
import { benchDoor } from './door.ts'
import { benchFanOut } from './fan-out.ts'
import { benchFiles } from './files.ts'
import { benchFleet } from './fleet.ts'
import { benchHibernation } from './hibernation.ts'
import { benchInNode } from './in-node.ts'
import { benchLighthouse } from './lighthouse.ts'
import { benchLine } from './line.ts'
import { benchFlood, benchQuietMachines } from './machines.ts'
import { benchPull } from './pull.ts'
import { benchPush } from './push.ts'
import { benchReady, startTimes } from './ready.ts'
import { benchRoundTrips } from './round-trips.ts'
import { startBenchSite } from './site.ts'
import { benchStart } from './start.ts'
import { benchStartUp } from './start-up.ts'
import { printTable } from './table.ts'
import { benchThrottled } from './throttled.ts'

/**
 * `npm run bench`: measures the product's budgets on the built Worker; `-- --lighthouse` runs Lighthouse instead, `-- --fleet` up to 10,000 servers and their
 * logs, `-- --line` a month of people who wait in line, `-- --start` cold and warm starts, `-- --pull` a real image by Docker,
 * and `-- --files` 10,000 files and one of 5 GB on the real mount.
 * Times depend on this machine; ratios hold on others.
 */
if (process.argv.includes('--line')) {
  printTable('Estimates in line, against what people got', benchLine())
  process.exit()
}
if (process.argv.includes('--start')) {
  printTable('What EC2 and Docker take here, and who says so', startTimes())
  printTable('From the click to a ready server', await benchReady())
  process.exit()
}
if (process.argv.includes('--files')) {
  printTable('Files on a mount', await benchFiles())
  process.exit()
}
if (process.argv.includes('--pull')) {
  printTable('Pulling an image of 1.2 GB from loopback', await benchPull())
  process.exit()
}
const site = await startBenchSite()
try {
  if (process.argv.includes('--fleet')) {
    printTable('Logs beside a flood', await benchFlood())
    printTable('Machines that have nothing to say', await benchQuietMachines())
    printTable('The fleet at size', await benchFleet())
  } else if (process.argv.includes('--lighthouse')) printTable('Lighthouse', await benchLighthouse(site))
  else {
    const dashboard = await (await newSignedInPerson(site)).call('GET', '/dashboard')
    printTable('Bytes, gzipped', [...(await byteRows(site.url, await dashboard.text())), ...(await benchStartUp())])
    const browser = await openBrowser()
    try {
      printTable('Usable on a slow line', await benchThrottled(site, browser))
      printTable('Starting a server and getting updates', [
        ...(await benchRoundTrips(site)),
        ...(await benchStart(site)),
        ...(await benchPush(site, browser)),
        ...(await benchHibernation(site, browser)),
      ])
    } finally {
      await browser.close()
    }
    printTable('The door, all on this computer', await benchDoor())
    printTable('Many sign-ups at once', await benchCrowd(site))
    printTable('Pushing updates, without database or browser', await benchFanOut())
    printTable('Rendering, in Node', await benchInNode())
  }
} finally {
  await site.close()
}
