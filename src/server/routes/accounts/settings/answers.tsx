import type { Context as HonoContext } from 'hono'
import { Billing } from '../../../../pages/settings/Billing.tsx'
import { Developers, type Made } from '../../../../pages/settings/Developers.tsx'
import { Servers } from '../../../../pages/settings/Servers.tsx'
import { listApiTokens } from '../../../accounts/api-tokens.ts'
import { listWebhooks } from '../../../accounts/webhooks.ts'
import { getBillingOverview } from '../../../billing/bills/billing-overview.ts'
import { idleMinutesQuery } from '../../../fleet/idle-setting.ts'
import { mayBuildOwn, ownEnvironmentsQuery, toOwnEnvironment } from '../../../fleet/own-environments.ts'
import { listRegistries, listSecrets } from '../../../fleet/secrets.ts'
import { type AppEnv, signedIn } from '../../../http/app-env.ts'
import { takeFlash } from '../../../http/flash.ts'
import { csrfToken } from '../../../http/middleware/csrf.ts'
import { renderPage } from '../../../http/render.tsx'

type Call = HonoContext<AppEnv>

export async function billing(c: Call): Promise<Response> {
  const found = await getBillingOverview(c.var.ctx, signedIn(c).user.id)
  // The form's answer redirects to Stripe.
  if (found.hasPortal) c.set('formTarget', c.var.ctx.config.portalOrigin)
  const form = { csrfToken: csrfToken(c), flash: takeFlash(c) }
  return renderPage(c, { title: 'Billing', assets: 'settings' }, <Billing billing={found} {...form} />)
}

/** @param made what this call created */
export async function developers(c: Call, made: Made | null = null): Promise<Response> {
  const { ctx } = c.var
  const { id } = signedIn(c).user
  const [tokens, webhooks, secrets, registries] = await Promise.all([
    listApiTokens(ctx, id),
    listWebhooks(ctx, id),
    listSecrets(ctx, id),
    listRegistries(ctx, id),
  ])
  const lists = { tokens, webhooks, secrets, registries }
  const form = { csrfToken: csrfToken(c), flash: takeFlash(c) }
  return renderPage(
    c,
    { title: 'Developers', assets: made ? 'secrets' : 'settings' },
    <Developers {...lists} {...form} made={made} />,
    made ? 201 : 200,
  )
}

export async function servers(c: Call): Promise<Response> {
  const { ctx } = c.var
  const { id } = signedIn(c).user
  const [[idle], environments, included] = await Promise.all([
    idleMinutesQuery(ctx, id),
    ownEnvironmentsQuery(ctx, id),
    mayBuildOwn(ctx, id),
  ])
  const form = { csrfToken: csrfToken(c), flash: takeFlash(c), included }
  return renderPage(
    c,
    { title: 'Servers', assets: 'settings' },
    <Servers {...form} idleMinutes={idle?.minutes ?? null} environments={environments.map(toOwnEnvironment)} />,
  )
}
