import { Hono } from 'hono'
import { Dashboard } from '../../pages/Dashboard.tsx'
import { type AppEnv, signedIn } from '../app-env.ts'
import { renderPage } from '../render.tsx'
import { getDashboard } from '../services/dashboard.ts'

/** The site map: each page's path, what it loads, what it shows. Who may see it stands in access.ts. */
export const pages = new Hono<AppEnv>().get('/dashboard', async (c) => {
  const { user } = signedIn(c)
  const data = await getDashboard(c.var.ctx, user.id)
  return renderPage(
    c,
    { title: 'Dashboard', noIndex: true },
    <Dashboard userId={user.id} now={c.var.ctx.now()} {...data} />,
  )
})
