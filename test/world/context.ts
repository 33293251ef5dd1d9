import { ACCOUNT_ID } from '../../dev/ec2/identity.ts'
import type { Bucket } from '../../src/server/ports/bucket.ts'
import type { Cloud } from '../../src/server/ports/cloud.ts'
import { FLEET, LINE } from '../../src/server/ports/objects.ts'
import type { Payments } from '../../src/server/ports/payments.ts'
import type { Context } from '../../src/server/runtime/context.ts'
import type { BucketSettings } from '../../src/server/settings/bucket-settings.ts'
import { bindLog } from '../../src/server/settings/log.ts'
import { publicKeyOf } from '../../src/server/settings/machine-settings.ts'
import { testContext } from '../../testing/stack/test-context.ts'
import type { Wire } from '../../testing/world/wire.ts'
import { amazon } from './files/files-world.ts'
import { PASSWORD_PEPPER } from './people.ts'
import type { World } from './world.ts'

/** What the Worker would hand to the product's verbs, jobs and triggers. */
export function worldContext(world: World): Context {
  const { program, programs, alarms, database, ec2, stripe, clock, receivers, files } = world
  const { call } = program
  const watcher = (name: string) => ({
    arm: () => call(`${name}: arm`, () => alarms.of(name).arm(name)),
    wake: () => call(`${name}: wake`, () => alarms.of(name).wake(name)),
    revive: (_: string, now: number) => call('watcher: revive', () => alarms.of(name).revive(name, now)),
  })
  return testContext({
    db: database.wired(call),
    now: () => clock.ms,
    random: () => world.luck.next(),
    cloud: everyCall('ec2', ec2.cloud, call),
    payments: everyCall('stripe', stripe.payments, call),
    bucket: files && everyCall('bucket', files.memory.bucket, call),
    mailer: { send: (mail) => call('mail: send', async () => void world.sent.push(mail)) },
    reach: (host) => call('reach', async () => world.servers.reach(host)),
    // Nobody here chose to stop idle servers.
    askStatus: async () => null,
    channel: (userId) => ({
      arm: () => call('channel: arm', () => alarms.of(userId).arm(userId)),
      wake: () => call('channel: wake', () => alarms.of(userId).wake(userId)),
      disconnect: () => call('channel: disconnect', async () => {}),
      tellAccount: () => call('channel: tell', async () => {}),
      tellServer: () => call('channel: tell', async () => {}),
      tellLine: () => call('channel: tell', async () => {}),
    }),
    eventSender: (userId) => ({ wake: () => call('sender: wake', () => alarms.senderOf(userId).wake(userId)) }),
    runLog: (runId) => programs.logOf(runId),
    door: () => ({ recheck: () => call('door: recheck', async () => {}) }),
    postWebhook: (...post) => call('webhook: post', () => receivers.post(...post)),
    fleetWatcher: watcher(FLEET),
    lineKeeper: watcher(LINE),
    hasher: { derive: async ({ secret }) => secret },
    background: (work) => program.background(work),
    log: bindLog(program.log, {}),
    config: {
      passwordPepper: PASSWORD_PEPPER,
      files: files && BUCKET,
      machines: { accountId: ACCOUNT_ID, region: 'us-east-1', publicKey: machineKey() },
    },
  })
}

const BUCKET: BucketSettings = {
  endpoint: 'https://bucket.test',
  bucket: 'files',
  region: 'auto',
  accessKeyId: 'id',
  secretAccessKey: 'key',
  stsUrl: null,
}

let key: Uint8Array<ArrayBuffer> | null = null
const machineKey = () => (key ??= publicKeyOf(amazon().certificate) ?? new Uint8Array())

type AnyCall = (...args: never[]) => Promise<unknown>

function everyCall<Port extends Cloud | Payments | Bucket>(vendor: string, port: Port, call: Wire): Port {
  return Object.fromEntries(
    Object.entries(port as Record<string, AnyCall>).map(([name, effect]) => [
      name,
      (...args: never[]) => call(`${vendor}: ${name}`, () => effect(...args)),
    ]),
  ) as Port
}
