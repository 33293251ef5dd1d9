import { MACHINE_PORTS } from '../domain/machine-ports.ts'
import { DoorPage, type DoorPageProps } from './run/DoorPage.tsx'

type Props = DoorPageProps & {
  url: string
  /** The hosts of further ports. */
  sockets: { port: number; url: string }[]
  tcpPorts: number[]
}

const useOf = (port: number) => {
  const use = MACHINE_PORTS.find((one) => one.port === port)?.use
  return use ? `${port} (${use})` : String(port)
}

/** The commands that reach this run from people's own code, ready to copy. */
export function ConnectServer({ run, url, sockets, tcpPorts }: Props) {
  const [first, second] = tcpPorts
  // A different local port, for people whose own program already listens on the same one.
  const moved = second === undefined ? null : { there: second, here: second < 50_000 ? second + 10_000 : second }
  const forwarded = [first, moved && `${moved.there}:${moved.here}`].filter(Boolean).join(' ')
  return (
    <DoorPage title="Connect your code" run={run}>
      <p>
        Your programs get in with an <a href="/settings/developers#api_tokens">API token</a> that may operate, in{' '}
        <code>PROVING_GROUND_TOKEN</code>. The simulator never sees it.
      </p>
      <h2>The page and its API</h2>
      <Command>{`curl -H "Authorization: Bearer $PROVING_GROUND_TOKEN" ${url}`}</Command>
      {forwarded ? (
        <>
          <h2>TCP ports</h2>
          <Command>{`proving-ground forward ${forwarded}`}</Command>
          <p className="hint">
            Until you press Ctrl-C, your code connects to <code>localhost:{first}</code>
            {moved ? (
              <>
                , and to port {moved.there} of the server at <code>localhost:{moved.here}</code>
              </>
            ) : null}
            . Open: {tcpPorts.map(useOf).join(', ')}. <a href="/docs/cli">Get the command line</a>, or read about{' '}
            <a href="/docs/ports">ports and pictures</a>
          </p>
        </>
      ) : null}
      {sockets.length ? (
        <>
          <h2>WebSockets</h2>
          {sockets.map((socket) => (
            <div key={socket.port}>
              <p className="hint">Port {useOf(socket.port)}</p>
              <Command>{socket.url}</Command>
            </div>
          ))}
          <p className="hint">
            Send the same <code>Authorization</code> header. If your client can't, forward the port.
          </p>
        </>
      ) : null}
    </DoorPage>
  )
}

/** A script adds the button that copies it. */
function Command({ children }: { children: string }) {
  return (
    <div className="copyable command">
      <code className="secret">{children}</code>
    </div>
  )
}
