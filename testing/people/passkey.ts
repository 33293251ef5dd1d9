import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto'
import { ORIGIN } from './account-app.ts'

/** Flags of authenticator data: someone was there, the device knows who, a new key follows. */
const [PRESENT, VERIFIED, NEW_KEY] = [1, 4, 64]

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()
const encode = (data: string | Buffer) => Buffer.from(data).toString('base64url')

type How = {
  origin?: string
  rpId?: string
  /** Whether the device checked who uses it. */
  verifies?: boolean
  counter?: number
  /** Whom it says it belongs to; null: it doesn't. */
  handle?: string | null
  type?: string
  /** A statement of who made the device, as CBOR in hex; by default, none. */
  attestation?: { fmt: string; statement: string }
  /** Another public key (COSE) than its own, in hex. */
  key?: string
}

/** Options as the server gives them. */
type Asked = { challenge: string; user?: { id: string } }

/** A device with one passkey (WebAuthn, ES256), as a browser presents it: written down once more, without our library. */
export function newPasskeyDevice({ origin = ORIGIN, rpId = 'localhost', idBytes = 20 } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(idBytes)
  let counter = 0
  let handle: string | null = null

  const clientData = (type: string, { challenge }: Asked, how: How) =>
    JSON.stringify({ type: how.type ?? type, challenge, origin: how.origin ?? origin, crossOrigin: false })

  function authData(flags: number, how: How, more: Buffer = Buffer.alloc(0)) {
    const head = Buffer.alloc(5)
    head[0] = flags | PRESENT | ((how.verifies ?? true) ? VERIFIED : 0)
    head.writeUInt32BE(how.counter ?? counter, 1)
    return Buffer.concat([sha256(how.rpId ?? rpId), head, more])
  }

  /** CBOR by hand: a map of kty 2, alg -7, crv 1, x, y. */
  function coseKey(): Buffer {
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    const point = (text: string) => Buffer.from(text, 'base64url')
    return Buffer.concat([Buffer.from('a5010203262001215820', 'hex'), point(x), Buffer.from('225820', 'hex'), point(y)])
  }

  return {
    id: encode(id),
    /** Makes the passkey: `navigator.credentials.create`. */
    create(asked: Asked, how: How = {}) {
      handle = asked.user?.id ?? null
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const key = how.key === undefined ? coseKey() : Buffer.from(how.key, 'hex')
      const data = authData(NEW_KEY, how, Buffer.concat([Buffer.alloc(16), length, id, key]))
      const { fmt, statement } = how.attestation ?? { fmt: 'none', statement: 'a0' }
      const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)])
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        ...[text('fmt'), text(fmt), text('attStmt'), Buffer.from(statement, 'hex'), text('authData')],
        Buffer.from([0x59, data.length >> 8, data.length & 255]),
        data,
      ])
      return {
        id: encode(id),
        rawId: encode(id),
        type: 'public-key',
        response: {
          clientDataJSON: encode(clientData('webauthn.create', asked, how)),
          attestationObject: encode(attestationObject),
          transports: ['internal'],
        },
        clientExtensionResults: {},
      }
    },
    /** Signs: `navigator.credentials.get`. Counts each use, unless told otherwise. */
    get(asked: Asked, how: How = {}) {
      if (how.counter === undefined) counter++
      const clientDataJSON = clientData('webauthn.get', asked, how)
      const authenticatorData = authData(0, how)
      const signature = createSign('sha256')
        .update(Buffer.concat([authenticatorData, sha256(clientDataJSON)]))
        .sign(privateKey)
      return {
        id: encode(id),
        rawId: encode(id),
        type: 'public-key',
        response: {
          clientDataJSON: encode(clientDataJSON),
          authenticatorData: encode(authenticatorData),
          signature: encode(signature),
          userHandle: how.handle === undefined ? handle : how.handle,
        },
        clientExtensionResults: {},
      }
    },
  }
}

type Browser = { json: (method: string, path: string, body?: unknown) => Promise<Response> }

/** Adds a passkey to the account of who is signed in. */
export async function addPasskey(
  browser: Browser,
  current_password: string,
  device = newPasskeyDevice(),
  { name = 'My key', ...proof }: { name?: string; totp?: string; recovery?: string; passkey?: object } = {},
) {
  const started = await browser.json('POST', '/account_security/passkeys/options', { current_password, ...proof })
  const { options } = (await started.json()) as { options: Asked }
  if (started.status !== 200) throw new Error(`No options for a passkey: ${started.status}`)
  const added = await browser.json('POST', '/account_security/passkeys', { name, response: device.create(options) })
  if (added.status !== 201) throw new Error(`No passkey: ${await added.text()}`)
  const body = (await added.json()) as { id: string; recovery_codes: string[] }
  return { device, id: body.id, recoveryCodes: body.recovery_codes }
}
