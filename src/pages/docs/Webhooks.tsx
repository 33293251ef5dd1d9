import { DELIVERY_DAYS } from '../../domain/retention.ts'
import { KEPT_DELIVERIES, MAX_WEBHOOKS } from '../../domain/webhook.ts'
import { Code, Heading, Rows } from './parts.tsx'

const code = (text: string) => <code key={text}>{text}</code>

/** The part of /docs/events about webhooks. */
export function Webhooks() {
  return (
    <>
      <Heading id="webhooks">Webhooks</Heading>
      <p>
        A webhook tells your program what happens to your servers and bills, within seconds. Add one under Settings,{' '}
        <a href="/webhooks">Webhooks</a>: its URL, the events you want, and your password. We show its signing secret
        once and email you. An account can have {MAX_WEBHOOKS}.
      </p>
      <Rows
        caption="Events"
        head={['Event', 'When', 'data']}
        rows={[
          [code('server.running'), 'The server answered for the first time; its meter starts', code('server')],
          [
            code('server.ending'),
            <>
              We will stop it at <code>ends_at</code>: in 10 minutes because the time you set is up, or in 5 because its
              trial ends. You get one for each end, so another one if it moves. We send none for an end that is nearer
              than that when you set it
            </>,
            code('server, ends_at'),
          ],
          [
            code('server.ending_soon'),
            <>
              The earlier name of <code>server.ending</code>, for endpoints that don't receive that
            </>,
            code('server, ends_at'),
          ],
          [
            code('server.exited'),
            <>
              It is gone because its program ended; <code>server.exit_code</code> says how
            </>,
            code('server'),
          ],
          [
            code('server.stopped'),
            'It is gone because you stopped it, or its trial, your budget, or its time ran out',
            code('server'),
          ],
          [
            code('server.failed'),
            <>
              We stopped it, it failed, or it never started; <code>server.error_code</code> and{' '}
              <code>server.error_message</code> say why
            </>,
            code('server'),
          ],
          [
            code('budget.reached'),
            <>
              Your <a href="/docs/billing#limits">budget</a> is used up; once for each month and budget
            </>,
            code('budget'),
          ],
          [code('bill.closed'), "A month's bill is final", code('billing')],
          [
            code('webhook.test'),
            <>
              You pressed <strong>Send test event</strong>
            </>,
            'Nothing',
          ],
        ]}
      />
      <p>
        Every run ends with exactly one of <code>server.exited</code>, <code>server.stopped</code>, and{' '}
        <code>server.failed</code>. <code>server</code> and <code>billing</code> look as in{' '}
        <a href="/docs/api">the API</a>, as they were at that moment. If you need the current state, call the API.
      </p>
      <Code>{`{
  "type": "budget.reached",
  "timestamp": "2026-11-22T10:15:00.000Z",
  "data": {
    "budget": {
      "dollars": 20,
      "charged_dollars": 20,
      "stops": true,
      "period_start": "2026-11-03T08:30:00.000Z",
      "period_end": "2026-12-03T08:30:00.000Z"
    }
  }
}`}</Code>

      <Heading id="receiving">Receiving webhooks</Heading>
      <p>
        We send a <code>POST</code> after{' '}
        <a href="https://www.standardwebhooks.com" rel="noreferrer">
          Standard Webhooks
        </a>
        , so its libraries for a dozen languages check it. <code>webhook-id</code> is the event's ID, the same each time
        we send it; <code>webhook-timestamp</code> counts seconds since 1970; <code>webhook-signature</code> has one or
        more signatures. Check them over the raw body, before you parse it:
      </p>
      <Code>{'npm install standardwebhooks'}</Code>
      <p>
        Save this as <code>receiver.mjs</code>, and set <code>WEBHOOK_SECRET</code> and <code>PORT</code>:
      </p>
      <Code run="receiver.mjs">{`import { createServer } from 'http'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET) // whsec_…

createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  try {
    const event = webhook.verify(body, request.headers)
    console.log(request.headers['webhook-id'], event.type)
    response.writeHead(204).end()
  } catch {
    response.writeHead(401).end()
  }
}).listen(process.env.PORT)`}</Code>
      <ul>
        <li>Answer with any 2xx within 10 seconds. Do slow work afterward.</li>
        <li>
          You get each event at least once, so remember the <code>webhook-id</code>. Events may arrive out of order:
          compare <code>timestamp</code>.
        </li>
        <li>The library refuses messages older than 5 minutes. Each try has a fresh timestamp and signature.</li>
        <li>
          We call only <code>https://</code> URLs on port 443 of public hosts, without a user name or password, and
          follow no redirect.
        </li>
      </ul>

      <Heading id="retries">When your endpoint doesn't answer</Heading>
      <p>
        We try again after 10 seconds, 1, 5, and 20 minutes, 1, 2, and 4 hours, and then every 4 hours (each up to a
        fifth longer), until a day has passed. While one event fails, the others that are due at that endpoint wait with
        it; your other endpoints don't. If we give up an event and your endpoint accepted nothing in that day, we switch
        the webhook off and email you. We do so at once if it answers <code>410</code>. While it is off, we keep no
        events for it.
      </p>
      <p>
        The webhook's page lists its last {KEPT_DELIVERIES} deliveries from the last {DELIVERY_DAYS} days, with the
        status and the first 500 bytes of your answer. A button sends each of them again: the same event with the same
        id, tried again for up to a day.
      </p>

      <Heading id="secrets">Replacing the secret</Heading>
      <p>
        <strong>Replace the signing secret</strong> makes a new one. For a day, each message has a signature of both, so
        the old secret keeps working until you have changed yours. If a secret has leaked, delete the webhook and add it
        again instead: a deleted webhook's secrets end at once.
      </p>
    </>
  )
}
