import type { Page } from 'playwright-core'
import { stopClock, untilHydrated } from '../../../testing/browser/e2e.ts'
import { answer, hold, press, type Scene, walk } from '../../../testing/browser/words.ts'

/** Sign-up, sign-in, and confirming an address. One row per text of the specification that a browser decides. */

/** Waits until the form's island is hydrated. */
const awake = (page: Page) => page.getByRole('button', { name: 'Show password' }).waitFor()

async function fillSignUp(page: Page, { name = 'Ada', again = 'a good password', terms = true, scripts = true } = {}) {
  if (scripts) await awake(page)
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('Email').fill(`${crypto.randomUUID()}@example.com`)
  await page.getByLabel('Password', { exact: true }).fill('a good password')
  await page.getByLabel('Confirm Password', { exact: true }).fill(again)
  if (terms) await page.getByRole('checkbox').check()
}

async function signIn(page: Page, go: (path: string) => Promise<unknown>): Promise<void> {
  await go('/sign_in')
  await awake(page)
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password', { exact: true }).fill('a wrong password')
  await press(page, 'Sign In')
}

async function resend(page: Page): Promise<void> {
  await page.getByLabel('Email').fill('ada@example.com')
  await press(page, 'Resend confirmation email')
}

const SCENES: Scene[] = [
  {
    at: 'sign up',
    open: async (page, { go }) => {
      await go('/sign_up')
      await awake(page)
    },
    words: [
      [2, 'title', 'Sign Up'],
      [2, 'label', 'Name'],
      [2, 'label', 'Email'],
      [2, 'label', 'Password'],
      [2, 'label', 'Confirm Password'],
      [2, 'checkbox', 'I accept the Terms of Service'],
      [2, 'link', 'Terms of Service', { href: /^\/terms_of_service$/ }],
      [9, 'text', 'At least 6 characters.'],
      [5, 'button', 'Sign Up', { disabled: true }],
    ],
  },
  {
    at: 'sign up, passwords match, terms open',
    open: async (page, { go }) => {
      await go('/sign_up')
      await fillSignUp(page, { terms: false })
    },
    words: [
      [2, 'message', 'Passwords match.'],
      [2, 'button', 'Sign Up', { disabled: true }],
    ],
  },
  {
    at: 'sign up, passwords differ, terms accepted',
    open: async (page, { go }) => {
      await go('/sign_up')
      await fillSignUp(page, { again: 'another one' })
    },
    words: [
      [2, 'message', 'Passwords do not match.'],
      [2, 'button', 'Sign Up', { disabled: true }],
    ],
  },
  {
    at: 'sign up, everything but the name',
    open: async (page, { go }) => {
      await go('/sign_up')
      await fillSignUp(page, { name: '' })
      await press(page, 'Sign Up')
    },
    words: [
      [5, 'message', 'All fields are required.'],
      [8, 'button', 'Dismiss', { note: 'the banner can be dismissed' }],
      [5, 'button', 'Sign Up', { disabled: false }],
    ],
  },
  {
    at: 'sign up without scripts, passwords differ',
    withoutScripts: true,
    open: async (page, { go }) => {
      await go('/sign_up')
      await fillSignUp(page, { again: 'another one', scripts: false })
      await press(page, 'Sign Up')
    },
    words: [[5, 'message', 'Passwords do not match.', { note: 'otherwise Sign Up is disabled first' }]],
  },
  {
    at: 'sign up without scripts, terms open',
    withoutScripts: true,
    open: async (page, { go }) => {
      await go('/sign_up')
      await fillSignUp(page, { terms: false, scripts: false })
      await press(page, 'Sign Up')
    },
    words: [[5, 'message', 'You must accept the Terms of Service.', { note: 'otherwise Sign Up is disabled first' }]],
  },
  {
    at: 'sign up, done',
    open: async (page, { go }) => {
      await go('/sign_up')
      await fillSignUp(page)
      await press(page, 'Sign Up')
    },
    words: [
      [2, 'title', 'Sign In'],
      [2, 'message', 'Account created but you need to confirm you email!', { note: 'misspelled so in section 2' }],
      [2, 'button', 'Dismiss'],
    ],
  },

  {
    at: 'sign in',
    open: (_, { go }) => go('/sign_in'),
    words: [
      [2, 'title', 'Sign In'],
      [2, 'label', 'Email'],
      [2, 'label', 'Password'],
      [2, 'button', 'Sign In'],
    ],
  },
  {
    at: 'sign in, nothing filled in',
    open: async (page, { go }) => {
      await go('/sign_in')
      await awake(page)
      await press(page, 'Sign In')
    },
    words: [[5, 'message', 'Please enter your email and password.']],
  },
  {
    at: 'sign in, in progress',
    open: async (page, { go }) => {
      await hold(page, '/users/sign_in')
      await signIn(page, go)
    },
    words: [[2, 'button', 'Signing in...', { disabled: true }]],
  },
  {
    at: 'sign in, a wrong password',
    open: (page, { go }) => signIn(page, go),
    words: [[8, 'message', 'Invalid email or password.', { note: "the server's own" }]],
  },
  {
    at: 'sign in, our own script fails',
    open: async (page, { go }) => {
      await go('/sign_in')
      await awake(page)
      await page.getByLabel('Email').fill('ada@example.com')
      await page.getByLabel('Password', { exact: true }).fill('a password')
      await page.evaluate(() => {
        document.querySelector = () => {
          throw new Error('broken')
        }
      })
      await press(page, 'Sign In')
    },
    words: [[8, 'message', 'An unexpected error occurred during dispatch.']],
  },

  {
    at: 'confirming',
    open: async (page, { go }) => {
      await hold(page, '/users/confirmation?*')
      await go('/confirm_email?confirmation_token=x')
    },
    words: [[2, 'text', 'Confirming your email...']],
  },
  {
    at: 'confirmed',
    open: async (page, { go }) => {
      await stopClock(page)
      await answer(page, '/users/confirmation?*', 200, { message: 'ok' })
      await go('/confirm_email?confirmation_token=x')
      await page.getByText('Redirecting in').waitFor()
    },
    words: [
      [2, 'message', 'Your email address is confirmed.', { note: 'success; no words given' }],
      [9, 'message', 'in 10 seconds'],
      [2, 'link', 'Sign in now', { href: /^\/sign_in$/ }],
    ],
  },
  {
    at: 'an invalid link',
    open: (_, { go }) => go('/confirm_email?confirmation_token=x'),
    words: [
      [2, 'message', 'Invalid or expired confirmation link.'],
      [8, 'message', 'Invalid or expired confirmation link. You can request a new confirmation link below:'],
      [2, 'label', 'Email'],
      [2, 'button', 'Resend confirmation email'],
    ],
  },
  {
    at: 'no token at all',
    open: (_, { go }) => go('/confirm_email'),
    words: [[5, 'message', 'Invalid or expired confirmation link.']],
  },
  {
    at: 'resent',
    open: async (page, { go }) => {
      await answer(page, '/users/confirmation', 200, {})
      await stopClock(page)
      await go('/confirm_email')
      await untilHydrated(page)
      await resend(page)
    },
    words: [
      [7, 'message', 'Confirmation email sent. Please check your inbox.'],
      [9, 'message', 'in 5 seconds'],
    ],
  },
]

walk(SCENES)
