import type { Account } from './account.ts'
import type { Invoice } from './objects.ts'

/** Announces each overdue invoice once. It stays `open`: Stripe has no overdue status. */
export function announceOverdue(account: Account): void {
  for (const invoice of account.store.all<Invoice>('invoices')) {
    if (invoice.status !== 'open' || invoice.due_date === null || invoice.due_date > account.now()) continue
    if (account.store.get('overdue', invoice.id)) continue
    account.store.put('overdue', invoice.id, { announced: account.now() })
    account.announce('invoice.overdue', invoice, invoice.due_date)
  }
}
