import { Code, Doc, Heading, Rows } from './parts.tsx'
import { Webhooks } from './Webhooks.tsx'

export function Events() {
  return (
    <Doc
      path="/docs/events"
      title="Events"
      lead="Hear about every change at once, without polling: over a socket while your program runs, or by webhook."
    >
      <Heading id="cable">The cable</Heading>
      <p>
        <code>/cable</code> on this site speaks the Action Cable protocol, with the subprotocol{' '}
        <code>actioncable-v1-json</code>. Stock clients such as <code>@rails/actioncable</code> and{' '}
        <code>@anycable/core</code> work unchanged. A program sends its API token in the header{' '}
        <code>Authorization</code>; the scope <code>read</code> is enough.
      </p>
      <p>
        Subscribe to <code>JobsChannel</code> with your user ID. You first receive the unfinished jobs and the latest
        one, so that you miss nothing after a lost connection, and then every change.
      </p>
      <Code>{'npm install @anycable/core ws'}</Code>
      <p>
        Save this as <code>follow.mjs</code>. It starts a server and follows it:
      </p>
      <Code run="cable.mjs">{`import { createCable } from '@anycable/core'
import WebSocket from 'ws'

const { PROVING_GROUND_URL: url, PROVING_GROUND_TOKEN: token } = process.env
const headers = { Authorization: \`Bearer \${token}\` }

const session = await fetch(\`\${url}/api/v1/users/get_session\`, { headers })
const { Body: user } = await session.json()

const cable = createCable(\`\${url.replace('http', 'ws')}/cable\`, {
  websocketImplementation: WebSocket,
  websocketOptions: { headers },
})
const jobs = cable.subscribeTo('JobsChannel', { user_id: user.id })
await new Promise((done) => jobs.on('connect', done))

const started = await fetch(\`\${url}/api/v1/aws/auto_cloud_start_request\`, { method: 'POST', headers })
const { job_id, error } = await started.json()
if (error) throw new Error(error)

jobs.on('message', ({ event, job }) => {
  if (event !== 'job.updated' || job.id !== job_id) return
  console.log(job.status, job.progress ?? job.result ?? job.error_message)
  if (job.status === 'succeeded' || job.status === 'failed') cable.disconnect()
})`}</Code>

      <Heading id="messages">What you receive</Heading>
      <p>
        A message is <code>{'{"event": "job.updated", "job": {…}}'}</code>, with the job's server inside. Starting and
        stopping are jobs: each goes from <code>queued</code> to <code>running</code> to <code>succeeded</code> or{' '}
        <code>failed</code>. When a server's end or its name changes, it is{' '}
        <code>{'{"event": "server.updated", "server": {…}}'}</code>, and ten minutes before the end that you set{' '}
        <code>{'{"event": "server.ending", "server": {…}}'}</code>. When we suspend your account or lift that, it is{' '}
        <code>{'{"event": "account.updated"}'}</code>. Skip events that you don't know: we may add some.
      </p>
      <Rows
        caption="Why a job or its server failed"
        head={['error_code', 'Meaning']}
        rows={[
          [<code key="c">no_capacity</code>, 'No server that your plan allows was free'],
          [
            <code key="c">launch_refused</code>,
            "EC2 refuses all our launches right now, so another zone wouldn't help",
          ],
          [<code key="c">timeout</code>, "The machine wasn't running after 10 minutes"],
          [<code key="c">no_answer</code>, 'Nothing answered on port 5173 for 10 minutes after the container started'],
          [
            <code key="c">image_not_found</code>,
            "The machine couldn't pull the image of its environment: it doesn't exist, or isn't public",
          ],
          [<code key="c">image_denied</code>, 'The registry refused to give us the image'],
          [<code key="c">image_login_refused</code>, 'The registry refused the login that you saved'],
          [<code key="c">image_login_expired</code>, 'The login that you saved has expired'],
          [<code key="c">image_host_private</code>, "The registry's name leads to a private address"],
          [<code key="c">image_rate_limited</code>, 'The registry limits how often it gives out the image'],
          [
            <code key="c">image_stuck</code>,
            'Nothing of the image came for 2 minutes, or unpacking it took 10 without a sign',
          ],
          [<code key="c">image_slow</code>, 'The image took 30 minutes, or 10 at less than 1 MB/s'],
          [<code key="c">secret_missing</code>, 'A secret of the start was gone before the program ran'],
          [<code key="c">bad_image</code>, "The machine can't run the image"],
          [<code key="c">no_space</code>, "The image doesn't fit on the machine's disk"],
          [<code key="c">exited</code>, 'The program ended three times before it answered: see its log'],
          [<code key="c">out_of_memory</code>, 'The program needed more memory than the machine has'],
          [<code key="c">files_failed</code>, "The machine couldn't load your files"],
          [<code key="c">instance_lost</code>, 'The server ended unexpectedly'],
          [<code key="c">silent</code>, 'The machine of a run that ends with its program said nothing for 3 minutes'],
          [<code key="c">stopped</code>, "Only a job's: you canceled the start, or its time ran out"],
          [<code key="c">stopped_by_us</code>, "Only a job's: we stopped it. Contact us to find out why"],
          [<code key="c">suspended</code>, "Only a job's: we stopped it because an invoice is overdue"],
        ]}
      />

      <Heading id="connection">Staying connected</Heading>
      <ul>
        <li>
          The server pings every 3 seconds. If your client sends <code>{'{"command":"ping"}'}</code> at least every 6
          seconds, it gets an answer to each instead.
        </li>
        <li>
          When your token ends, the socket closes with <code>"reason":"remote"</code> and <code>"reconnect":false</code>
          . Without a valid token, it closes with <code>"unauthorized"</code>.
        </li>
        <li>
          An account can have 20 sockets; one more closes the oldest. More than 20 messages a second, or 4 KB in one,
          close the socket.
        </li>
      </ul>

      <Webhooks />
    </Doc>
  )
}
