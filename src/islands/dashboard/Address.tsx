import { useEffect, useState } from 'react'
import { SERVER_WEB_PORT } from '../../domain/server.ts'
import type { Server } from '../../domain/wire.ts'
import { Icon } from '../../pages/parts/Icon.tsx'
import { Spinner } from '../../pages/parts/States.tsx'
import { announce } from '../announce.ts'
import { useReachable } from '../useReachable.ts'

const SHOW_COPIED_MS = 2_000

/** Of a live server: a link to its page once it answers. */
export function Address({ server }: { server: Server }) {
  return AddressAs({ server, reachable: useReachable(server) })
}

export function AddressAs({ server, reachable }: { server: Server; reachable: boolean }) {
  const { ip_address } = server
  if (!reachable || !ip_address) return <Spinner label="Connecting..." />
  return (
    <span className="address">
      <a className="mono" href={`http://${ip_address}:${SERVER_WEB_PORT}`} target="_blank" rel="noreferrer">
        {ip_address}
      </a>
      <CopyButton text={ip_address} />
    </span>
  )
}

function CopyButton({ text }: { text: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOW_COPIED_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    announce('Address copied.')
  }
  return (
    <button type="button" className="btn-close" aria-label={`Copy ${text}`} onClick={copy}>
      <Icon name={copied ? 'check' : 'copy'} size={14} />
    </button>
  )
}
