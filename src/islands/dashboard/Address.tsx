import { useEffect, useState } from 'react'
import { webAddress } from '../../domain/server.ts'
import type { Server } from '../../domain/wire/fleet.ts'
import { Icon, type IconName } from '../../ui/Icon.tsx'
import { Spinner } from '../../ui/States.tsx'
import { announce } from '../announce.ts'

const SHOW_OUTCOME_MS = 2_000

/** A live server's address: a link to its page once it answers. */
export function Address({ server, reachable }: { server: Server; reachable: boolean }) {
  const { ip_address } = server
  if (!reachable || !ip_address) return <Spinner label="Connecting..." />
  return (
    <span className="address">
      <a className="mono" href={webAddress(server)} target="_blank" rel="noreferrer">
        {ip_address}
      </a>
      <CopyButton text={ip_address} />
    </span>
  )
}

function CopyButton({ text }: { text: string }) {
  const [icon, setIcon] = useState<IconName>('copy')
  useEffect(() => {
    if (icon === 'copy') return
    const timer = setTimeout(() => setIcon('copy'), SHOW_OUTCOME_MS)
    return () => clearTimeout(timer)
  }, [icon])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setIcon('check')
      announce('Address copied.')
    } catch {
      // The browser may not allow it.
      setIcon('x')
      announce("Couldn't copy the address.")
    }
  }
  return (
    <button type="button" className="btn-close" aria-label={`Copy ${text}`} onClick={copy}>
      <Icon name={icon} size={14} />
    </button>
  )
}
