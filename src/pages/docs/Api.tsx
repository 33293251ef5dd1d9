import { Code, Doc, Heading, Rows } from './parts.tsx'
import { PACKAGE_PATH } from './Quickstart.tsx'

export type ApiCall = {
  /** Its anchor. */
  id: string
  method: string
  path: string
  summary: string
  /** The scope that a token needs; null: only signed-in browsers may call it, or anyone. */
  scope: string | null
  curl: string | null
  status: number
  answer: string
  refusals: { status: string; reason: string }[]
}

type ApiProps = { origin: string; calls: ApiCall[] }

/** Every call, from the document that also describes the API to programs. */
export function Api({ origin, calls }: ApiProps) {
  const open = calls.filter(({ scope }) => scope)
  const others = calls.filter(({ scope }) => !scope)
  return (
    <Doc
      path="/docs/api"
      title="API"
      lead={
        <>
          JSON over HTTPS. <a href="/api/openapi.json">The OpenAPI document</a> describes the same calls to programs.
          Find a call with your browser's search.
        </>
      }
    >
      <Heading id="basics">Basics</Heading>
      <ul>
        <li>
          Send <code>Authorization: Bearer pg_…</code>. You create tokens under Settings,{' '}
          <a href="/api_tokens">API tokens</a>: <code>read</code> reads, <code>operate</code> also starts and stops. A
          token never reaches your account, your plan, or your payments.
        </li>
        <li>Times are ISO 8601 in UTC, money is in USD, IDs are opaque. Answers may gain fields.</li>
        <li>
          A refusal looks like <code>{'{"error": "A sentence.", …}'}</code>. With 402, <code>page</code> says where to
          pay. With 429, <code>Retry-After</code> says how many seconds to wait.
        </li>
        <li>
          Each token may make 300 calls a minute. The headers <code>RateLimit</code> and <code>RateLimit-Policy</code>{' '}
          say how many are left.
        </li>
        <li>
          Send <code>Idempotency-Key</code> with a start or a stop. The same key within 24 hours gets the first answer
          again, and nothing happens twice.
        </li>
      </ul>
      <Code>{`export PROVING_GROUND_URL=${origin}
export PROVING_GROUND_TOKEN=pg_…`}</Code>
      <Heading id="client">In TypeScript</Heading>
      <p>
        Our client has every call below, with types. Keep the package with your code, so that it changes only when you
        say so:
      </p>
      <Code>{`curl -fsSO ${origin}${PACKAGE_PATH}
npm install ./proving-ground.tgz`}</Code>
      <p>
        Save this as <code>flight.mts</code>, or as <code>flight.mjs</code> without TypeScript:
      </p>
      <Code run="client.mjs">{`import { createProvingGround } from 'proving-ground/client'

const { PROVING_GROUND_URL: url = '', PROVING_GROUND_TOKEN: token = '' } = process.env
const client = createProvingGround({ url, token })

const { data, error } = await client.POST('/api/v1/aws/auto_cloud_start_request', {
  params: { header: { 'Idempotency-Key': crypto.randomUUID() } },
  body: { name: 'first flight', stop_after: 3600 },
})
if (error) throw new Error(error.message)
console.log('Starting', data.server.name)

const { id, server_id } = data.server
await client.POST('/api/v1/aws/stop_server', { body: { session_id: id, server_id } })`}</Code>
      <p>
        A call throws if no answer comes within 30 seconds. If it has an <code>Idempotency-Key</code>, the client first
        sends it up to three times.
      </p>

      <Heading id="calls">Calls for programs</Heading>
      <Rows
        caption="Calls for programs"
        head={['Call', 'What it does', 'Access']}
        rows={open.map(({ id, method, path, summary, scope }) => [
          <a key={id} href={`#${id}`}>
            <code>
              {method} {path}
            </code>
          </a>,
          summary,
          scope,
        ])}
      />
      {open.map((call) => (
        <Call key={call.id} call={call} />
      ))}
      <Heading id="browsers">Calls for browsers</Heading>
      <p>
        Our own pages use these. They need a sign-in cookie, or none, and refuse API tokens. The OpenAPI document has
        their fields.
      </p>
      <Rows
        caption="Calls for browsers"
        head={['Call', 'What it does']}
        rows={others.map(({ id, method, path, summary }) => [
          <code key={id} id={id}>
            {method} {path}
          </code>,
          summary,
        ])}
      />
    </Doc>
  )
}

function Call({ call: { id, method, path, summary, scope, curl, status, answer, refusals } }: { call: ApiCall }) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        <a href={`#${id}`}>{summary}</a>
      </h2>
      <p>
        <code>
          {method} {path}
        </code>{' '}
        with a token that may {scope}
      </p>
      {curl ? <Code run={id}>{curl}</Code> : null}
      <p>Answers {status}:</p>
      <Code>{answer}</Code>
      <p className="hint">
        Refusals:{' '}
        {refusals.map(({ status: code, reason }) => `${code} ${reason[0]?.toLowerCase()}${reason.slice(1)}`).join('; ')}
        .
      </p>
    </section>
  )
}
