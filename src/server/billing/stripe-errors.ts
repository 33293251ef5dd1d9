import Stripe from 'stripe'
import { AppError } from '../../domain/error.ts'
import { CustomerMissing } from '../ports/payments.ts'

const CARD_DECLINED =
  "Your card was declined, so nothing changed and you weren't charged. Change your payment method, then try again."

/** The card may pay, but its bank wants the customer to confirm that first (3-D Secure). */
export function bankAsks(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeError && ASKING.includes(error.code ?? '')
}

const ASKING = ['subscription_payment_intent_requires_action', 'authentication_required']

/**
 * Makes a call with this key. Stripe keeps an answer under the key and repeats it for a day, even a fault of its own,
 * whether or not it did anything, and a refusal whose reason the operator has fixed since. Meanwhile, it also refuses
 * the key if this version calls with other parameters than an older one did. Then a look says what the earlier call
 * did, and if that was nothing, the call gets its own key.
 * @param find what the earlier call made; omit it if the caller looks before each repetition, or if doing it twice
 * changes nothing
 */
export async function withKey<T>(
  idempotencyKey: string,
  call: (options: { idempotencyKey: string }) => Promise<T>,
  find: () => Promise<T | null> = async () => null,
): Promise<T> {
  try {
    return await call({ idempotencyKey })
  } catch (error) {
    const isKept = isReplayed(error) && !(error instanceof Stripe.errors.StripeCardError)
    if (!isKept && !(error instanceof Stripe.errors.StripeIdempotencyError)) throw error
    return (await find()) ?? call({ idempotencyKey: `${idempotencyKey}:${crypto.randomUUID()}` })
  }
}

/** Stripe repeats its earlier answer to this key, without trying the card again. */
export function declinedEarlier(error: unknown): boolean {
  return isReplayed(error) && error instanceof Stripe.errors.StripeCardError && !bankAsks(error)
}

function isReplayed(error: unknown): error is Stripe.errors.StripeError {
  return error instanceof Stripe.errors.StripeError && error.headers?.['idempotent-replayed'] === 'true'
}

/** Null if Stripe has no such object. */
export async function orNull<T>(find: () => Promise<T>): Promise<T | null> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof AppError && isMissing(error.cause)) return null
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeError && error.code === 'resource_missing'
}

/**
 * Keeps Stripe's words in `cause`, for the log. No answer, a fault of theirs and "busy" are retryable with
 * the same key: `withKey` knows what Stripe kept under it.
 */
export async function translated<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    if (cause instanceof Stripe.errors.StripeCardError) throw new AppError('plan_unpaid', CARD_DECLINED, { cause })
    if (cause instanceof Stripe.errors.StripeError && isMissing(cause) && cause.param === 'customer')
      throw new CustomerMissing('provider_failed', 'The payment provider has no such customer.', { cause })
    const status = cause instanceof Stripe.errors.StripeError ? cause.statusCode : undefined
    if (status !== undefined && status < 500 && status !== 409 && status !== 429)
      throw new AppError('provider_failed', 'The payment provider refused the request. Please contact us.', { cause })
    throw new AppError('unavailable', 'The payment provider did not answer. Please try again in a moment.', {
      cause,
      retryable: true,
    })
  }
}
