import type { BillingView } from '../../domain/views.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { FlashAlert, type FlashMessage } from '../../ui/FlashAlert.tsx'
import { ChargeUsage } from '../billing/ChargeUsage.tsx'
import { OpenInvoices } from '../billing/OpenInvoices.tsx'
import { PortalForm } from '../billing/PortalForm.tsx'
import { SubscriptionCard } from '../billing/SubscriptionCard.tsx'
import { BudgetCard } from './BudgetCard.tsx'
import { flashAbout, SettingsPage } from './SettingsPage.tsx'

type BillingProps = { billing: BillingView; csrfToken: string; flash: FlashMessage | null }

export function Billing({ billing, csrfToken, flash }: BillingProps) {
  const { summary, budget, openInvoices, hasPortal, charging, until } = billing
  const about = (id: string) => ({ csrfToken, flash: flashAbout(flash, id) })
  return (
    <SettingsPage here="/settings/billing" title="Billing" flash={flash?.values?.about ? null : flash}>
      <SubscriptionCard subscription={summary.subscription} {...about('plan')} />
      <BudgetCard
        budget={budget}
        chargedDollars={summary.monthlyUsage.amountOwedDollars}
        until={until}
        {...about('budget')}
      />
      <Card title="Payments and receipts" id="payments" className="stack">
        <FlashAlert flash={flashAbout(flash, 'billing')} />
        <OpenInvoices bills={openInvoices} />
        {hasPortal ? (
          <ChargeUsage charging={charging} csrfToken={csrfToken} />
        ) : (
          <p className="hint">Your first payment adds your card, your company's name, and its tax ID here.</p>
        )}
        <div className="row">
          <ButtonLink href="/billing_history">Billing History</ButtonLink>
          {hasPortal ? <PortalForm csrfToken={csrfToken} /> : null}
        </div>
        {hasPortal ? (
          <p className="hint">
            To have your company, its address, and its tax ID on your next invoices, enter them under Payment method and
            receipts.
          </p>
        ) : null}
      </Card>
    </SettingsPage>
  )
}
