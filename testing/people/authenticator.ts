import { createHmac } from 'node:crypto'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The code that an authenticator app with this base32 secret shows at a time: RFC 6238, written down once more. */
export function totpAt(secret: string, ms: number): string {
  const bits = [...secret].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const step = Buffer.alloc(8)
  step.writeBigUInt64BE(BigInt(Math.floor(ms / 30_000)))
  const mac = createHmac('sha1', key).update(step).digest()
  const at = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

type Browser = { json: (method: string, path: string, body?: unknown) => Promise<Response> }

/** Adds an authenticator app to the account of who is signed in. */
export async function addAuthenticator(
  browser: Browser,
  current_password: string,
  now: () => number,
): Promise<{ secret: string; recoveryCodes: string[]; code: () => string }> {
  const started = await browser.json('POST', '/account_security/totp', { current_password })
  const { secret } = (await started.json()) as { secret: string }
  const code = () => totpAt(secret, now())
  const confirmed = await browser.json('POST', '/account_security/totp/confirm', { code: code() })
  if (confirmed.status !== 200) throw new Error(`No authenticator app: ${await confirmed.text()}`)
  return { secret, code, recoveryCodes: ((await confirmed.json()) as { recovery_codes: string[] }).recovery_codes }
}
