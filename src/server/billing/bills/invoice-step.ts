import type { billingRecords, invoices } from '../../../../db/schema.ts'
import type { InvoiceStep } from '../../../domain/money/invoice.ts'
import type { Context } from '../../context.ts'

export type InvoiceRow = typeof invoices.$inferSelect
export type BillingRecordRow = typeof billingRecords.$inferSelect

/** One call to Stripe on an invoice's way, safe to repeat. What it brought, and which step is next. */
export type StepCall = (ctx: Context, invoice: InvoiceRow, record: BillingRecordRow) => Promise<Done>
export type Done = { step: InvoiceStep; stripeInvoiceId?: string }
