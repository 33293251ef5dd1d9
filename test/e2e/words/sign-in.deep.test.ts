import type { Page } from 'playwright-core'
import { stopClock, untilHydrated } from '../../../testing/browser/e2e.ts'
import { answer, cut, hold, press, type Scene, walk } from '../../../testing/browser/words.ts'

/** Sign-up, sign-in, and confirming an address. One row per text of the specification. */

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

/** Signs up; the server's answer is faked. */
const signUpAnswered = (at: string, status: number, json: unknown, words: Scene['words']): Scene => ({
  at: `sign up, ${at}`,
  open: async (page, { go }) => {
    await go('/sign_up')
    await answer(page, '/users', status, json)
    await fillSignUp(page)
    await press(page, 'Sign Up')
  },
  words,
})

async function signIn(page: Page, go: (path: string) => Promise<unknown>): Promise<void> {
  await go('/sign_in')
  await awake(page)
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password', { exact: true }).fill('a wrong password')
  await press(page, 'Sign In')
}

/** Signs in; the server's answer is faked. */
const signInAnswered = (at: string, status: number, json: unknown, words: Scene['words']): Scene => ({
  at: `sign in, ${at}`,
  open: async (page, { go }) => {
    await answer(page, '/users/sign_in', status, json)
    await signIn(page, go)
  },
  words,
})

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
  signUpAnswered('refused', 422, { errors: ['Email is taken', 'Name is odd'] }, [
    [8, 'message', 'Sign Up failed: Email is taken, Name is odd'],
  ]),
  signUpAnswered('refused without a list', 422, {}, [[8, 'message', 'Error! Please try again!']]),
  signUpAnswered('the server fails', 500, { errors: ['x'] }, [[7, 'message', 'Internal Server Error']]),
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
  signInAnswered('refused with an error', 403, { error: 'Not today.' }, [[8, 'message', 'Not today.']]),
  signInAnswered('refused with a message', 403, { message: 'Nor tomorrow.' }, [[7, 'message', 'Nor tomorrow.']]),
  signInAnswered('refused as 401 without a message', 401, {}, [[8, 'message', 'Invalid email or password.']]),
  signInAnswered('refused without a message', 403, {}, [[8, 'message', 'Sign in failed.']]),
  signInAnswered('the server fails without a message', 500, {}, [[8, 'message', 'Login failed']]),
  signInAnswered('an answer without a user', 200, {}, [[8, 'message', 'Unexpected response from server.']]),
  signInAnswered('no JSON', 502, undefined, [[8, 'message', 'HTTP 502 Bad Gateway', { note: 'status and its text' }]]),
  {
    at: 'sign in, no network',
    open: async (page, { go }) => {
      await cut(page, '/users/sign_in')
      await signIn(page, go)
    },
    words: [[8, 'message', 'Network error. Please check your connection.']],
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
    at: 'sign in, a corrupted session state',
    open: async (page, { go }) => {
      await page.route('**/sign_in', async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, body: (await response.text()).replace('{"user":null}', '{"user":7}') })
      })
      await go('/sign_in')
    },
    words: [
      [2, 'message', 'Something went wrong with your session.', { note: 'the state-error box' }],
      [2, 'button', 'Refresh Page'],
    ],
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
    at: 'confirmed, 10 s later',
    open: async (page, { go }) => {
      await stopClock(page)
      await answer(page, '/users/confirmation?*', 200, { message: 'ok' })
      await go('/confirm_email?confirmation_token=x')
      await page.getByText('Redirecting in').waitFor()
      for (let second = 0; second < 11; second++) await page.clock.runFor(1000)
    },
    words: [[9, 'title', 'Sign In']],
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
  {
    at: 'resent, with a server message',
    open: async (page, { go }) => {
      await answer(page, '/users/confirmation', 200, { message: 'On its way.' })
      await stopClock(page)
      await go('/confirm_email')
      await untilHydrated(page)
      await resend(page)
    },
    words: [[7, 'message', 'On its way.']],
  },
  {
    at: 'resent, 5 s later',
    open: async (page, { go }) => {
      await answer(page, '/users/confirmation', 200, {})
      await stopClock(page)
      await go('/confirm_email')
      await untilHydrated(page)
      await resend(page)
      await page.getByText('Confirmation email sent.').waitFor()
      for (let second = 0; second < 6; second++) await page.clock.runFor(1000)
    },
    words: [[9, 'title', 'Sign In']],
  },
  {
    at: 'not resent',
    open: async (page, { go }) => {
      await answer(page, '/users/confirmation', 500, {})
      await go('/confirm_email')
      await untilHydrated(page)
      await resend(page)
    },
    words: [[7, 'message', 'Unable to resend confirmation email. Please try again.']],
  },
]

walk(SCENES)
