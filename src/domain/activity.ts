import type { Act } from './audit.ts'
import { type PlanType, planName } from './money/plan.ts'

/** What an email tells the owner of an account. The email's row is the record, written in the transaction of the act. */
const MAILED = {
  password_changed: 'Password changed',
  totp_added: 'Authenticator app added',
  totp_removed: 'Authenticator app removed',
  passkey_added: 'Passkey added',
  passkey_removed: 'Passkey removed',
  passkey_copied: 'Passkey refused: it may have been copied',
  codes_renewed: 'New recovery codes made',
  code_used: 'Recovery code used',
  webhook_added: 'Webhook added',
  webhook_secret_replaced: 'Webhook secret replaced',
  webhook_removed: 'Webhook deleted',
  secret_added: 'Secret added',
  secret_changed: 'Secret changed',
  secret_removed: 'Secret removed',
  login_added: 'Registry login added',
  login_changed: 'Registry login changed',
  login_removed: 'Registry login removed',
  environment_added: 'Environment added',
  environment_removed: 'Environment removed',
} as const

/** For the emails about a new browser and about a stopped sign-in, Activity shows the sign-in instead. */
export type MailedAct = keyof typeof MAILED | 'new_browser' | 'sign_in_stopped'

/** An operator's act, as its customer sees it; null: it concerns no account. */
const OPERATOR: Record<Act, string | null> = {
  stop_run: 'We stopped one of your servers',
  end_instance: 'We ended the machine of one of your servers',
  end_instance_failed: null,
  suspend: 'We suspended your account',
  lift: 'We lifted your suspension',
  grant_plan: 'We granted you a plan',
  end_plan: 'We ended a plan that we had granted',
  correct_bill: 'We corrected a bill',
  hold_invoice: 'We put an invoice on hold',
  release_invoice: 'We released an invoice',
  sign_out: 'We signed you out everywhere',
  add_places: null,
  keep_warm: null,
  drain_place: null,
  resume_place: null,
  retire_place: null,
  add_environment: null,
  change_environment: null,
  retire_environment: null,
  make_group: null,
  change_group: null,
  end_group: null,
  release_group: null,
  make_admin: 'You became an admin',
  end_admin: 'You are no longer an admin',
  ask_no_factor: 'We were asked to remove your second factor',
  keep_factor: 'Your second factor stays',
  remove_factors: 'We removed your second factor',
  adopt_run: 'We repaired the record of one of your servers',
  end_lost_run: 'We repaired the record of one of your servers',
}

/** What a refused sign-in got wrong. If there was no answer at the second step, the password was right. */
const WRONG = {
  password: 'Wrong password',
  code: 'The password was right, but the code or passkey was wrong',
  answer: 'The password was right, but the second step was never finished',
}
export type Wrong = keyof typeof WRONG

/** Something that happened to an account, as we read it: what `name` and `more` mean depends on the kind. */
export type ActivityRow = {
  kind:
    | 'sign_in'
    | 'refused'
    | 'token_made'
    | 'token_ended'
    | 'plan_began'
    | 'plan_changed'
    | 'plan_ended'
    | 'operator'
    | 'mailed'
  name: string | null
  more: string | null
  count: number
}

/** In words for the account's owner; null: nothing that concerns them. */
export function activityWords({
  kind,
  name,
  more,
  count,
}: ActivityRow): { what: string; detail: string | null } | null {
  const of = name ?? ''
  switch (kind) {
    case 'sign_in':
      return { what: 'Signed in', detail: count ? 'New browser' : null }
    case 'refused': {
      const times = count === 1 ? '' : `, ${count} times in an hour`
      return { what: `Sign-in refused${times}`, detail: WRONG[of as Wrong] }
    }
    case 'token_made':
      return {
        what: 'API token created',
        detail: more === 'read' ? `${of}: may read` : `${of}: may start and stop servers`,
      }
    case 'token_ended':
      return { what: 'API token revoked', detail: of }
    case 'plan_began':
      return { what: more === 'demo' ? 'Free trial began' : `${planOf(name)} plan began`, detail: null }
    case 'plan_changed':
      return { what: `Upgraded to ${planOf(name)}`, detail: `From ${planOf(more)}` }
    case 'plan_ended':
      return { what: more === 'demo' ? 'Free trial ended' : `${planOf(name)} plan ended`, detail: null }
    case 'operator': {
      const what = OPERATOR[of as Act]
      return what ? { what, detail: null } : null
    }
    case 'mailed': {
      const what = (MAILED as Record<string, string>)[of]
      return what ? { what, detail: null } : null
    }
  }
}

const planOf = (type: string | null) => planName(type as PlanType)

/** Null if there were none. @param withCode how many of them had the right password */
export function refusedSince({ count, withCode }: { count: number; withCode: number }): string | null {
  if (!count) return null
  const were = count === 1 ? '1 sign-in was' : `${count} sign-ins were`
  const first = `${were} refused since your last visit.`
  if (!withCode) return first
  const who = count === withCode ? (count === 1 ? 'It' : 'Each') : `${withCode} of them`
  return `${first} ${who} had the right password. If that wasn't you, choose a new one.`
}
