/** The screens between which plain HTML forms move: where each is, and where it leads once accepted. Keyed like ACCESS. */
const SCREENS: Record<string, { form: string; done: string }> = {
  'POST /users': { form: '/sign_up', done: '/sign_in' },
  'PUT /users': { form: '/account_overview', done: '/account_overview' },
  'DELETE /users': { form: '/close_account', done: '/sign_in' },
  'GET /users/confirmation': { form: '/confirm_email', done: '/sign_in' },
  'POST /users/confirmation': { form: '/confirm_email', done: '/sign_in' },
  'POST /users/sign_in': { form: '/sign_in', done: '/dashboard' },
  'DELETE /users/sign_out': { form: '/dashboard', done: '/sign_in' },
  'POST /users/password': { form: '/forgot_password', done: '/sign_in' },
  'PUT /users/password': { form: '/reset_password', done: '/sign_in' },
  'DELETE /api/v1/users/sign_ins': { form: '/devices', done: '/sign_in' },
  'DELETE /api/v1/users/sign_ins/:id': { form: '/devices', done: '/devices' },
  'POST /api/v1/contact_sales': { form: '/contact_sales', done: '/contact_sales' },
  'POST /api/v1/subscriptions/cancel_subscription_at_period_end': {
    form: '/account_overview',
    done: '/account_overview',
  },
  'POST /api/v1/subscriptions/create_checkout_session': { form: '/subscriptions', done: '/account_overview' },
}

export function formScreens(route: string): { form: string; done: string } {
  return SCREENS[route] ?? { form: '/dashboard', done: '/dashboard' }
}
