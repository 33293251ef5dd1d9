import { Fragment } from 'react'
import { instantText } from '../domain/instant.ts'
import { givenBack, type Statement } from '../domain/money/bill.ts'
import { hoursToSeconds } from '../domain/money/billing.ts'
import { dollars, fineDollars, seconds } from '../domain/money/money.ts'
import { OVERAGE_DOLLARS_PER_SECOND } from '../domain/money/plan.ts'
import { Badge } from '../ui/Badge.tsx'
import { ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { DataTable } from '../ui/DataTable.tsx'
import { DefinitionStats } from '../ui/DefinitionStats.tsx'
import { EmptyState } from '../ui/States.tsx'
import { Time } from '../ui/Time.tsx'
import { Corrections, WhatWasCorrected } from './billing/Correction.tsx'

const COLUMNS = [
  { key: 'session', label: 'Server', rowHeader: true },
  { key: 'world', label: 'World' },
  { key: 'start', label: 'Start' },
  { key: 'end', label: 'End' },
  { key: 'seconds', label: 'Seconds', numeric: true },
  { key: 'included', label: 'Included', numeric: true },
  { key: 'billed', label: 'Billed', numeric: true },
  { key: 'price', label: 'Price', numeric: true, lead: true },
]

type Seller = { name: string; address: string; taxId: string | null }
/** `customer`: as they signed up. Their invoice may name a company. */
type StatementProps = { statement: Statement; customer: { name: string; email: string }; seller: Seller }

/** One bill in full, ready to print. */
export function BillingStatement({ statement, customer, seller }: StatementProps) {
  const state = statement.amount_owed < 0 ? 'Credit' : statement.paid ? 'Paid' : statement.overdue ? 'Overdue' : 'Due'
  const isPayable = !statement.paid && !statement.charge_date && !statement.processing && !statement.held
  return (
    <div className="page stack">
      <div className="page-head">
        <div>
          <p className="no-print">
            <a href="/billing_history">Billing History</a>
          </p>
          <h1>
            {statement.corrects ? 'Correction' : 'Statement'} <Time at={statement.start_date} /> to{' '}
            <Time at={statement.end_date} />
          </h1>
          <p className="hint">
            {statement.plan} · <code>{statement.id}</code>
          </p>
        </div>
        <Badge color={state === 'Paid' || state === 'Credit' ? 'green' : state === 'Overdue' ? 'red' : 'yellow'}>
          {state}
        </Badge>
      </div>
      <dl className="facts">
        <dt>Seller</dt>
        <dd>{[seller.name, seller.address, seller.taxId && `Tax ID ${seller.taxId}`].filter(Boolean).join(', ')}</dd>
        <dt>Customer</dt>
        <dd>
          {customerLines(statement, customer).map((line, i) => (
            <Fragment key={line}>
              {i ? ', ' : null}
              <bdi>{line}</bdi>
            </Fragment>
          ))}
        </dd>
        {statement.invoice_number ? (
          <>
            <dt>Invoice</dt>
            <dd>
              {statement.invoice_number}{' '}
              <span className="hint">
                <code>{statement.transaction_id}</code>
              </span>
            </dd>
          </>
        ) : null}
      </dl>
      <DefinitionStats
        stats={[
          { label: 'Amount Owed', value: dollars(statement.amount_owed), hint: 'USD' },
          { label: 'Seconds Used', value: statement.seconds_used.toLocaleString('en-US') },
          {
            label: 'Due',
            value: statement.held ? 'On hold' : statement.due_date ? <Time at={statement.due_date} /> : '—',
          },
        ]}
      />
      {givenBack(statement) ? <p>{givenBack(statement)}.</p> : null}
      {statement.charge_date ? (
        <p>
          We charge it automatically on <Time at={statement.charge_date} />.
        </p>
      ) : statement.processing ? (
        <p>Your payment is on its way. A bank may take a few days.</p>
      ) : null}
      {statement.invoice_url ? (
        <p className="row no-print">
          <ButtonLink href={statement.invoice_url} {...(isPayable ? { look: 'primary' as const } : {})}>
            {isPayable ? 'Pay invoice' : 'View invoice'}
          </ButtonLink>
          {statement.invoice_pdf ? <ButtonLink href={statement.invoice_pdf}>Download PDF</ButtonLink> : null}
        </p>
      ) : null}
      {statement.corrects ? <WhatWasCorrected statement={statement} /> : <Runs statement={statement} />}
      {statement.corrections.length ? <Corrections corrections={statement.corrections} /> : null}
    </div>
  )
}

/** As on Stripe's invoice, with the address that we know them by. */
function customerLines({ bill_to }: Statement, { name, email }: StatementProps['customer']): string[] {
  const company = bill_to ? [...bill_to.address, ...bill_to.taxIds.map((id) => `Tax ID ${id}`)] : []
  return [bill_to?.name ?? name, ...company, email]
}

function Runs({ statement }: { statement: Statement }) {
  const { lines } = statement
  const columns = lines.some(({ world }) => world) ? COLUMNS : COLUMNS.filter(({ key }) => key !== 'world')
  return (
    <Card title="Runs" className="statement">
      {lines.length ? (
        <DataTable
          caption="All runs"
          hideCaption
          columns={columns}
          rows={lines.map((line) => ({
            id: line.session_id,
            cells: {
              session: (
                <a className="session-id" href={`/servers/${line.session_id}`}>
                  {line.name ? <bdi>{line.name}</bdi> : null}
                  <code>{line.session_id}</code>
                </a>
              ),
              world: line.world ?? '—',
              start: utc(line.start),
              end: utc(line.end),
              ...columnsOf(line.seconds, line.included, fineDollars(line.dollars)),
            },
          }))}
          foot={{ session: 'Total', ...totalOf(statement) }}
        />
      ) : (
        <EmptyState>No servers ran in this period.</EmptyState>
      )}
      <p className="statement-sum">{howItAddsUp(statement)}</p>
      <p className="hint">
        The total is rounded once, to cents, so the prices of runs may add up to a little more or less. Startup, failed
        starts, and shutdown are free. All dates and times are in UTC.
      </p>
    </Card>
  )
}

function columnsOf(seconds: number, included: number, price: string) {
  const number = (n: number) => n.toLocaleString('en-US')
  return {
    seconds: number(seconds),
    included: number(included),
    billed: number(seconds - included),
    price,
  }
}

function totalOf({ lines, amount_owed }: Statement) {
  const sum = (of: (line: Statement['lines'][number]) => number) => lines.reduce((n, line) => n + of(line), 0)
  return columnsOf(
    sum((line) => line.seconds),
    sum((line) => line.included),
    dollars(amount_owed),
  )
}

function howItAddsUp(statement: Statement): string {
  const { seconds_used, included_hours, charged_seconds, amount_owed, trial } = statement
  if (trial) return `${seconds(seconds_used)} of your free trial, at no charge.`
  const included = included_hours ? ` − ${seconds(hoursToSeconds(included_hours))} included` : ''
  return `${seconds(seconds_used)} used${included}: ${seconds(charged_seconds)} × $${OVERAGE_DOLLARS_PER_SECOND} = ${dollars(amount_owed)}`
}

const utc = (iso: string) => (
  <span className="when">
    <span>{instantText(iso.slice(0, 10), false)}</span> <span>{iso.slice(11, 19)}</span>
  </span>
)
