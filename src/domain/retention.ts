/** How long we keep what, in days. The terms and the privacy page say so. */

/** The name, address, and password of a closed account. */
export const CLOSED_DAYS = 30
/**
 * To answer the owner's questions: which device was that, when did you email me. Stripe resends an event for up to
 * 30 days.
 */
export const TRACE_DAYS = 90
/** The answers of webhooks. */
export const DELIVERY_DAYS = 30

const [MINUTE, DAY] = [60, 24 * 3600]
/** How long each cookie lasts, in seconds. */
export const COOKIE_S = {
  sign_in: 14 * DAY,
  browser: 30 * DAY,
  known: 365 * DAY,
  /** Long enough to look up a password, too short to surprise anyone the next day. */
  back: 30 * MINUTE,
  flash: MINUTE,
  theme: 365 * DAY,
}
