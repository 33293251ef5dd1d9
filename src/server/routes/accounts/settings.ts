import { BUDGET_PAGE } from '../../../domain/money/budget.ts'
import { route } from '../../http/route.ts'

/** Loaded when needed: people seldom change settings, and every isolate would evaluate this at startup. */
const answers = () => import('./settings/answers.tsx')

/** For links to the pages that these settings had before. */
const moved = (from: `/${string}`, to: string) =>
  route(`GET ${from}`, { access: 'user', kind: 'page' }).answer((c) => c.redirect(to))

/** The settings of an account, except its profile. */
export const settings = [
  route('GET /settings/billing', { access: 'user', kind: 'page', ahead: 'press' }).answer(async (c) =>
    (await answers()).billing(c),
  ),
  route('GET /settings/developers', { access: 'user', kind: 'page', ahead: 'press' }).answer(async (c) =>
    (await answers()).developers(c),
  ),
  route('GET /settings/servers', { access: 'user', kind: 'page', ahead: 'press' }).answer(async (c) =>
    (await answers()).servers(c),
  ),
  moved('/settings', '/account_overview'),
  moved('/budget', BUDGET_PAGE),
  moved('/api_tokens', '/settings/developers#api_tokens'),
  moved('/webhooks', '/settings/developers#webhooks'),
  moved('/secrets', '/settings/developers#secrets'),
  moved('/registries', '/settings/developers#registries'),
  moved('/idle', '/settings/servers#idle'),
  moved('/environments', '/settings/servers#environments'),
]
