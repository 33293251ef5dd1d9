import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { users } from '../../db/schema/accounts.ts'
import { accountApp, accountContext } from './account-app.ts'
import { openAppBrowser } from './app-browser.ts'

/** The app in its own context, with a browser on it. */
export function openAccount() {
  const account = accountContext()
  const app = accountApp(account.ctx)
  return { ...account, account, app, browser: openAppBrowser(app) }
}

export const PASSWORD = 'correct horse 9'

export function newAddress(): string {
  return `${randomUUID()}@example.com`
}

export const signUpFields = (email: string) => ({
  name: 'Ada Pilot',
  email,
  password: PASSWORD,
  password_confirmation: PASSWORD,
  terms_of_service: true,
})

type Setup = ReturnType<typeof accountContext>
type Browser = ReturnType<typeof openAppBrowser>

/** Signs up over the wire; returns the token of the mailed link. */
export async function signUpIn(browser: Browser, { sent, settle }: Setup, email: string): Promise<string> {
  await browser.json('POST', '/users', { user: signUpFields(email) })
  await settle()
  const mail = sent.findLast((m) => m.to === email)
  return /confirmation_token=([\w-]+)/.exec(mail?.text ?? '')?.[1] ?? ''
}

/** A new user of your own: signed up, confirmed, and signed in, all over the wire. */
export async function signedInUser(browser: Browser, setup: Setup): Promise<{ email: string; id: string }> {
  const email = newAddress()
  const link = await signUpIn(browser, setup, email)
  await browser.request(`/users/confirmation?confirmation_token=${link}`)
  await browser.open('/sign_in')
  await browser.json('POST', '/users/sign_in', { user: { email, password: PASSWORD } })
  const [row] = await setup.ctx.db.select({ id: users.id }).from(users).where(eq(users.email, email))
  return { email, id: row?.id ?? '' }
}
