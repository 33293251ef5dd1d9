import type { Page } from 'playwright-core'
import { openDatabase } from '../../../db/client.ts'
import { press, type Scene, type Word, walk } from '../../../testing/browser/words.ts'

/** What visitors read. One row per text of the specification. */

const toContact = { href: /^\/contact_sales$/ }

async function writeToSales(page: Page, form: Partial<Record<'Name' | 'Email' | 'source' | 'Message', string>>) {
  for (const label of ['Name', 'Email', 'Message'] as const)
    await page.getByLabel(label, { exact: true }).fill(form[label] ?? '')
  if (form.source) await page.getByRole('combobox').selectOption(form.source)
  await press(page, 'Send')
  await page.locator('main .alert').waitFor()
}

const GOOD = { Name: 'Ada', Email: 'ada@example.com', source: 'Other', Message: 'Forty vehicles.' }

const SCENES: Scene[] = [
  {
    at: 'the landing page, its menu open',
    open: async (page, { go }) => {
      await go('/')
      await press(page, 'Interested?')
    },
    words: [
      [1, 'text', 'Simulate. Deploy. Win.'],
      [2, 'button', 'Interested?'],
      [2, 'link', 'Sign Up', { href: /^\/sign_up$/ }],
      [2, 'link', 'Sign In', { href: /^\/sign_in$/ }],
      [2, 'link', 'Contact sales', toContact],
      [9, 'link', 'Start free', { href: /^\/sign_up$/, note: 'the trial, in the hero' }],
      [2, 'text', 'Sample leaderboard'],
      [2, 'link', 'See pricing', { href: /^\/pricing$/ }],
      [2, 'button', 'Play', { note: 'the video: a film of the product' }],
      [2, 'slider', 'Video time'],
      [2, 'heading', 'Simulation engine'],
      [2, 'heading', 'Cloud sessions'],
      [2, 'heading', 'Vehicle types'],
      [2, 'heading', 'Tools and SDKs'],
      [2, 'region', 'Same course, same wind, same clock', { note: 'the competition section' }],
      [2, 'text', 'Competition'],
      [2, 'text', 'Resources'],
      [2, 'heading', 'Documentation'],
      [2, 'heading', 'About'],
      [2, 'heading', 'Developer Pro'],
      [2, 'text', 'Coming soon'],
      [9, 'text', '1 × NVIDIA L4'],
      [9, 'text', 'port 5173'],
    ],
  },
  {
    at: 'pricing',
    open: (_, { go }) => go('/pricing'),
    words: [
      [2, 'title', 'Pricing'],
      ...['Basic', 'Premium', 'Enterprise'].flatMap((plan): Word[] => [
        [2, 'heading', plan],
        [2, 'link', `Contact sales about ${plan}`, { ...toContact, note: 'every button goes there' }],
        [9, 'columnheader', plan],
      ]),
      [2, 'text', 'Most Popular'],
      [9, 'cell', '$25/mo'],
      [9, 'cell', '5 h'],
      [9, 'cell', '16 CPU'],
      [9, 'cell', '64 GB RAM'],
      [9, 'cell', '1 NVIDIA L4'],
      [9, 'cell', 'Blocks, Neighborhood and Mountains'],
      [9, 'cell', '10 GB synthetic data'],
      [9, 'cell', 'Single UAV or UGV'],
      [9, 'cell', '$250/mo'],
      [9, 'cell', '30 h'],
      [9, 'cell', 'Up to 64 CPU'],
      [9, 'cell', '128 GB RAM'],
      [9, 'cell', '4 NVIDIA L4'],
      [9, 'cell', '10 environments plus Build Your Own'],
      [9, 'cell', 'Unlimited synthetic data'],
      [9, 'cell', 'Multi-vehicle'],
      [9, 'cell', 'Custom'],
      [9, 'text', 'Customizable physics'],
      [9, 'text', 'Customizable sensors'],
      [9, 'text', 'Early-access features'],
      [9, 'text', '$1.75/h = $0.0004861 per second'],
      [9, 'text', 'We invoice you at the end of each billing month.'],
      [9, 'text', 'Payment is due within 15 days; after that we may suspend your account.'],
      [1, 'text', 'in USD'],
    ],
  },
  {
    at: 'pricing, the slider at 20 hours',
    open: async (page, { go }) => {
      await go('/pricing')
      await page.locator('.slider.is-live').waitFor()
      await page.getByRole('slider', { name: 'Hours per month' }).fill('20')
    },
    words: [
      [9, 'text', '20 h'],
      [9, 'text', '$51.25', { note: '$25 + 15 h at $0.0004861 a second' }],
    ],
  },
  {
    at: 'terms of service',
    open: (_, { go }) => go('/terms_of_service'),
    words: [
      [2, 'title', 'Terms of Service'],
      [2, 'region', 'In plain language'],
      [2, 'heading', '1. Prices and billing', { note: 'the full terms' }],
      [9, 'text', 'The free trial is 30 minutes of server time'],
      [9, 'text', 'Basic 5, Premium 30'],
      [9, 'text', '$1.75 per hour'],
      [9, 'text', '$0.0004861'],
      [9, 'text', 'Payment is due within 15 days.'],
      [9, 'text', 'we may suspend your account'],
    ],
  },
  {
    at: 'an unknown path',
    open: (_, { go }) => go('/no/such/page'),
    words: [
      [2, 'title', 'Oops—page not found'],
      [8, 'heading', 'Oops—page not found'],
      [2, 'text', '/no/such/page'],
      [2, 'link', 'Go Back'],
      [2, 'link', 'Home', { href: /^\/$/ }],
      [2, 'link', 'Sign In', { href: /^\/sign_in$/ }],
    ],
  },
  {
    at: 'an unknown path, signed in',
    as: 'newcomer',
    open: (_, { go }) => go('/no/such/page'),
    words: [[2, 'link', 'Dashboard', { href: /^\/dashboard$/ }]],
  },
  {
    at: 'contact sales',
    open: async (page, { go }) => {
      await go('/contact_sales')
      await page.getByLabel('Message', { exact: true }).pressSequentially('Forty')
    },
    words: [
      [2, 'title', 'Contact sales'],
      [3, 'label', 'Name'],
      [3, 'label', 'Email'],
      [3, 'label', 'How did you hear about us?', { note: 'source' }],
      [3, 'label', 'Message'],
      ...['Google Search', 'Social Media', 'Referral', 'Event / Conference', 'Other'].map(
        (source): Word => [5, 'option', source],
      ),
      [5, 'text', '5/2000'],
    ],
  },
  {
    at: 'contact sales, sent empty',
    open: async (page, { go }) => {
      await go('/contact_sales')
      await writeToSales(page, {})
    },
    words: [
      [5, 'message', 'Name is required'],
      [5, 'message', 'Email is required'],
      [5, 'message', 'Please select an option'],
      [5, 'message', 'Message is required'],
      [8, 'message', 'Name is required, Email is required', { note: 'joined' }],
      [5, 'textbox', 'Name', { description: 'Name is required', note: 'also beside the field' }],
      [5, 'textbox', 'Email', { description: 'Email is required' }],
      [5, 'combobox', 'How did you hear about us?', { description: 'Please select an option' }],
      [5, 'textbox', 'Message', { description: 'Message is required 0/2000' }],
    ],
  },
  {
    at: 'contact sales, too long and no address',
    open: async (page, { go }) => {
      await go('/contact_sales')
      await writeToSales(page, { Name: 'x'.repeat(51), Email: 'ada', source: 'Other', Message: 'x'.repeat(2001) })
    },
    words: [
      [5, 'message', 'Name cannot exceed 50 characters'],
      [5, 'message', 'Please enter a valid email'],
      [5, 'message', 'Message cannot exceed 2000 characters'],
      [5, 'text', '2001/2000'],
    ],
  },
  {
    at: 'contact sales, sent',
    open: async (page, { go }) => {
      await go('/contact_sales')
      await writeToSales(page, GOOD)
    },
    words: [[8, 'message', "Thank you for contacting sales! We'll get back to you soon."]],
  },
  {
    at: 'contact sales, when it cannot be saved',
    open: async (page, { go }) => {
      await go('/contact_sales')
      await writeToSales(page, { ...GOOD, Name: 'Nobody' })
    },
    words: [[8, 'message', 'There was an error submitting the form. Please try again later.']],
  },
]

walk(SCENES, (databaseUrl) =>
  openDatabase(databaseUrl).run(
    `CREATE TRIGGER keep_none BEFORE INSERT ON contact_messages WHEN NEW.name = 'Nobody' BEGIN SELECT RAISE(ABORT, 'no'); END`,
  ),
)
