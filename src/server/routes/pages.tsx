import { Hono } from 'hono'
import { ContactSales } from '../../pages/ContactSales.tsx'
import { Dashboard } from '../../pages/Dashboard.tsx'
import { Landing } from '../../pages/Landing.tsx'
import { Pricing } from '../../pages/Pricing.tsx'
import { Terms } from '../../pages/Terms.tsx'
import { type AppEnv, signedIn } from '../app-env.ts'
import { takeFlash } from '../flash.ts'
import { csrfToken } from '../middleware/csrf.ts'
import { readAlong } from '../read-along.ts'
import { renderPage } from '../render.tsx'
import { toDashboard } from '../services/dashboard.ts'

const marketing = { assets: 'marketing' } as const
const sameForAll = { ...marketing, same: true } as const

/** The site map: each page's path, what it loads, what it shows. Who may see it stands in access.ts. */
export const pages = new Hono<AppEnv>()
  .get('/', (c) => renderPage(c, { title: 'fly the mission before the drone exists', ...sameForAll }, <Landing />))
  .get('/pricing', (c) => renderPage(c, { title: 'Pricing', ...sameForAll }, <Pricing />))
  .get('/terms_of_service', (c) => renderPage(c, { title: 'Terms of Service', ...sameForAll }, <Terms />))
  .get('/contact_sales', (c) => {
    const flash = takeFlash(c)
    const failed = flash?.kind === 'danger' ? flash : null
    return renderPage(
      c,
      { title: 'Contact sales', ...marketing },
      <ContactSales
        csrfToken={csrfToken(c)}
        values={failed?.values ?? {}}
        errors={failed?.field ? { [failed.field]: failed.message } : {}}
        failure={failed?.message ?? null}
        success={flash?.kind === 'success' ? flash.message : null}
      />,
    )
  })
  .get('/dashboard', (c) => {
    const { user, suspended } = signedIn(c)
    const data = toDashboard(readAlong(c, 'GET /dashboard'), c.var.ctx.now())
    return renderPage(
      c,
      { title: 'Dashboard', noIndex: true },
      <Dashboard userId={user.id} suspended={suspended} {...data} />,
    )
  })
