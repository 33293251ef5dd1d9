import type { ReactNode } from 'react'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { type Column, DataTable, type Row } from '../../ui/DataTable.tsx'
import { FlashAlert, type FlashMessage } from '../../ui/FlashAlert.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'

type ListPageProps = {
  title: string
  csrfToken: string
  flash: FlashMessage | null
  /** In the flash message's place: what was just made. */
  made?: ReactNode
  children: ReactNode
  list: { title: string; caption?: string; columns: Column[]; rows: Row[]; none: string }
  /** A sentence instead where an account can add no more. */
  form: { title: string; action: string; fields: ReactNode; submit: string } | string | null
  /** Below the form: what helps to fill it in. */
  help?: ReactNode
  foot: ReactNode
}

/** What an account has of one kind, and the form that adds to it. */
export function ListPage({ title, csrfToken, flash, made, children, list, form, help, foot }: ListPageProps) {
  return (
    <div className="page stack">
      <div className="page-head">
        <h1>{title}</h1>
      </div>
      {made || <FlashAlert flash={flash} />}
      {children}
      <Card title={list.title}>
        {list.rows.length ? (
          <DataTable caption={list.caption ?? list.title} hideCaption columns={list.columns} rows={list.rows} />
        ) : (
          <p className="hint">{list.none}</p>
        )}
      </Card>
      {typeof form === 'string' ? <p className="hint">{form}</p> : null}
      {form && typeof form !== 'string' ? (
        <Card title={form.title}>
          <form className="stack form-narrow" method="post" action={form.action} noValidate>
            <HiddenFields csrfToken={csrfToken} />
            {form.fields}
            <Button type="submit" look="primary">
              {form.submit}
            </Button>
          </form>
        </Card>
      ) : null}
      {help}
      <p className="hint">{foot}</p>
    </div>
  )
}

type RemoveProps = { name: string; action: string; csrfToken: string; children?: string }

/** Ends one row of such a list. */
export function Remove({ name, action, csrfToken, children = 'Remove' }: RemoveProps) {
  return (
    <form method="post" action={action}>
      <HiddenFields csrfToken={csrfToken} method="delete" />
      <Button type="submit" small aria-label={`${children} ${name}`}>
        {children}
      </Button>
    </form>
  )
}
