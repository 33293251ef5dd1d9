import { haveNow } from '../../../domain/money/plan-words.ts'
import { SignIn } from '../../../pages/SignIn.tsx'
import { SignUp } from '../../../pages/SignUp.tsx'
import type { FlashMessage } from '../../../ui/FlashAlert.tsx'
import { getBillingOverview } from '../../billing/bills/billing-overview.ts'
import { getUsage, toSummary } from '../../billing/bills/usage.ts'
import { settleCheckout } from '../../billing/plans/checkout.ts'
import { signedIn } from '../../http/app-env.ts'
import { setFlash, takeFlash } from '../../http/flash.ts'
import { csrfToken } from '../../http/middleware/csrf.ts'
import { renderPage } from '../../http/render.tsx'
import { route } from '../../http/route.ts'
import type { Context } from '../../runtime/context.ts'

const SIGN_UP = '30 minutes of a simulation server, free: make an account with a name, an email and a password.'
const SIGN_IN = 'Sign in to start, watch and stop your simulation servers.'

/** The account's screens. Each shows the flash message once. */
export const accountPages = [
  route('GET /sign_up', { access: 'guest', kind: 'page', search: 'listed', ahead: 'hover' }).answer((c) => {
    const form = { csrfToken: csrfToken(c), flash: takeFlash(c) }
    return renderPage(c, { title: 'Sign Up', description: SIGN_UP }, <SignUp {...form} />)
  }),
  route('GET /sign_in', { access: 'guest', kind: 'page', search: 'listed', ahead: 'hover' }).answer((c) => {
    const form = { csrfToken: csrfToken(c), flash: takeFlash(c) }
    return renderPage(c, { title: 'Sign In', description: SIGN_IN }, <SignIn {...form} />)
  }),
  route('GET /confirm_email', { access: 'public', kind: 'page', ahead: 'hover' }).answer(async (c) => {
    const [{ ConfirmEmailPage }, { findAddressOfLink }] = await Promise.all([
      import('../../../pages/ConfirmEmailPage.tsx'),
      import('../../accounts/confirmation.ts'),
    ])
    const token = c.req.query('confirmation_token') || null
    const email = token ? await findAddressOfLink(c.var.ctx, token) : null
    const form = { csrfToken: csrfToken(c), flash: takeFlash(c), token, email: email ?? '' }
    return renderPage(c, { title: 'Confirm your email' }, <ConfirmEmailPage {...form} />)
  }),
  route('GET /forgot_password', { access: 'public', kind: 'page', search: 'open', ahead: 'hover' }).answer(
    async (c) => {
      const { ForgotPassword } = await import('../../../pages/ForgotPassword.tsx')
      const form = { csrfToken: csrfToken(c), flash: takeFlash(c) }
      return renderPage(c, { title: 'Reset your password', assets: 'public' }, <ForgotPassword {...form} />)
    },
  ),
  route('GET /reset_password', { access: 'public', kind: 'page' }).answer(async (c) => {
    const [{ ResetPassword }, { findResetLink }] = await Promise.all([
      import('../../../pages/ResetPassword.tsx'),
      import('../../accounts/password-reset.ts'),
    ])
    const flash = takeFlash(c)
    const token = flash?.values?.['user[reset_password_token]'] ?? c.req.query('reset_password_token') ?? ''
    const link = token ? await findResetLink(c.var.ctx, token) : null
    const form = { csrfToken: csrfToken(c), flash, token: link?.good ? token : null, email: link?.email ?? '' }
    return renderPage(c, { title: 'Choose a new password', assets: 'public' }, <ResetPassword {...form} />)
  }),
  route('GET /account_overview', { access: 'user', kind: 'page', ahead: 'press' }).answer(async (c) => {
    const { user, hasFactor, hasPasskey } = signedIn(c)
    if (c.req.query('checkout') === 'done' && c.req.method === 'GET') {
      setFlash(c, await afterCheckout(c.var.ctx, user.id))
      // Where they can start.
      return c.redirect('/dashboard', 303)
    }
    const [billing, { AccountOverview }, { BillingCard }, { SubscriptionCard }] = await Promise.all([
      getBillingOverview(c.var.ctx, user.id),
      import('../../../pages/AccountOverview.tsx'),
      import('../../../pages/billing/BillingCard.tsx'),
      import('../../../pages/billing/SubscriptionCard.tsx'),
    ])
    const flash = takeFlash(c)
    const aboutPlan = flash?.values?.about === 'plan'
    const profile = { user, hasFactor, hasPasskey, csrfToken: csrfToken(c), flash: aboutPlan ? null : flash }
    return renderPage(
      c,
      { title: 'Account', assets: 'settings' },
      <AccountOverview
        {...profile}
        subscription={
          <SubscriptionCard
            subscription={billing.summary.subscription}
            csrfToken={profile.csrfToken}
            flash={aboutPlan ? flash : null}
          />
        }
        billing={<BillingCard {...billing} />}
      />,
    )
  }),
  // Where password managers send people: https://w3c.github.io/webappsec-change-password-url/
  route('GET /.well-known/change-password', { access: 'public', kind: 'page' }).answer((c) =>
    c.redirect('/account_overview#current_password'),
  ),
  route('GET /devices', { access: 'user', kind: 'page', ahead: 'press' }).answer(async (c) => {
    const [{ Devices }, { listSignIns }] = await Promise.all([
      import('../../../pages/Devices.tsx'),
      import('../../accounts/sign-ins.ts'),
    ])
    const devices = await listSignIns(c.var.ctx, signedIn(c))
    const form = { csrfToken: csrfToken(c), flash: takeFlash(c), devices }
    return renderPage(c, { title: 'Signed-in devices', assets: 'settings' }, <Devices {...form} />)
  }),
  route('GET /close_account', { access: 'user', kind: 'page', ahead: 'press' }).answer(async (c) => {
    const { CloseAccount } = await import('../../../pages/CloseAccount.tsx')
    const form = { csrfToken: csrfToken(c), flash: takeFlash(c), hasFiles: c.var.ctx.config.files !== null }
    return renderPage(c, { title: 'Close my account', assets: 'settings' }, <CloseAccount {...form} />)
  }),
]

/** What people have when they return from the checkout page. The webhook for their payment may be late. */
async function afterCheckout(ctx: Context, userId: string): Promise<FlashMessage> {
  await settleCheckout(ctx, userId).catch((error) => ctx.log('checkout_not_settled', { userId }, error))
  const { subscription } = toSummary(await getUsage(ctx, userId))
  if (subscription?.sub_type === 'paid' && subscription.status === 'active')
    return { kind: 'success', message: haveNow(subscription) }
  const message = "We haven't received your payment yet. If you've just paid, look again in a minute."
  return { kind: 'info', message }
}
