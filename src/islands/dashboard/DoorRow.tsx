import { type MouseEvent, useState } from 'react'
import type { Guest, GuestEnd } from '../../domain/wire/door.ts'
import type { Server } from '../../domain/wire/fleet.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { WhoMayEnter } from '../../ui/WhoMayEnter.tsx'
import { request } from '../request.ts'

type Props = { server: Server; now: number; guests: GuestEnd[] }

/** Who can get in, and two pages that open over this one. Without script, they are links. */
export function DoorRow({ server: { id }, now, guests }: Props) {
  const [untils, setUntils] = useState(() => guests.filter(({ run }) => run === id).map(({ until }) => until))
  const open = async (event: MouseEvent<HTMLAnchorElement>) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    const { href } = event.currentTarget
    const part = await import('../page-dialog.ts').catch(() => null)
    if (!part) return location.assign(href)
    await part.showPage(href)
    const { ok, body } = await request<{ guests: Guest[] }>('GET', `/api/v1/servers/${id}/guests`)
    if (ok) setUntils(body.guests.map(({ expires_at }) => expires_at))
  }
  return (
    <div className="run-end">
      <p>
        <WhoMayEnter untils={untils} now={now} />
      </p>
      <div className="row">
        <ButtonLink small href={`/servers/${id}/share`} onClick={open}>
          Share
        </ButtonLink>
        <ButtonLink small href={`/servers/${id}/connect`} onClick={open}>
          Connect your code
        </ButtonLink>
      </div>
    </div>
  )
}
