import { MINUTE_MS } from '../../domain/instant.ts'
import { machineText } from '../../domain/machine.ts'
import { BASIC, PREMIUM } from '../../domain/money/plan.ts'
import { ANSWER_DEADLINE_MS, SERVER_WEB_PORT } from '../../domain/server.ts'
import { Code, Doc, Heading, Rows } from './parts.tsx'

/** The machines that the plans come with, smallest first. */
const MACHINES: [plan: string, type: string][] = [
  [BASIC.name, 'g6.4xlarge'],
  [PREMIUM.name, 'g6.12xlarge'],
]

export function Servers() {
  return (
    <Doc
      path="/docs/images"
      title="Servers"
      lead={`Each server is its own machine, with NVIDIA GPUs and our simulator, which answers on port ${SERVER_WEB_PORT}.`}
    >
      <Heading id="machine">The machine</Heading>
      <p>
        It runs on Amazon EC2, in the zone that the API calls <code>availability_zone</code>. Nobody else uses it: we
        create it for your run and delete it, with its disk, at the end.
      </p>
      <Rows
        caption="The largest machine of each plan"
        head={['Plan', 'Type', 'Hardware']}
        rows={MACHINES.map(([plan, type]) => [plan, <code key="t">{type}</code>, machineText(type)])}
      />

      <Heading id="image">What runs on it</Heading>
      <p>
        NVIDIA's driver, Docker with NVIDIA's container runtime, and one container: the simulator, with all GPUs. If it
        exits, it starts again after 2 seconds. You can't bring an image of your own yet.
      </p>

      <Heading id="port">Port {SERVER_WEB_PORT}</Heading>
      <p>
        {`The simulator's page and its API answer at http://<ip_address>:${SERVER_WEB_PORT}. It is the only port that is open, and your dashboard links to it as soon as it answers. That's also when the meter starts. If nothing answers within ${ANSWER_DEADLINE_MS / MINUTE_MS} minutes of the boot, we stop the server and you pay nothing.`}
      </p>
      <p>
        The address is public, and the page uses plain HTTP: anyone who knows the address can open it. It changes with
        every start. Don't send it secrets.
      </p>
      <Code>{`address=$(proving-ground status --json | jq -r '.servers[0].ip_address')
curl "http://$address:${SERVER_WEB_PORT}"`}</Code>
      <p>
        To check from anywhere whether it answers, use <code>check_server_ip_status</code> in{' '}
        <a href="/docs/api">the API</a>.
      </p>

      <Heading id="end">At the end</Heading>
      <p>
        When you stop a server, the simulator has 30 seconds to shut down; you don't pay for them. Then the disk is
        erased. Before you stop, copy anything you want to keep over port {SERVER_WEB_PORT}.
      </p>
      <p>
        A server also ends at the time you set, when your trial minutes are used up, or if the machine fails. Your list
        of runs says why.
      </p>
    </Doc>
  )
}
