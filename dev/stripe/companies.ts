import type { Account } from './account.ts'
import { noSuch } from './failure.ts'
import type { Address, Customer, Invoice, TaxId } from './objects.ts'

const TAX_ID_TYPES: Record<string, string> = { US: 'us_ein', GB: 'gb_vat', CH: 'ch_vat', NO: 'no_vat', IN: 'in_gst' }

/** What a company enters on a hosted page: an empty field keeps what is there. */
export type CompanyFields = Partial<
  Record<'name' | 'line1' | 'line2' | 'city' | 'state' | 'postal_code' | 'country' | 'tax_id', string>
>

export function setCompany(account: Account, id: string, { name, tax_id: value, ...given }: CompanyFields): Customer {
  const customer = account.store.get<Customer>('customers', id)
  if (!customer) throw noSuch('customer', id)
  const none: Address = { line1: null, line2: null, city: null, state: null, postal_code: null, country: null }
  const entered = Object.entries(given).filter(([, text]) => text)
  const before = customer.address ?? null
  const address = entered.length ? { ...none, ...before, ...Object.fromEntries(entered) } : before
  const changed = { ...customer, name: name || customer.name, address }
  account.store.put('customers', id, changed)
  account.announce('customer.updated', changed)
  if (value && !taxIdsOf(account, id).some((one) => one.value === value)) {
    const country = address?.country ?? null
    const type = TAX_ID_TYPES[country ?? ''] ?? 'eu_vat'
    const created = account.now()
    const taxId: TaxId = {
      id: account.newId('txi'),
      object: 'tax_id',
      created,
      livemode: false,
      customer: id,
      country,
      type,
      value,
    }
    account.store.put('tax_ids', taxId.id, taxId)
    account.announce('customer.tax_id.created', taxId)
  }
  return changed
}

function taxIdsOf({ store }: Account, customer: string): TaxId[] {
  return store.all<TaxId>('tax_ids').filter((one) => one.customer === customer)
}

/** The customer as an invoice shows them. A draft follows changes until it's finalized. */
export function companyOf(account: Account, owner: Customer) {
  return {
    customer_name: owner.name,
    customer_address: owner.address ?? null,
    customer_tax_ids: taxIdsOf(account, owner.id).map(({ type, value }) => ({ type, value })),
  }
}

/** An invoice's lines about its customer. */
export function companyOnInvoice({ customer_name, customer_address, customer_tax_ids }: Partial<Invoice>): string[] {
  const { line1, line2, city, state, postal_code, country } = customer_address ?? {}
  const taxIds = (customer_tax_ids ?? []).map(({ value }) => `Tax ID ${value}`)
  const lines = [customer_name, line1, line2, [city, state, postal_code].filter(Boolean).join(' '), country, ...taxIds]
  return lines.flatMap((line) => line || [])
}
