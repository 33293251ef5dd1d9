import type { Page } from 'playwright-core'
import { openDatabase } from '../../../db/client.ts'
import { answer, cut, press, type Scene, type Word, walk } from '../../../testing/browser/words.ts'

/** Account, subscriptions, billing history, console. One row per text of the specification that a browser decides. */

const account = async (page: Page, go: (path: string) => Promise<unknown>) => {
  await go('/account_overview')
  await page.getByText('Change password (optional)').click()
  await page.getByRole('button', { name: 'Show current password' }).waitFor()
}

/** Fills in the profile and saves it. */
const saved = (at: string, name: string, words: Word[]): Scene => ({
  at: `profile, ${at}`,
  as: 'newcomer',
  open: async (page, { go }) => {
    await account(page, go)
    await page.getByLabel('Name', { exact: true }).fill(name)
    await press(page, 'Save changes')
  },
  words,
})

/** Only the fields of the specification. */
const INSTANCE = {
  instance_id: 'i-1',
  name: 'one',
  instance_type: 'g6.4xlarge',
  state: 'running',
  status_check: 'ok',
  private_ip: '10.0.0.1',
  public_ip: null,
  launch_time: '2026-01-01T00:00:00Z',
}

/** The console after a fresh read of its list. */
const fleet = (at: string, act: (page: Page) => Promise<unknown>, words: Word[]): Scene => ({
  at: `console, ${at}`,
  as: 'admin',
  open: async (page, { go }) => {
    await go('/console')
    await page.waitForLoadState('networkidle')
    await act(page)
    await press(page, 'Refresh')
  },
  words,
})

const STATES: [state: string, color: string][] = [
  ['running', 'green'],
  ['stopped', 'gray'],
  ['terminated', 'gray'],
  ['stopping', 'yellow'],
  ['pending', 'yellow'],
  ['shutting-down', 'yellow'],
  ['rebooting', 'dark'],
]
const HEALTH: [status: string, color: string][] = [
  ['ok', 'green'],
  ['impaired', 'red'],
  ['insufficient-data', 'yellow'],
  ['initializing', 'gray'],
]
const ofEach = [
  ...STATES.map(([state]) => ({ ...INSTANCE, instance_id: `i-${state}`, state })),
  ...HEALTH.map(([status_check]) => ({ ...INSTANCE, instance_id: `i-${status_check}`, status_check })),
]

const SCENES: Scene[] = [
  {
    at: 'account of a trial',
    as: 'newcomer',
    open: (page, { go }) => account(page, go),
    words: [
      [2, 'title', 'Account'],
      [2, 'region', 'Profile'],
      [2, 'label', 'Name'],
      [2, 'label', 'Email', { readOnly: true }],
      [5, 'label', 'Current password'],
      [5, 'label', 'New password'],
      [5, 'label', 'Confirm new password'],
      [2, 'text', 'Change password (optional)'],
      [2, 'region', 'Feedback'],
      [5, 'button', 'Send feedback', { disabled: true }],
      [2, 'region', 'Subscription'],
      [4, 'text', 'trialing', { color: 'green' }],
      [2, 'region', 'Billing'],
      [2, 'term', 'Current Balance'],
      [2, 'text', 'Paid', { color: 'green' }],
      [2, 'text', 'Cloud Time (This cycle)'],
      [2, 'text', '0.00 / 0.5 hours', { note: 'hours used / plan hours' }],
      [2, 'link', 'Billing History', { href: /^\/billing_history$/ }],
    ],
  },
  saved('without a name', ' ', [[5, 'message', 'Please enter your name.', { note: 'required; no words given' }]]),
  saved('saved', 'Ada', [[8, 'message', 'Profile updated successfully!']]),
  {
    at: 'feedback, blanks only',
    as: 'newcomer',
    open: async (page, { go }) => {
      await account(page, go)
      await page.getByLabel('What could we do better?').fill('  ')
    },
    words: [[5, 'button', 'Send feedback', { disabled: true }]],
  },
  {
    at: 'feedback, sent',
    as: 'newcomer',
    open: async (page, { go }) => {
      await page.clock.install()
      await account(page, go)
      await page.getByLabel('What could we do better?').fill('More wind.')
      await press(page, 'Send feedback')
      await page.clock.runFor(450)
    },
    words: [[8, 'message', 'Thanks! We received your feedback.', { note: 'after 450 ms' }]],
  },
  {
    at: 'account of a customer',
    as: 'customer',
    open: (page, { go }) => account(page, go),
    words: [
      [4, 'text', 'active', { color: 'green' }],
      [2, 'text', '/ 1 hours'],
      [2, 'text', 'Due', { color: 'yellow' }],
    ],
  },
  {
    at: 'account, a subscription that cannot be canceled',
    as: 'customer',
    open: async (page, { go }) => {
      await account(page, go)
      await page.getByText('Cancel subscription').click()
      await press(page, 'Cancel at period end')
    },
    words: [[8, 'message', 'Failed to cancel subscription']],
  },
  {
    at: 'account, a subscription canceled',
    as: 'debtor',
    open: async (page, { go }) => {
      await account(page, go)
      await page.getByText('Cancel subscription').click()
      await press(page, 'Cancel at period end')
    },
    words: [[4, 'message', 'Your subscription has been cancelled and will not renew.']],
  },
  {
    at: 'account without a plan',
    as: 'starter',
    open: (page, { go }) => account(page, go),
    words: [[4, 'text', 'No Plan', { color: 'gray' }]],
  },

  {
    at: 'subscriptions',
    as: 'newcomer',
    open: (_, { go }) => go('/subscriptions'),
    words: [
      [2, 'title', 'Subscriptions'],
      [2, 'region', 'Basic'],
      [2, 'region', 'Premium'],
      [2, 'text', 'Most Popular'],
      [2, 'region', 'Enterprise'],
      [2, 'button', 'Coming Soon!', { disabled: true, count: 2 }],
      [2, 'link', 'Contact sales', { href: /^\/contact_sales$/ }],
      [9, 'text', '$25'],
      [9, 'text', '$250'],
    ],
  },

  {
    at: 'billing history',
    as: 'customer',
    open: (_, { go }) => go('/billing_history'),
    words: [
      [2, 'title', 'Billing History'],
      [2, 'label', 'Month'],
      [2, 'option', 'All'],
      ...['Start Date', 'End Date', 'Amount Owed', 'Seconds Used', 'Paid', 'Overdue', 'Transaction ID'].map(
        (column): Word => [2, 'columnheader', column],
      ),
      [2, 'cell', 'Paid', { note: 'the tick' }],
      [2, 'cell', '—', { note: 'the dash of a bill that is not overdue' }],
    ],
  },
  {
    at: 'billing history, an overdue bill',
    as: 'debtor',
    open: (_, { go }) => go('/billing_history'),
    words: [
      [2, 'cell', 'Not paid', { note: 'the cross' }],
      [2, 'cell', 'Overdue', { note: 'the warning' }],
    ],
  },
  {
    at: 'billing history of one month',
    as: 'customer',
    open: async (page, { go }) => {
      await go('/billing_history')
      await page.getByLabel('Month', { exact: true }).selectOption({ index: 1 })
      await press(page, 'Show')
      await page.waitForURL('**month=*')
    },
    words: [
      [2, 'rowheader', 'Total', { note: "the month's total" }],
      [2, 'text', `Bills that start in ${new Date().getUTCFullYear()}-`],
    ],
  },
  {
    at: 'billing history of a new person',
    as: 'newcomer',
    open: (_, { go }) => go('/billing_history'),
    words: [[2, 'text', 'No billing records']],
  },

  {
    at: 'console',
    as: 'admin',
    open: (_, { go }) => go('/console'),
    words: [
      [2, 'title', 'Console'],
      ...['Name', 'Instance ID', 'Type', 'State', 'Status', 'Private IP', 'Public IP', 'Launch Time', 'Uptime'].map(
        (column): Word => [2, 'columnheader', column],
      ),
      [2, 'button', 'Refresh'],
      [2, 'message', 'Updated '],
    ],
  },
  fleet('no instances', (page) => answer(page, '/api/v1/instances', 200, []), [[2, 'text', 'No instances found.']]),
  fleet(
    'an instance of each state',
    (page) => answer(page, '/api/v1/instances', 200, ofEach),
    [...STATES, ...HEALTH].map(([text, color]): Word => [4, 'text', text, { color }]),
  ),
  fleet('refused', (page) => answer(page, '/api/v1/instances', 503, { error: 'The cloud is away.' }), [
    [8, 'message', 'Error: HTTP 503'],
  ]),
  fleet('no network', (page) => cut(page, '/api/v1/instances'), [[8, 'message', 'Error: Failed to load']]),
  {
    at: 'console, refreshed after 60 s',
    as: 'admin',
    open: async (page, { go }) => {
      await page.clock.install()
      await go('/console')
      await page.waitForLoadState('networkidle')
      await answer(page, '/api/v1/instances', 200, [])
      await page.clock.runFor(60_000)
    },
    words: [[9, 'text', 'No instances found.']],
  },
]

walk(SCENES, async (databaseUrl, userId) => {
  const db = openDatabase(databaseUrl)
  await db.run(`UPDATE subscriptions SET hours = 1 WHERE user_id = '${userId('customer')}'`)
  await db.run(`DELETE FROM subscriptions WHERE user_id = '${userId('starter')}'`)
  await db.run(
    `CREATE TRIGGER keep_it BEFORE UPDATE ON subscriptions WHEN NEW.user_id = '${userId('customer')}' BEGIN SELECT RAISE(ABORT, 'no'); END`,
  )
})
