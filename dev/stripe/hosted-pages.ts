import type { Asked, Outcome } from '../stand-in/server.ts'
import type { Account } from './account.ts'
import { type Card, DEBITS } from './cards.ts'
import { getCheckout, payCheckout } from './checkout.ts'
import { beginDebit, isOnItsWay } from './collecting.ts'
import { companyOf, companyOnInvoice, setCompany } from './companies.ts'
import { Failure, noSuch } from './failure.ts'
import { getInvoice, isPayable } from './invoices.ts'
import type { CheckoutSession, Customer, CustomField, Invoice, InvoiceItem, Price, Product } from './objects.ts'
import { page, text } from './page.ts'
import { payInvoice } from './plan-invoices.ts'
import { getPortal, isCardDeclined, listReceipts, replaceCard } from './portal.ts'

/** Serves the pages Stripe hosts: checkout, invoice, and the customer portal. */
export function answerHosted(account: Account, { method, url, body }: Asked): Outcome {
  const checkout = url.pathname.match(/^\/c\/pay\/(\w+)$/)?.[1]
  const invoice = url.pathname.match(/^\/i\/(\w+)(?:\/pdf)?$/)?.[1]
  const portal = url.pathname.match(/^\/p\/session\/(\w+)$/)?.[1]
  const pressed = method === 'POST'
  try {
    if (checkout) return pressed ? pressPayCheckout(account, checkout, body) : showCheckout(account, checkout)
    if (invoice) return pressed ? pressPayInvoice(account, invoice, body) : showInvoice(account, invoice)
    if (portal) return pressed ? pressInPortal(account, portal, body) : showPortal(account, portal)
    return { status: 404, headers: { 'content-type': 'text/plain' }, body: 'Not found' }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return shown('Not available', `<h1>Not available</h1><p>${text(error.message)}</p>`, error.status)
  }
}

/** Updates stored page URLs after the server changes ports. */
export function moveHostedPages({ store, apiBase }: Account, from: string): void {
  const moved = (url: string | null) => url?.replace(from, apiBase) ?? null
  for (const invoice of store.all<Invoice>('invoices'))
    store.put('invoices', invoice.id, {
      ...invoice,
      hosted_invoice_url: moved(invoice.hosted_invoice_url),
      invoice_pdf: moved(invoice.invoice_pdf),
    })
  for (const session of store.all<CheckoutSession>('checkout_sessions'))
    store.put('checkout_sessions', session.id, { ...session, url: moved(session.url) })
}

const shown = (title: string, body: string, status = 200): Outcome => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: page(title, body),
})

const seeOther = (location: string): Outcome => ({ status: 303, headers: { location }, body: '' })

const CARDS: Card[] = ['declined_later', 'bank_asks', 'bank_debit', 'bank_debit_returned']
const cardIn = (pressed: string | null | undefined): Card => CARDS.find((one) => one === pressed) ?? 'good'

function pressPayCheckout(account: Account, id: string, body: string): Outcome {
  const { card: pressed, ...answers } = Object.fromEntries(new URLSearchParams(body))
  const session = payCheckout(account, id, cardIn(pressed), answers, answers)
  return seeOther(session.success_url.replaceAll('{CHECKOUT_SESSION_ID}', session.id))
}

function pressPayInvoice(account: Account, id: string, body: string): Outcome {
  const invoice = getInvoice(account, id)
  const debit = DEBITS[cardIn(new URLSearchParams(body).get('card'))]
  const isFree = isPayable(invoice) && !isOnItsWay(account, id)
  if (isFree && debit) beginDebit(account, invoice, debit, account.now())
  else if (isFree) payInvoice(account, id)
  return seeOther(`/i/${id}`)
}

function pressInPortal(account: Account, id: string, body: string): Outcome {
  const { customer } = getPortal(account, id)
  const { about, ...fields } = Object.fromEntries(new URLSearchParams(body))
  if (about === 'company') setCompany(account, customer, fields)
  else replaceCard(account, customer)
  return seeOther(`/p/session/${id}`)
}

function showPortal(account: Account, id: string): Outcome {
  const { customer, return_url } = getPortal(account, id)
  const owner = account.store.get<Customer>('customers', customer)
  if (!owner) throw noSuch('customer', customer)
  const email = owner.email ?? ''
  const rows = listReceipts(account, customer).map(
    (invoice) => `<tr><td><a href="/i/${invoice.id}">${text(invoice.number ?? invoice.id)}</a></td>
      <td>${new Date(invoice.created * 1000).toISOString().slice(0, 10)}</td>
      <td>${stateOf(account, invoice)}</td><td class="number">${dollars(invoice.total)}</td></tr>`,
  )
  const card = isCardDeclined(account, customer) ? 'Test card, declined at renewals' : 'Test card, accepted'
  return shown(
    'Billing',
    `<p class="eyebrow">${text(email)}</p><h1>Billing</h1>
       <h2>Payment method</h2><p>${card}</p>
       <form method="post"><button class="quiet">Replace with a card that works</button></form>
       <h2>Billing information</h2><p>${companyOnInvoice(companyOf(account, owner)).map(text).join('<br>') || 'None yet.'}</p>
       <form method="post"><input type="hidden" name="about" value="company">${COMPANY}
         <button class="quiet">Save billing information</button></form>
       <h2>Invoices and receipts</h2>
       ${rows.length ? `<table>${rows.join('')}</table>` : '<p>None yet.</p>'}
       ${return_url ? `<a class="button quiet" href="${text(return_url)}">Return to Proving Ground</a>` : ''}`,
  )
}

function stateOf(account: Account, { status, due_date }: Invoice): string {
  if (status === 'open' && due_date !== null && due_date <= account.now()) return 'Overdue'
  return { draft: 'Draft', open: 'Open', paid: 'Paid', void: 'Void', uncollectible: 'Open' }[status]
}

function showCheckout(account: Account, id: string): Outcome {
  const session = getCheckout(account, id)
  const price = account.store.get<Price>('prices', session.price) as Price
  const product = account.store.get<Product>('products', price.product)
  const email = account.store.get<Customer>('customers', session.customer)?.email ?? ''
  const back = session.cancel_url ? `<a class="button quiet" href="${text(session.cancel_url)}">Back</a>` : ''
  const body =
    session.status === 'open'
      ? `<form method="post">${(session.custom_fields ?? []).map(showField).join('')}
         ${session.tax_id_collection?.enabled ? `<details><summary>I’m purchasing as a business</summary>${COMPANY}</details>` : ''}
         <button>Pay ${dollars(price.unit_amount)}</button>
         <button class="quiet" name="card" value="declined_later">Pay, declined at renewals</button>
         <button class="quiet" name="card" value="bank_asks">Pay, bank asks at upgrades</button></form>${back}
         <p class="small">Test mode: we don’t ask for a card, and no money moves.</p>`
      : `<p class="badge">${session.status === 'complete' ? 'Paid' : 'Expired'}</p>${
          session.status === 'complete' ? `<a class="button" href="${text(session.success_url)}">Continue</a>` : back
        }`
  return shown(
    'Checkout',
    `<p class="eyebrow">Subscribe to</p><h1>${text(product?.name ?? 'Plan')}</h1>
       <p class="amount">${dollars(price.unit_amount)} <span>per month</span></p>
       <dl><dt>Account</dt><dd>${text(email)}</dd></dl>${body}`,
  )
}

const COMPANY = Object.entries({
  name: 'Business name',
  line1: 'Address',
  city: 'City',
  state: 'State',
  postal_code: 'Postal code',
  country: 'Country (two letters)',
  tax_id: 'Tax ID',
})
  .map(([name, label]) => `<label>${label}<input name="${name}" maxlength="100"></label>`)
  .join('')

function showField({ key, label, optional, dropdown }: CustomField): string {
  const options = dropdown.options.map((one) => `<option value="${text(one.value)}">${text(one.label)}</option>`)
  return `<label for="${text(key)}">${text(label.custom)}${optional ? ' (optional)' : ''}</label>
    <select id="${text(key)}" name="${text(key)}"${optional ? '' : ' required'}><option value="">Select</option>${options.join('')}</select>`
}

function showInvoice(account: Account, id: string): Outcome {
  const invoice = getInvoice(account, id)
  const items = [
    ...invoice.lines.data,
    ...account.store.all<InvoiceItem>('invoiceitems').filter((item) => item.invoice === id),
  ]
  const rows = items.map(
    (item) => `<tr><td>${text(item.description ?? 'Item')}</td><td class="number">${dollars(item.amount)}</td></tr>`,
  )
  const state = stateOf(account, invoice)
  return shown(
    `Invoice ${invoice.number ?? ''}`,
    `<p class="eyebrow">Invoice ${text(invoice.number ?? 'draft')}</p>
       <p class="amount">${dollars(invoice.total)} <span class="badge ${state.toLowerCase()}">${state}</span></p>
       <dl><dt>To</dt><dd>${[...companyOnInvoice(invoice), invoice.customer_email ?? ''].map(text).join('<br>')}</dd>
       ${invoice.due_date ? `<dt>Due</dt><dd>${new Date(invoice.due_date * 1000).toISOString().slice(0, 10)}</dd>` : ''}</dl>
       <table>${rows.join('')}<tr class="total"><th>Total</th><th class="number">${dollars(invoice.total)}</th></tr>
       ${invoice.amount_due < invoice.total ? `<tr><td>Credit</td><td class="number">${dollars(invoice.amount_due - invoice.total)}</td></tr>` : ''}</table>
       ${
         isOnItsWay(account, id)
           ? '<p>Your payment is on its way. It takes up to four days.</p>'
           : isPayable(invoice)
             ? `<form method="post"><button>Pay ${dollars(invoice.amount_remaining)}</button>
       <button class="quiet" name="card" value="bank_debit">Pay from a bank account, in four days</button></form>
       <p class="small">Test mode: we don’t ask for a card, and no money moves.</p>`
             : ''
       }`,
  )
}

function dollars(cents: number): string {
  return new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(cents / 100)
}
