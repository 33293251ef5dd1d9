import type { Context as HonoContext } from 'hono'
import { Activity } from '../../../../pages/Activity.tsx'
import { getActivity } from '../../../accounts/activity.ts'
import { type AppEnv, signedIn } from '../../../http/app-env.ts'
import { renderPage } from '../../../http/render.tsx'

export async function page(c: HonoContext<AppEnv>): Promise<Response> {
  const activity = await getActivity(c.var.ctx, signedIn(c), c.req.query('before') ?? null)
  return renderPage(c, { title: 'Activity', assets: 'settings' }, <Activity {...activity} />)
}
