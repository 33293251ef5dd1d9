import type { ReactNode } from 'react'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { type Column, DataTable, type Row } from '../../ui/DataTable.tsx'
import { FlashAlert, type FlashMessage } from '../../ui/FlashAlert.tsx'
import { HiddenFields } from '../../ui/HiddenFields.tsx'

type ListSectionProps = {
  title: string
  id: string
  csrfToken: string
  /** About this section. */
  flash: FlashMessage | null
  children: ReactNode
  list: { caption: string; columns: Column[]; rows: Row[]; none: string }
  /** A sentence instead, if the account can't add more. */
  form: { title: string; action: string; fields: ReactNode; submit: string } | string | null
  /** Below the form: help with filling it in. */
  help?: ReactNode
}

/** An account's items of one kind, and the folded form that adds to them. */
export function ListSection({ title, id, csrfToken, flash, children, list, form, help }: ListSectionProps) {
  return (
    <Card title={title} id={id} className="stack">
      <FlashAlert flash={flash} />
      {children}
      {list.rows.length ? (
        <DataTable caption={list.caption} hideCaption columns={list.columns} rows={list.rows} />
      ) : (
        <p className="hint">{list.none}</p>
      )}
      {typeof form === 'string' ? <p className="hint">{form}</p> : null}
      {form && typeof form !== 'string' ? (
        <details className="fold" open={flash !== null && flash.kind !== 'success'}>
          <summary>{form.title}</summary>
          <div className="stack">
            <form className="stack form-narrow" method="post" action={form.action} noValidate>
              <HiddenFields csrfToken={csrfToken} values={{ about: id }} />
              {form.fields}
              <Button type="submit" look="primary">
                {form.submit}
              </Button>
            </form>
            {help}
          </div>
        </details>
      ) : null}
    </Card>
  )
}

type RemoveProps = { name: string; action: string; about: string; csrfToken: string; children?: string }

/** Removes one row of such a list. */
export function Remove({ name, action, about, csrfToken, children = 'Remove' }: RemoveProps) {
  return (
    <form method="post" action={action}>
      <HiddenFields csrfToken={csrfToken} method="delete" values={{ about }} />
      <Button type="submit" small aria-label={`${children} ${name}`}>
        {children}
      </Button>
    </form>
  )
}
