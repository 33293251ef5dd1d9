import { billMonth } from '../../../domain/money/bill.ts'
import { planName, planOf, upgradeWaits } from '../../../domain/money/plan.ts'
import { haveNow, upgradeOf } from '../../../domain/money/plan-words.ts'
import { PAY_PLAN } from '../../../domain/money/start-cost.ts'
import { dollarsPerMonth, hoursPerDay } from '../../../domain/money/usage-chart.ts'
import { findStatement, getBillingHistory } from '../../billing/bills/billing-history.ts'
import { countUsage, getUsage, toSummary, usageQueries } from '../../billing/bills/usage.ts'
import { findPlanPayPage, settlePlan } from '../../billing/plans/pay-plan.ts'
import { catalogQuery, toWorlds } from '../../fleet/worlds.ts'
import { signedIn } from '../../http/app-env.ts'
import { logError, statusOf, toAppError } from '../../http/error-response.ts'
import { setFlash, takeFlash } from '../../http/flash.ts'
import { csrfToken } from '../../http/middleware/csrf.ts'
import { renderPage } from '../../http/render.tsx'
import { route } from '../../http/route.ts'

/** The screens about money. */
export const billingPages = [
  route('GET /billing_history', { access: 'user', kind: 'page', ahead: 'press' }).answer(async (c) => {
    const { BillingHistory } = await import('../../../pages/BillingHistory.tsx')
    const now = c.var.ctx.now()
    const { bills, runs, hasPortal, charging } = await getBillingHistory(c.var.ctx, signedIn(c).user.id)
    const months = bills.map((bill) => ({ month: billMonth(bill), dollars: bill.amount_owed }))
    // The form's answer redirects to Stripe.
    if (hasPortal) c.set('formTarget', c.var.ctx.config.portalOrigin)
    return renderPage(
      c,
      { title: 'Billing History', assets: 'billing' },
      <BillingHistory
        bills={bills}
        month={c.req.query('month') ?? null}
        hoursPerDay={hoursPerDay(runs, now, 30)}
        dollarsPerMonth={dollarsPerMonth(months, now, 12)}
        charging={charging}
        portalToken={hasPortal ? csrfToken(c) : null}
      />,
    )
  }),
  route('GET /billing_history/:id', { access: 'user', kind: 'page', ahead: 'press' }).answer(async (c) => {
    const { user } = signedIn(c)
    const { BillingStatement } = await import('../../../pages/BillingStatement.tsx')
    const statement = await findStatement(c.var.ctx, user.id, c.req.param('id'))
    if (!statement) return c.notFound()
    return renderPage(
      c,
      // The title becomes the name of a printed PDF.
      { title: `Statement ${statement.start_date} to ${statement.end_date}`, assets: 'billing' },
      <BillingStatement statement={statement} customer={user} seller={c.var.ctx.config.seller} />,
    )
  }),
  route(`GET ${PAY_PLAN}`, {
    access: 'user',
    kind: 'page',
    description: "303 to Stripe's page for the plan's open invoice, or to `/billing_history` when there is none.",
  }).answer(async (c) => {
    // HEAD must not call Stripe or leave a message.
    if (c.req.method === 'HEAD') return c.redirect('/billing_history', 303)
    const { ctx } = c.var
    const { user } = signedIn(c)
    const { page, upgrades } = await findPlanPayPage(ctx, user.id)
    if (page) return c.redirect(page, 303)
    if (upgrades) {
      const usage = await getUsage(ctx, user.id)
      const { subscription } = toSummary(usage)
      const isDone = subscription !== null && usage.plan?.upgradeUntil === null
      if (isDone) setFlash(c, { kind: 'success', message: haveNow(subscription) })
      return c.redirect('/subscriptions', 303)
    }
    setFlash(c, {
      kind: 'success',
      message: 'Your plan has no open invoice. Contact us if you still cannot start servers.',
    })
    return c.redirect('/billing_history', 303)
  }),
  route('GET /subscriptions', {
    access: 'user',
    kind: 'page',
    reads: (ctx, userId) => [...usageQueries(ctx, userId), catalogQuery(ctx, userId)] as const,
    ahead: 'press',
  }).answer(async (c, [history, runs, catalog]) => {
    const [{ Subscriptions }, { filesThen }] = await Promise.all([
      import('../../../pages/Subscriptions.tsx'),
      import('../../files/over-limit.ts'),
    ])
    const { ctx } = c.var
    let usage = countUsage(history, runs, ctx.now())
    // They may come from Stripe's page, before its webhook.
    if (
      upgradeWaits(usage.plan, ctx.now()) &&
      c.req.method !== 'HEAD' &&
      (await settlePlan(ctx, signedIn(c).user.id, usage.plan?.stripeSubscriptionId ?? null))
    )
      usage = await getUsage(ctx, signedIn(c).user.id)
    const { subscription } = toSummary(usage)
    const forSale = ctx.config.plansForSale
    // Without a script, the button's form redirects to the checkout page.
    if (forSale) c.set('formTarget', ctx.config.checkoutOrigin)
    return renderPage(
      c,
      { title: 'Subscriptions', assets: 'billing' },
      <Subscriptions
        subscription={subscription}
        changeable={Boolean(usage.plan?.stripeSubscriptionId)}
        upgrade={upgradeOf(usage.plan, ctx.now())}
        forSale={forSale}
        filesThen={await filesThen(ctx, signedIn(c).user.id)}
        worlds={toWorlds(catalog, planOf(usage.plan))}
        csrfToken={csrfToken(c)}
        flash={takeFlash(c)}
      />,
    )
  }),
  route('GET /subscriptions/change', { access: 'user', kind: 'page' }).answer(async (c) => {
    // HEAD must not call Stripe.
    if (c.req.method === 'HEAD') return c.redirect('/subscriptions', 303)
    const flash = takeFlash(c)
    const { ctx } = c.var
    const [{ ChangePlan }, { quoteChange }, { filesThen }] = await Promise.all([
      import('../../../pages/ChangePlan.tsx'),
      import('../../billing/plans/change-plan.ts'),
      import('../../files/over-limit.ts'),
    ])
    try {
      const planType = c.req.query('plan_type') ?? flash?.values?.plan_type ?? ''
      const quote = await quoteChange(ctx, signedIn(c).user, planType)
      c.set('formTarget', ctx.config.portalOrigin)
      return renderPage(
        c,
        { title: `Change to ${planName(quote.to)}`, assets: 'billing' },
        <ChangePlan
          {...quote}
          filesThen={quote.kind === 'downgrade' ? (await filesThen(ctx, signedIn(c).user.id)).get(quote.to) : undefined}
          csrfToken={csrfToken(c)}
          flash={flash}
        />,
      )
    } catch (error) {
      const refusal = toAppError(error)
      if (statusOf(refusal) >= 500) logError(error, c)
      // The form's own message matters more than why there is no new quote.
      setFlash(c, { kind: 'danger', message: flash?.kind === 'danger' ? flash.message : refusal.message })
      return c.redirect('/subscriptions', 303)
    }
  }),
]
