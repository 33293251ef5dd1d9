import { Code, Doc, Heading, Rows } from './parts.tsx'

export type ApiCall = {
  /** Its anchor. */
  id: string
  method: string
  path: string
  summary: string
  /** What a token needs for it; null: only a browser that is signed in, or anybody. */
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
          JSON over HTTPS. <a href="/api/openapi.json">The OpenAPI document</a> describes the same to programs. Find a
          call with your browser's search.
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
        <li>Times are ISO 8601 in UTC, money is in USD, ids are opaque. Answers may gain fields.</li>
        <li>
          A refusal is <code>{'{"error": "A sentence.", …}'}</code>. With 402, <code>page</code> says where to pay. With
          429, <code>Retry-After</code> says how many seconds to wait.
        </li>
        <li>
          Each token may make 300 calls a minute. The headers <code>RateLimit</code> and <code>RateLimit-Policy</code>{' '}
          say what is left.
        </li>
        <li>
          Send <code>Idempotency-Key</code> with a start or a stop. The same key within 24 hours gets the first answer
          again and does nothing twice.
        </li>
      </ul>
      <Code>{`export PROVING_GROUND_URL=${origin}
export PROVING_GROUND_TOKEN=pg_…`}</Code>
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
        Our own pages use these. They need a sign-in's cookie, or nobody's, and refuse API tokens. The OpenAPI document
        has their fields.
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
