import type { Context as HonoContext } from 'hono'
import type * as v from 'valibot'
import { contactForm, helpForm } from '../../../domain/contact.ts'
import { checkForm } from '../../../domain/form.ts'
import { canStop } from '../../../domain/server.ts'
import type { DashboardView } from '../../../domain/views.ts'
import type { MessagePageProps } from '../../../pages/contact/MessagePage.tsx'
import { Dashboard } from '../../../pages/Dashboard.tsx'
import { Landing } from '../../../pages/Landing.tsx'
import { Pricing } from '../../../pages/Pricing.tsx'
import { openInvoiceQueries, toUnpaidDollars } from '../../billing/bills/billing-history.ts'
import { dashboardQueries, toDashboard } from '../../fleet/dashboard.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { takeFlash } from '../../http/flash.ts'
import { csrfToken } from '../../http/middleware/csrf.ts'
import { renderPage } from '../../http/render.tsx'
import { route } from '../../http/route.ts'
import { findText } from '../../http/texts.tsx'
import { serversKeepFiles } from '../../runtime/context.ts'

const PRICING =
  'Basic $25, Premium $250, Enterprise by agreement: GPU simulation servers with hours included, then $1.75 an hour, billed per second.'
const TERMS =
  'The terms for renting a simulation server, starting with a plain-language summary: trial, per-second billing, invoices, your data.'
const CONTACT = 'Tell us what you want to simulate, with which vehicles, and how many. We reply by email.'
const HELP = 'Stuck? Tell us what happened. We reply by email.'
const PRIVACY = 'What we store about you, why, for how long, who else sees it, and how to get or delete it.'
const sameForAll = { assets: 'public', same: true } as const

/** What they chose in a refused start, or before they had to sign in, takes precedence over their last choice. */
function withTyped(view: DashboardView, typed: Record<string, string> | undefined): DashboardView {
  if (typed?.environment === undefined) return view
  const { environment, vehicle = '', parameters = '', stop_after } = typed
  const last = view.secrets?.names.filter((name) => `secrets[${name}]` in typed) ?? []
  return {
    ...view,
    typed: { environment, vehicle, parameters },
    stopAfter: Number(stop_after) || null,
    secrets: view.secrets && { ...view.secrets, last },
  }
}

/** Each page's path, assets and content. */
export const pages = [
  route('GET /', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer((c) =>
    renderPage(c, { title: 'fly the mission before the drone exists', ...sameForAll }, <Landing />),
  ),
  route('GET /pricing', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer((c) =>
    renderPage(
      c,
      { title: 'Pricing', description: PRICING, ...sameForAll },
      <Pricing filesStay={serversKeepFiles(c.var.ctx)} />,
    ),
  ),
  route('GET /contact_sales', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer(
    async (c) => {
      const { ContactSales } = await import('../../../pages/ContactSales.tsx')
      const form = messageForm(c, contactForm, { name: '', email: '', source: '', message: '' })
      const head = { title: 'Contact sales', description: CONTACT, assets: 'public' } as const
      return renderPage(c, head, <ContactSales {...form} />)
    },
  ),
  route('GET /help', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer(async (c) => {
    const { Help } = await import('../../../pages/Help.tsx')
    const user = c.var.signIn?.user ?? null
    const known = { name: user?.name || user?.email || '', email: user?.email ?? '' }
    const form = messageForm(c, helpForm, { ...known, topic: '', message: '' })
    return renderPage(c, { title: 'Help', description: HELP, assets: 'public' }, <Help user={user} {...form} />)
  }),
  route('GET /privacy', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer(async (c) => {
    const { Privacy } = await import('../../../pages/Privacy.tsx')
    return renderPage(
      c,
      { title: 'Privacy', description: PRIVACY, assets: 'text', same: true },
      <Privacy hasFiles={c.var.ctx.config.files !== null} />,
    )
  }),
  route('GET /terms_of_service', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer(
    async (c) => {
      const text = await findText(c, c.var.ctx.config.files ? 'terms' : 'terms-without-files')
      return renderPage(c, { title: 'Terms of Service', description: TERMS, assets: 'text', same: true }, text)
    },
  ),
  route('GET /dashboard', {
    access: 'user',
    kind: 'page',
    reads: (ctx, userId) => [...openInvoiceQueries(ctx, userId), ...dashboardQueries(ctx, userId)] as const,
  }).answer((c, [bills, payments, ...rows]) => {
    const { user } = signedIn(c)
    const now = c.var.ctx.now()
    const flash = takeFlash(c)
    const data = {
      ...withTyped(toDashboard(rows, c.var.ctx), flash?.values),
      flash,
      unpaidDollars: toUnpaidDollars(bills, payments, now),
    }
    return renderPage(c, { title: 'Dashboard' }, <Dashboard userId={user.id} csrfToken={csrfToken(c)} {...data} />)
  }),
  route('GET /stop_server', { access: 'user', kind: 'page', reads: dashboardQueries }).answer(async (c, rows) => {
    const { StopServer } = await import('../../../pages/StopServer.tsx')
    const now = c.var.ctx.now()
    const { servers, summary, filesStay } = toDashboard(rows, c.var.ctx)
    const server = servers.find(canStop)
    if (!server) return c.redirect('/dashboard', 303)
    return renderPage(
      c,
      { title: 'Stop server' },
      <StopServer csrfToken={csrfToken(c)} server={server} summary={summary} now={now} filesStay={filesStay} />,
    )
  }),
]

/** A form that posts to us, with what was typed. After a refusal, we check again which fields are wrong. */
function messageForm<F extends Record<string, string>>(
  c: HonoContext<AppEnv>,
  schema: v.GenericSchema<F, unknown>,
  empty: F,
): MessagePageProps<keyof F & string> {
  const flash = takeFlash(c)
  const failed = flash?.kind === 'danger' ? flash : null
  const checked = failed && checkForm(schema, { ...empty, ...failed.values }, { every: true })
  const faults = checked?.ok === false ? checked.faults : []
  // A flash that would be too long carries no values.
  const isAboutThem = failed?.code === 'invalid' && Object.keys(failed.values ?? {}).length > 0
  return {
    csrfToken: csrfToken(c),
    values: (failed?.values ?? {}) as Partial<F>,
    errors: Object.fromEntries(isAboutThem ? faults.map((fault) => [fault.field, fault.message]) : []) as Partial<F>,
    failure: failed?.message ?? null,
    success: flash?.kind === 'success' ? flash.message : null,
  }
}
