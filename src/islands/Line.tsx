import { useEffect, useRef, useState } from 'react'
import { readParameters } from '../domain/parameters.ts'
import { isLive } from '../domain/server.ts'
import type { LinePlace, Server } from '../domain/wire/fleet.ts'
import { Alert } from '../ui/Alert.tsx'
import { announce } from './announce.ts'
import { type JoinChoice, JoinForm } from './line/JoinForm.tsx'
import { ring, SoundSwitch } from './line/SoundSwitch.tsx'
import { Turn } from './line/Turn.tsx'
import { Waiting } from './line/Waiting.tsx'
import { request } from './request.ts'
import { useJobsChannel } from './useJobsChannel.ts'
import { usePoll } from './usePoll.ts'
import { useServerClock } from './useServerClock.ts'

export type LineProps = {
  userId: string
  csrfToken: string
  now: number
  line: LinePlace | null
  sizes: { gpus: number; waiting: number; free: boolean }[]
  hasServer: boolean
  isTrial: boolean
  /** What their server starts with: as they chose when joining, or else on the dashboard. Every form sends it along. */
  chosen: Record<string, string>
}

const LINE = '/api/v1/line'
const SERVERS = '/api/v1/servers/get_servers'
const EVERY_MS = 60_000
const UNCONNECTED_EVERY_MS = 10_000

/** Someone's place in line, live. Without script, its forms reload the page. */
export function Line(props: LineProps) {
  const [line, setLine] = useState(props.line)
  const [hasServer, setHasServer] = useState(props.hasServer)
  const [refusal, setRefusal] = useState<string | null>(null)
  const now = useServerClock(props.now)
  const before = useRef(line)
  const isTheirs = line?.position === 0
  /** Whether the counts are current: not once they have waited or had a server, because that was a while ago. */
  const isCounted = useRef(true)
  if (line || hasServer) isCounted.current = false

  async function refresh(signal?: AbortSignal) {
    const { ok, body } = await request<{ line: LinePlace | null }>('GET', LINE, undefined, signal)
    if (!ok) return
    const list = body.line ? null : await request<{ servers: Server[] }>('GET', SERVERS, undefined, signal)
    if (signal?.aborted) return
    setLine(body.line)
    if (list?.ok) setHasServer(list.body.servers.some(isLive))
  }
  const { connection } = useJobsChannel(props.userId, {
    onJob: ({ server }) => {
      if (!server) return
      setHasServer(isLive(server))
      if (isLive(server)) setLine(null)
    },
    onServer: () => {},
    onNews: () => void refresh(),
    onLine: setLine,
  })
  usePoll(refresh, connection === 'live' ? EVERY_MS : UNCONNECTED_EVERY_MS)
  useEffect(() => {
    const was = before.current
    before.current = line
    if (was?.position === line?.position) return
    if (line) announce(isTheirs ? "It's your turn." : `You are number ${line.position} in line.`)
    if (was?.position && (isTheirs || hasServer)) ring()
  }, [line, hasServer])

  async function change(method: 'POST' | 'DELETE', json?: object) {
    const { ok, status, body } = await request<{ line: LinePlace | null }>(method, LINE, json)
    setRefusal(ok ? null : (body.error ?? 'Please try again.'))
    if (ok) setLine(body.line)
    // Their account has changed since this page was rendered.
    else if (status === 401 || status === 409) await refresh()
  }
  const join = ({ start, maxGpus }: JoinChoice) => {
    const { stop_after, parameters = '', command, ...others } = props.chosen
    const [secrets, chosen] = withoutSecrets(others)
    void change('POST', {
      ...chosen,
      parameters: readParameters(parameters),
      secrets,
      ...(command && { command: JSON.parse(command) }),
      stop_after: Number(stop_after) || null,
      max_gpus: maxGpus,
      start,
    })
  }
  const leave = () => void change('DELETE')
  const form = { csrfToken: props.csrfToken, chosen: props.chosen, onJoin: join }
  return (
    <div className="stack">
      <section aria-live="polite">{refusal ? <Alert kind="danger">{refusal}</Alert> : null}</section>
      {line && isTheirs ? (
        <Turn line={line} now={now} chosen={props.chosen} csrfToken={props.csrfToken} onLeave={leave} />
      ) : line ? (
        <Waiting {...form} line={line} onLeave={leave} />
      ) : hasServer ? (
        <Alert kind="success" quiet>
          You have a server. <a href="/dashboard">See it on the dashboard</a>
        </Alert>
      ) : (
        <JoinForm {...form} sizes={props.sizes} isCounted={isCounted.current} isTrial={props.isTrial} />
      )}
      {line && !isTheirs ? <SoundSwitch /> : null}
    </div>
  )
}

/** The names of the secrets among a form's fields, and the other fields. */
function withoutSecrets(fields: Record<string, string>): [names: string[], others: Record<string, string>] {
  const nameOf = (field: string) => /^secrets\[(.+)\]$/.exec(field)?.[1]
  const names = Object.keys(fields).flatMap((field) => nameOf(field) ?? [])
  return [names, Object.fromEntries(Object.entries(fields).filter(([field]) => !nameOf(field)))]
}
