import type { Page } from 'playwright-core'
import { SEED_EMAILS } from '../../dev/seed.ts'
import type { Cast } from '../people/cast.ts'
import { mailedTo, PASSWORD, waitFor } from '../people/client.ts'
import { FILE_SCREENS } from './file-screens.ts'
import type { Screen } from './screen.ts'

const REFUSED = /Failed to load resource: the server responded with a status of 4\d\d/

const openMenu = (page: Page) => page.locator('.menu-button').click()
const submit = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const live = (page: Page) => page.getByText('Live', { exact: true }).waitFor()

/** Every folded form. */
const unfold = (page: Page) =>
  page.evaluate(() => {
    for (const fold of document.querySelectorAll('main details')) (fold as HTMLDetailsElement).open = true
  })

async function openServer(page: Page, status: RegExp): Promise<void> {
  await page.locator('main tr').filter({ hasText: status }).getByRole('link').first().click()
  await page.waitForURL('**/servers/*')
}

/** Every screen, in every state that looks different. */
export const SCREENS: Screen[] = [
  { name: 'landing', path: '/' },
  { name: 'landing-menu', path: '/', prepare: openMenu },
  { name: 'pricing', path: '/pricing' },
  { name: 'contact-sales', path: '/contact_sales' },
  {
    name: 'contact-sales-refused',
    path: '/contact_sales',
    prepare: async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('Ada')
      await page.locator('main form button[type=submit]').click()
      await page.locator('main [aria-invalid=true], main .alert-danger').first().waitFor()
    },
  },
  { name: 'help', path: '/help' },
  { name: 'help-signed-in', path: '/help', as: 'customer' },
  { name: 'privacy', path: '/privacy' },
  { name: 'security', path: '/security' },
  { name: 'terms', path: '/terms_of_service' },
  { name: 'docs', path: '/docs' },
  { name: 'docs-api', path: '/docs/api' },
  { name: 'docs-events', path: '/docs/events' },
  { name: 'docs-cli', path: '/docs/cli' },
  { name: 'docs-ci', path: '/docs/ci' },
  { name: 'docs-billing', path: '/docs/billing' },
  { name: 'docs-images', path: '/docs/images' },
  { name: 'docs-ports', path: '/docs/ports' },
  {
    name: 'docs-suggestions',
    path: '/docs/cli',
    prepare: async (page) => {
      await page.getByLabel('Search the documentation').click()
      await page.getByRole('combobox').pressSequentially('idle')
      await page.getByRole('option').first().waitFor()
    },
  },
  { name: 'docs-found', path: '/docs/search?q=webhook' },
  { name: 'docs-signed-in', path: '/docs', as: 'customer' },
  { name: 'not-found', path: '/no/such/page', complains: /404/ },
  { name: 'sign-up', path: '/sign_up' },
  {
    name: 'sign-up-mismatch',
    path: '/sign_up',
    prepare: async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace')
      await page.getByLabel('Password', { exact: true }).fill('a good password')
      await page.getByLabel('Confirm Password', { exact: true }).fill('another one')
      await page.getByText('Passwords do not match.').waitFor()
    },
  },
  { name: 'sign-in', path: '/sign_in' },
  {
    name: 'sign-in-refused',
    path: '/sign_in',
    complains: REFUSED,
    prepare: async (page) => {
      await page.getByLabel('Email').fill('nobody@example.com')
      await page.getByLabel('Password', { exact: true }).fill('a wrong password')
      await submit(page, 'Sign In')
      await page.getByText('Invalid email or password.').waitFor()
    },
  },
  { name: 'confirm-email', path: '/confirm_email' },
  {
    name: 'confirm-email-expired',
    path: '/confirm_email?confirmation_token=expired',
    complains: REFUSED,
    prepare: (page) => page.locator('main .alert-danger').first().waitFor(),
  },
  { name: 'forgotten-password', path: '/forgot_password' },
  {
    name: 'reset-password',
    path: '/forgot_password',
    prepare: async (page) => {
      await page.getByLabel('Email').fill(SEED_EMAILS.pilot)
      await submit(page, 'Send link')
      await page.waitForURL('**/sign_in')
      const { origin } = new URL(page.url())
      const pattern = /\/reset_password\?reset_password_token=[\w-]+/
      const link = await waitFor(async () => (await mailedTo(origin, SEED_EMAILS.pilot, pattern))[0])
      await page.goto(origin + link)
    },
  },
  { name: 'status', path: '/status' },
  { name: 'reset-password-dead', path: '/reset_password?reset_password_token=x' },

  { name: 'dashboard-empty', path: '/dashboard', as: 'newcomer', prepare: live },
  {
    name: 'dashboard-menu',
    path: '/dashboard',
    as: 'newcomer',
    prepare: async (page) => {
      await live(page)
      await openMenu(page)
    },
  },
  {
    name: 'dashboard-no-capacity',
    path: '/dashboard',
    as: 'newcomer',
    complains: /503/,
    prepare: async (page, cast) => {
      await live(page)
      await cast.fillTheFleet(async () => {
        await submit(page, 'Start Server')
        await page.locator('main .alert-danger').first().waitFor()
      })
    },
  },
  {
    name: 'dashboard-starting',
    path: '/dashboard',
    as: 'starter',
    // The words depend on how long the start has taken by now.
    prepare: (page) => page.getByRole('heading', { name: 'Server starting' }).waitFor(),
  },
  {
    name: 'dashboard-running',
    path: '/dashboard',
    as: 'runner',
    prepare: async (page) => {
      await live(page)
      await page.getByRole('link', { name: /^Open simulator/ }).waitFor()
    },
  },
  {
    name: 'dashboard-stop',
    path: '/dashboard',
    as: 'runner',
    prepare: async (page) => {
      await live(page)
      await submit(page, 'Stop')
      await page.getByRole('dialog', { name: 'Stop this server?' }).waitFor()
    },
  },
  { name: 'stop-server', path: '/stop_server', as: 'runner' },
  {
    name: 'dashboard-offline',
    path: '/dashboard',
    as: 'runner',
    complains: /net::ERR_|WebSocket|Failed to load/,
    prepare: async (page) => {
      await live(page)
      await page.context().setOffline(true)
      await submit(page, 'Refresh')
      await page.locator('main .alert-danger').first().waitFor()
    },
  },
  { name: 'dashboard-customer', path: '/dashboard', as: 'customer', prepare: live },
  { name: 'dashboard-suspended', path: '/dashboard', as: 'debtor', prepare: live },
  { name: 'servers-empty', path: '/servers', as: 'newcomer' },
  { name: 'servers', path: '/servers', as: 'customer' },
  { name: 'server-running', path: '/servers', as: 'runner', prepare: (page) => openServer(page, /running/) },
  { name: 'server-ended', path: '/servers', as: 'customer', prepare: (page) => openServer(page, /stopped/) },
  {
    name: 'server-failed',
    path: '/servers?status=error',
    as: 'customer',
    prepare: (page) => openServer(page, /error/),
  },
  ...(['extend', 'stop'] as const).map((act) => ({
    name: `${act}-by-link`,
    path: '/',
    prepare: (page: Page, cast: Cast) => page.goto(new URL(cast.linkTo(act), page.url()).href),
  })),
  { name: 'extend-by-dead-link', path: '/servers/ses_none/extend?key=x', complains: /404/ },
  { name: 'stop-by-dead-link', path: '/servers/ses_none/stop?key=x', complains: /404/ },
  { name: 'settings-servers', path: '/settings/servers', as: 'customer', prepare: unfold },
  { name: 'settings-servers-locked', path: '/settings/servers', as: 'newcomer' },
  { name: 'subscriptions', path: '/subscriptions', as: 'customer' },
  { name: 'billing-history-empty', path: '/billing_history', as: 'newcomer' },
  { name: 'billing-history', path: '/billing_history', as: 'customer' },
  {
    name: 'billing-statement',
    path: '/billing_history',
    as: 'customer',
    prepare: async (page) => {
      await page.locator('main table a[href^="/billing_history/"]').first().click()
      await page.waitForURL('**/billing_history/*')
    },
  },
  { name: 'account-trial', path: '/account_overview', as: 'newcomer' },
  { name: 'account-customer', path: '/account_overview', as: 'customer' },
  { name: 'settings-billing-trial', path: '/settings/billing', as: 'newcomer' },
  { name: 'settings-billing', path: '/settings/billing', as: 'customer' },
  { name: 'settings-developers-empty', path: '/settings/developers', as: 'newcomer' },
  { name: 'settings-developers', path: '/settings/developers', as: 'customer', prepare: unfold },
  { name: 'account-security-off', path: '/account_security', as: 'newcomer' },
  { name: 'account-security', path: '/account_security', as: 'debtor' },
  { name: 'mails', path: '/mails', as: 'customer' },
  { name: 'activity', path: '/activity', as: 'customer' },
  { name: 'webhook', path: '/webhooks/whk_ci', as: 'customer' },
  { name: 'webhook-off', path: '/webhooks/whk_off', as: 'customer' },
  { name: 'activate', path: '/activate', as: 'customer' },
  {
    name: 'activate-code',
    path: '/activate',
    as: 'customer',
    prepare: async (page) => {
      const code = await page.evaluate(async () => {
        const body = new URLSearchParams({ client_id: 'proving-ground', device_name: 'ada-laptop' })
        const answer = await fetch('/oauth/device_authorization', { method: 'POST', body })
        return ((await answer.json()) as { user_code: string }).user_code
      })
      await page.getByLabel('Code').fill(code)
      await submit(page, 'Continue')
      await page.getByText('Does your terminal show this code?').waitFor()
    },
  },
  { name: 'devices', path: '/devices', as: 'customer' },
  { name: 'close-account', path: '/close_account', as: 'customer' },
  { name: 'notices-empty', path: '/notices', as: 'newcomer' },
  { name: 'notices', path: '/notices', as: 'customer' },
  {
    name: 'bell',
    path: '/dashboard',
    as: 'customer',
    prepare: async (page) => {
      await live(page)
      await page.getByRole('link', { name: /^Notices/ }).click()
      await page.getByRole('heading', { name: 'Notices' }).waitFor()
    },
  },
  {
    name: 'line',
    path: '/line',
    as: 'newcomer',
    prepare: (page, cast) => cast.fillTheFleet(async () => void (await page.reload())),
  },
  { name: 'line-free', path: '/line', as: 'newcomer' },
  { name: 'line-waiting', path: '/line', as: 'waiter' },
  { name: 'line-turn', path: '/line', as: 'called' },
  {
    name: 'second-factor',
    path: '/sign_in',
    complains: REFUSED,
    prepare: async (page, cast) => {
      await page.getByLabel('Email').fill(cast.buyerEmail)
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await submit(page, 'Sign In')
      await page.getByText('Your password is right.').waitFor()
    },
  },
  {
    name: 'mails-off',
    path: '/',
    prepare: (page, cast) => page.goto(new URL(cast.linkOff, page.url()).href),
  },
  {
    name: 'mails-off-done',
    path: '/',
    prepare: async (page, cast) => {
      await page.goto(new URL(cast.linkOff, page.url()).href)
      await submit(page, 'Turn them off')
      await page.locator('main .alert-success').waitFor()
    },
  },
  { name: 'mails-off-dead', path: '/mails/off?of=x&kind=y&key=z', complains: /404/ },
  ...FILE_SCREENS,
  ...(['Share', 'Connect your code'] as const).map((name) => ({
    name: name === 'Share' ? 'share' : 'connect',
    path: '/dashboard',
    as: 'runner' as const,
    prepare: async (page: Page) => {
      await live(page)
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('dialog').locator('h2').first().waitFor()
    },
  })),
  { name: 'change-plan', path: '/subscriptions/change?plan_type=premium', as: 'buyer' },
  { name: 'not-found-signed-in', path: '/no/such/page', as: 'customer', complains: /404/ },
  { name: 'console', path: '/console', as: 'admin' },
  { name: 'console-filtered', path: '/console?q=nothing-like-it', as: 'admin' },
  { name: 'console-messages', path: '/console/messages', as: 'admin' },
  { name: 'admin-people', path: '/admin/people', as: 'admin' },
  {
    name: 'admin-person',
    path: '/admin/people',
    as: 'admin',
    prepare: async (page, cast) => {
      await page.goto(`${page.url()}/${cast.userId('runner')}`)
      await page.getByText('Grant a plan…').click()
    },
  },
  {
    name: 'admin-run',
    path: '/admin/people',
    as: 'admin',
    prepare: async (page, cast) => {
      await page.goto(`${page.url()}/${cast.userId('runner')}`)
      await page.getByRole('rowheader').getByRole('link').first().click()
      await page.getByText('Force stop…').click()
    },
  },
  { name: 'admin-places', path: '/admin/places', as: 'admin' },
  { name: 'admin-environments', path: '/admin/environments', as: 'admin' },
  { name: 'admin-line', path: '/admin/line', as: 'admin' },
  {
    name: 'admin-group',
    path: '/admin/line',
    as: 'admin',
    // In two months, so it holds no place of another screen's.
    prepare: async (page) => {
      const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
      await page.getByText('Hold servers for a group…').click()
      await page.getByLabel('Name', { exact: true }).fill('Delft Drone Race')
      await page.getByLabel('Servers', { exact: true }).fill('5')
      await page.getByLabel(/^From/).fill(`${day(60)}T09:00`)
      await page.getByLabel(/^Until/).fill(`${day(61)}T17:00`)
      await page.getByLabel('People', { exact: true }).fill(`${SEED_EMAILS.pilot}\ngrace@example.com`)
      await page.getByLabel('Let people join with a code').check()
      await page.getByLabel('Reason').fill('A race in Delft')
      await page.getByLabel('Yes, I want this').check()
      await submit(page, 'Hold the servers')
      await page.getByRole('link', { name: 'Delft Drone Race' }).first().click()
      await page.getByText('Change or extend it…').click()
    },
  },
  { name: 'admin-drift', path: '/admin/drift', as: 'admin' },
  { name: 'admin-audit', path: '/admin/audit', as: 'admin' },
  { name: 'admin-confirm', path: '/admin/confirm', as: 'admin' },
]
