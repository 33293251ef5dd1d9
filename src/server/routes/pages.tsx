import { Hono } from 'hono'
import { contactForm } from '../../domain/contact.ts'
import { checkForm } from '../../domain/form.ts'
import { canStop } from '../../domain/server.ts'
import { ContactSales } from '../../pages/ContactSales.tsx'
import { Dashboard } from '../../pages/Dashboard.tsx'
import { Landing } from '../../pages/Landing.tsx'
import { Pricing } from '../../pages/Pricing.tsx'
import { StopServer } from '../../pages/StopServer.tsx'
import type { FlashMessage } from '../../ui/FlashAlert.tsx'
import { toDashboard } from '../fleet/dashboard.ts'
import { type AppEnv, signedIn } from '../http/app-env.ts'
import { takeFlash } from '../http/flash.ts'
import { csrfToken } from '../http/middleware/csrf.ts'
import { renderPage } from '../http/render.tsx'
import { readAlong } from '../http/site-map.ts'

const PRICING =
  'Basic $25, Premium $250, Enterprise by agreement: GPU simulation servers with hours included, then $1.75 an hour, billed per second.'
const TERMS =
  'The terms for renting a simulation server, starting with a plain-language summary: trial, per-second billing, invoices, your data.'
const CONTACT = 'Tell us what you want to simulate, with which vehicles, and how many. We reply by email.'
const sameForAll = { assets: 'public', same: true } as const

/** Each page's path, assets and content. */
export const pages = new Hono<AppEnv>()
  .get('/', (c) => renderPage(c, { title: 'fly the mission before the drone exists', ...sameForAll }, <Landing />))
  .get('/pricing', (c) => renderPage(c, { title: 'Pricing', description: PRICING, ...sameForAll }, <Pricing />))
  .get('/terms_of_service', async (c) => {
    const { Terms } = await import('../../pages/Terms.tsx')
    return renderPage(c, { title: 'Terms of Service', description: TERMS, assets: 'text', same: true }, <Terms />)
  })
  .get('/contact_sales', (c) => {
    const flash = takeFlash(c)
    const failed = flash?.kind === 'danger' ? flash : null
    return renderPage(
      c,
      { title: 'Contact sales', description: CONTACT, assets: 'public' },
      <ContactSales
        csrfToken={csrfToken(c)}
        values={failed?.values ?? {}}
        errors={failed ? contactErrors(failed) : {}}
        failure={failed?.message ?? null}
        success={flash?.kind === 'success' ? flash.message : null}
      />,
    )
  })
  .get('/dashboard', (c) => {
    const { user } = signedIn(c)
    const data = toDashboard(readAlong(c, 'GET /dashboard'), c.var.ctx.now())
    return renderPage(c, { title: 'Dashboard' }, <Dashboard userId={user.id} csrfToken={csrfToken(c)} {...data} />)
  })
  .get('/stop_server', (c) => {
    const now = c.var.ctx.now()
    const { servers, summary } = toDashboard(readAlong(c, 'GET /stop_server'), now)
    const server = servers.find(canStop)
    if (!server) return c.redirect('/dashboard', 303)
    return renderPage(
      c,
      { title: 'Stop server' },
      <StopServer csrfToken={csrfToken(c)} server={server} summary={summary} now={now} />,
    )
  })

/** Which fields of a refused message are wrong, rechecked from the typed values. */
function contactErrors({ message, values }: FlashMessage): Record<string, string> {
  const typed = { name: '', email: '', source: '', message: '', ...values }
  const checked = checkForm(contactForm, typed, { every: true })
  if (checked.ok || checked.faults.map((fault) => fault.message).join(', ') !== message) return {}
  return Object.fromEntries(checked.faults.map((fault) => [fault.field, fault.message]))
}
