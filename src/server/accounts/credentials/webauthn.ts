import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { CHALLENGE_MINUTES, type PasskeyResponse } from '../../../domain/factor.ts'
import { MINUTE_MS } from '../../../domain/instant.ts'
import type { User } from '../../../domain/wire/accounts.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'

/** WebAuthn (Level 3): what we ask of browsers, and the checks of what they answer. No database. */

export type CreationOptions = PublicKeyCredentialCreationOptionsJSON
export type RequestOptions = PublicKeyCredentialRequestOptionsJSON

/** How a browser recognizes a passkey. */
type Known = { credentialId: string; transports: string[] }

type Site = Pick<Context, 'config'>

/** EdDSA, ES256, RS256: what authenticators can and workerd verifies. Each with the only keys that sign by it, as COSE numbers. */
const KEYS = [
  { alg: -8, kty: 1, crv: 6 },
  { alg: -7, kty: 2, crv: 1 },
  { alg: -257, kty: 3, crv: null },
]
const ALGORITHMS = KEYS.map(({ alg }) => alg)
/** 1023 bytes in base64url, the most that the standard allows. */
const MAX_ID_LETTERS = 1364
const TIMEOUT_MS = CHALLENGE_MINUTES * MINUTE_MS

/** Loaded when needed: few calls check an answer. */
const library = () => import('@simplewebauthn/server')
const helpers = () => import('@simplewebauthn/server/helpers')

/** Passkeys belong to this host. A page below it could ask for them, but `SITE_ORIGINS` doesn't list that page. */
function hostOf(ctx: Site): string {
  return new URL(siteOrigin(ctx)).hostname
}

/** The passkey stores this, to tell us later whose it is. */
function handleOf(userId: string): string {
  return Buffer.from(userId).toString('base64url')
}

const descriptors = (known: Known[]) =>
  known.map(({ credentialId, transports }) => ({
    id: credentialId,
    type: 'public-key' as const,
    transports: transports as NonNullable<CreationOptions['excludeCredentials']>[number]['transports'] & object,
  }))

/** @param known the account's passkeys: a device that holds one won't make another */
export function creationOptions(ctx: Site, challenge: string, user: User, known: Known[]): CreationOptions {
  return {
    challenge,
    rp: { id: hostOf(ctx), name: 'Proving Ground' },
    user: { id: handleOf(user.id), name: user.email, displayName: user.name },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: 'public-key' })),
    timeout: TIMEOUT_MS,
    excludeCredentials: descriptors(known),
    // A key that keeps no passkeys is still a second factor.
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    attestation: 'none',
  }
}

/**
 * @param known the account's passkeys; null: any, for signing in with a passkey alone
 * @param verified the device must verify its owner, because the passkey replaces the password
 */
export function requestOptions(
  ctx: Site,
  challenge: string,
  known: Known[] | null,
  verified = known === null,
): RequestOptions {
  return {
    challenge,
    rpId: hostOf(ctx),
    timeout: TIMEOUT_MS,
    userVerification: verified ? 'required' : 'preferred',
    allowCredentials: descriptors(known ?? []),
  }
}

/** What an answer claims to have signed; empty if it doesn't say. Checks nothing. */
export function signedChallenge(answer: PasskeyResponse): string {
  try {
    const { clientDataJSON } = answer.response as { clientDataJSON: string }
    return String(JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).challenge ?? '')
  } catch {
    return ''
  }
}

export type NewPasskey = { credentialId: string; publicKey: string; counter: number; transports: string[] }

/** Null if it isn't what we asked for. */
export async function readNewPasskey(
  ctx: Site,
  challenge: string,
  answer: PasskeyResponse,
): Promise<NewPasskey | null> {
  const { verifyRegistrationResponse } = await library()
  try {
    const response = await withoutAttestation(answer as unknown as RegistrationResponseJSON)
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: ctx.config.origins,
      expectedRPID: hostOf(ctx),
      requireUserVerification: false,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    if (!verified) return null
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential
    if (id.length > MAX_ID_LETTERS) return null
    await requireUsable(publicKey)
    const texts = transports.filter((one) => typeof one === 'string' && one.length <= 20).slice(0, 10)
    return { credentialId: id, publicKey: Buffer.from(publicKey).toString('base64url'), counter, transports: texts }
  } catch {
    return null
  }
}

/** A well-formed signature (DER) that no key made. */
const NO_SIGNATURE = Uint8Array.of(0x30, 6, 2, 1, 1, 2, 1, 1)

/** A key that can't check signatures would lock its owner out. One that can just finds this signature wrong. @throws */
async function requireUsable(credentialPublicKey: Uint8Array<ArrayBuffer>): Promise<void> {
  const { cose, decodeCredentialPublicKey, verifySignature } = await helpers()
  const key = decodeCredentialPublicKey(credentialPublicKey)
  const { alg, kty, crv } = cose.COSEKEYS
  const [of, type, curve] = [alg, kty, crv].map((label) => (key as Map<number, unknown>).get(label))
  // The library checks a signature by the key's type, whatever algorithm the key names.
  if (!KEYS.some((one) => one.alg === of && one.kty === type && (one.crv === null || one.crv === curve)))
    throw new Error('The key is of another kind than its algorithm.')
  // workerd throws if a signature isn't as long as the key, which a DER signature can't be.
  const modulus = cose.isCOSEPublicKeyRSA(key) ? key.get(cose.COSEKEYS.n) : undefined
  const signature = cose.isCOSEPublicKeyEC2(key) ? NO_SIGNATURE : new Uint8Array(modulus?.length ?? 64)
  await verifySignature({ credentialPublicKey, signature, data: new Uint8Array() })
}

/**
 * We don't ask who made a device, so we don't read its certificates: the library would fetch the addresses in them, and a
 * stranger could choose those.
 */
async function withoutAttestation(answer: RegistrationResponseJSON): Promise<RegistrationResponseJSON> {
  const { decodeAttestationObject, isoBase64URL, isoCBOR } = await helpers()
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(answer.response.attestationObject)).get('authData')
  const bare = new Map<string, unknown>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authData],
  ])
  const attestationObject = isoBase64URL.fromBuffer(isoCBOR.encode(bare as Parameters<typeof isoCBOR.encode>[0]))
  return { ...answer, response: { ...answer.response, attestationObject } }
}

type Stored = { userId: string; credentialId: string; publicKey: string }

/**
 * Checks a signature by this passkey. Null: it isn't right. The counter is for the caller to compare: it decides in the write.
 * @param asked `verified`: the device must have verified its owner; `alone`: nothing else says who it is
 */
export async function verifyAnswer(
  ctx: Site,
  { challenge, verified, alone }: { challenge: string; verified: boolean; alone: boolean },
  { userId, credentialId, publicKey }: Stored,
  answer: PasskeyResponse,
): Promise<{ counter: number } | null> {
  const { verifyAuthenticationResponse } = await library()
  const response = answer as unknown as AuthenticationResponseJSON
  try {
    const { userHandle } = response.response
    if (userHandle ? userHandle !== handleOf(userId) : alone) return null
    const result = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: ctx.config.origins,
      expectedRPID: hostOf(ctx),
      credential: { id: credentialId, publicKey: Buffer.from(publicKey, 'base64url'), counter: 0 },
      requireUserVerification: verified,
    })
    return result.verified ? { counter: result.authenticationInfo.newCounter } : null
  } catch {
    return null
  }
}
