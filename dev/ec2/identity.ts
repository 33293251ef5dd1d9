import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { Store } from '../stand-in/store.ts'
import { type Instance, privateIp, toldTime } from './instance.ts'

/** The account that every instance here belongs to. */
export const ACCOUNT_ID = '123456789012'

/** Both in base64, as a machine sends them. */
export type Proof = { document: string; signature: string }

export type Identities = {
  /** What Amazon publishes for each region, in PEM. */
  certificate: string
  /** What an instance's metadata service answers. */
  proofOf(instance: Instance, now: number): Proof
}

/** Signs instance identity documents like EC2: RSA with SHA-256, and a key as short as Amazon's. */
export function openIdentities(store: Store): Identities {
  const kept = store.get<{ key: string }>('settings', 'identity')?.key
  const key = kept === undefined ? newKey(store) : createPrivateKey(kept)
  return {
    certificate: certificateOf(key),
    proofOf(instance, now) {
      const document = Buffer.from(JSON.stringify(documentOf(instance, now), null, 2))
      return { document: document.toString('base64'), signature: sign('sha256', document, key).toString('base64') }
    },
  }
}

function newKey(store: Store): KeyObject {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  store.put('settings', 'identity', { key: privateKey.export({ type: 'pkcs8', format: 'pem' }) })
  store.commit()
  return privateKey
}

function documentOf(instance: Instance, now: number) {
  return {
    accountId: ACCOUNT_ID,
    architecture: 'x86_64',
    availabilityZone: instance.availabilityZone,
    imageId: instance.imageId,
    instanceId: instance.id,
    instanceType: instance.instanceType,
    pendingTime: new Date(toldTime(instance.launchedAt, instance)).toISOString().replace(/\.\d{3}/, ''),
    privateIp: privateIp(instance, now),
    region: instance.availabilityZone.slice(0, -1),
    version: '2017-09-30',
  }
}

/** Self-signed, like Amazon's. Node reads certificates but writes none. */
function certificateOf(key: KeyObject): string {
  const algorithm = element(0x30, element(0x06, Buffer.from('2a864886f70d01010b', 'hex')), element(0x05))
  const name = element(0x30)
  const year = (text: string) => element(0x17, Buffer.from(`${text}0101000000Z`))
  const signed = element(
    0x30,
    element(0xa0, element(0x02, Buffer.of(2))),
    element(0x02, Buffer.of(1)),
    algorithm,
    name,
    element(0x30, year('20'), year('49')),
    name,
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
  )
  const certificate = element(0x30, signed, algorithm, element(0x03, Buffer.of(0), sign('sha256', signed, key)))
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----'].join('\n')
}

/** In DER. */
function element(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}
