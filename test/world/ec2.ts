import type { EC2ClientConfig } from '@aws-sdk/client-ec2'
import { type Ec2Fault, expectKnown } from '../../dev/ec2/faults.ts'
import { type InstanceRecord, recordOf } from '../../dev/ec2/history.ts'
import { type Instance, publicIp, stateOf } from '../../dev/ec2/instance.ts'
import { Instances } from '../../dev/ec2/instances.ts'
import { type Ec2Call, Protocol } from '../../dev/ec2/protocol.ts'
import { Calls } from '../../dev/stand-in/calls.ts'
import { Faults } from '../../dev/stand-in/faults.ts'
import type { Outcome } from '../../dev/stand-in/server.ts'
import { Store } from '../../dev/stand-in/store.ts'
import { ec2Cloud } from '../../src/server/fleet/ec2.ts'
import type { Cloud } from '../../src/server/ports/cloud.ts'
import { Recall } from './recall.ts'

export const USUAL = { hiddenMs: 0, wrongRegion: false, bootMs: 4_000, shutdownMs: 3_000 }

/**
 * One instance in seven comes from a host whose clock is up to five minutes off. The moment decides, so that no
 * other luck changes.
 */
function clockOffsetMs(at: number): number {
  const second = Math.floor(at / 1000)
  return second % 7 ? 0 : ((second % 601) - 300) * 1000
}

export type Ec2World = ReturnType<typeof openEc2>

/** The stand-in's EC2 and the product's own adapter with AWS's SDK, without a network between them. */
export function openEc2(
  now: () => number,
  note: (state: string) => void,
  onFault: () => void,
  usual: typeof USUAL = USUAL,
) {
  const store = new Store(null)
  const conditions = { ...usual }
  const instances = new Instances(store, {
    now,
    firstSlot: 0,
    get bootMs() {
      return conditions.bootMs
    },
    get shutdownMs() {
      return conditions.shutdownMs
    },
    hiddenMs: () => conditions.hiddenMs,
    clockOffsetMs: () => clockOffsetMs(now()),
  })
  const faults = new Faults<Ec2Fault>(store)
  const protocol = new Protocol({ instances, faults, calls: new Calls<Ec2Call>(), now })
  const recall = new Recall(store, ({ headers, body }: Request): Outcome => {
    const authorization = conditions.wrongRegion
      ? headers.authorization?.replace('/us-east-1/', '/eu-west-1/')
      : headers.authorization
    const before = recall.pendingHits()
    const outcome = protocol.answer({
      method: 'POST',
      url: new URL('http://ec2/'),
      headers: { ...headers, authorization },
      body,
    })
    store.commit()
    if (recall.pendingHits() !== before) onFault()
    return outcome
  })
  const vanished = new Set<string>()
  const looked = { at: 0 }
  const refusedPlaces = new Set<string>()
  const adapter: Cloud = ec2Cloud(
    {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      EC2_LAUNCH_TEMPLATE: 'proving-ground',
      EC2_ENDPOINT: 'http://ec2',
    },
    inProcess((request) => recall.exchange(request)),
  )
  const cloud: Cloud = {
    ...adapter,
    listPage(after) {
      looked.at = now()
      return recall.read(`page ${after}`, () => adapter.listPage(after))
    },
    async findInstance(id) {
      const found = await recall.read(id, () => adapter.findInstance(id))
      if (found?.token && found.refusal?.refused === 'place') {
        refusedPlaces.add(found.token)
        note('died before it ran')
      }
      return found
    },
    async launch(request) {
      const answer = await adapter.launch(request)
      const isRefused = 'refused' in answer
      if (isRefused && answer.refused === 'place') refusedPlaces.add(request.token)
      if (isRefused && instances.all().some(({ clientToken }) => clientToken === request.token))
        note('refused after launch')
      return answer
    },
  }
  const isUsual = () => Object.entries(usual).every(([name, value]) => conditions[name as keyof typeof USUAL] === value)
  return {
    cloud,
    /** When the product last asked about all instances. */
    looked,
    /** Tokens whose place EC2 refused, at once or by ending the instance, but not the whole account. */
    refusedPlaces,
    /** Instances that ended without our asking. */
    vanished,
    /** How EC2 misbehaves at the moment. */
    conditions,
    inject(fault: string, times: number, only: { action?: string; instance_id?: string } = {}) {
      expectKnown(fault)
      faults.add({ fault, ...only }, times)
    },
    isUsual,
    /** Whether a call could fail, or be answered in an unusual way. */
    isTroubled: () => !isUsual() || recall.pendingHits() > 0,
    heal() {
      faults.heal()
      Object.assign(conditions, usual)
    },
    /** An instance ends without our asking. */
    vanish(id: string) {
      instances.vanish(id)
      vanished.add(id)
    },
    /** Its shutdown has done what it had to do. */
    powerOff: (id: string) => instances.vanish(id),
    /** Its program has ended, and it has said so. */
    powerOffByItself: (id: string) => instances.shutItselfDown(id),
    /** A machine that waited has heard of its run. */
    begin: (id: string) => instances.begin(id),
    newTemplateVersion: () => instances.newTemplateVersion(),
    /** As after `poweroff`, when it can't go on. */
    shutItselfDown(id: string) {
      instances.shutItselfDown(id)
      vanished.add(id)
    },
    all: (): Instance[] => instances.all(),
    alive: (): Instance[] => instances.all().filter((one) => /pending|running/.test(stateOf(one, now()))),
    running: (): Instance[] => instances.running(),
    at: (host: string) => instances.running().find((one) => publicIp(one, now()) === host),
    records: (): InstanceRecord[] => instances.all().map((one) => recordOf(one, now())),
  }
}

type Request = { headers: Record<string, string>; body: string }

function inProcess(answer: (request: Request) => Outcome): NonNullable<EC2ClientConfig['requestHandler']> {
  const handler = {
    async handle(request: Request) {
      const outcome = answer(request)
      if (typeof outcome === 'string') throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
      const { status, headers, body } = outcome
      return { response: { statusCode: status, headers, body: Buffer.from(body) } }
    },
    destroy() {},
    metadata: { handlerProtocol: 'http/1.1' },
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
  }
  return handler as unknown as NonNullable<EC2ClientConfig['requestHandler']>
}
