import type Stripe from 'stripe'
import type { Payments } from '../ports/payments.ts'
import type { Ask } from './stripe-changes.ts'
import { orNull } from './stripe-errors.ts'
import { methodName } from './stripe-objects.ts'

/** The calls about what pays a customer's invoices. */
export function cards(ask: Ask): Pick<Payments, 'findMethod' | 'adoptCard'> {
  return {
    findMethod: async (id, at) => {
      const expand = ['invoice_settings.default_payment_method']
      const customer = await orNull(() => ask((s) => s.customers.retrieve(id, { expand })))
      if (customer === null || customer.deleted) return null
      const method = customer.invoice_settings.default_payment_method
      return isUsable(method, id, at) ? methodName(method.type) : null
    },

    adoptCard: async ({ customerId, subscriptionId }, at) => {
      const expand = ['default_payment_method']
      const plan = await orNull(() => ask((s) => s.subscriptions.retrieve(subscriptionId, { expand })))
      const method = plan?.default_payment_method ?? null
      if (!isUsable(method, customerId, at)) return null
      const change = { invoice_settings: { default_payment_method: method.id } }
      // Someone may have removed the card in the meantime.
      const changed = await orNull(() => ask((s) => s.customers.update(customerId, change)))
      return changed && methodName(method.type)
    },
  }
}

/** A payment method that its owner removed belongs to nobody, and an expired card would fail. */
function isUsable(
  method: string | Stripe.PaymentMethod | null,
  customerId: string,
  at: number,
): method is Stripe.PaymentMethod {
  if (method === null || typeof method === 'string') return false
  const owner = typeof method.customer === 'string' ? method.customer : method.customer?.id
  const { card } = method
  return owner === customerId && (!card || Date.UTC(card.exp_year, card.exp_month) > at)
}
