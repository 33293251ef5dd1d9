import { GUEST_HOURS } from '../../domain/door.ts'
import { FEWEST_WAITS } from '../../domain/estimate.ts'
import { LEAST_IDLE_MINUTES, MOST_IDLE_MINUTES, STATUS_BYTES, STATUS_PATH } from '../../domain/idle.ts'
import { MINUTE_MS } from '../../domain/instant.ts'
import { HOLD_MS, LAPSES_TO_END, LAPSES_TO_LEAVE, PAID_TURNS } from '../../domain/line.ts'
import { machineText } from '../../domain/machine.ts'
import { BASIC, ENTERPRISE, PREMIUM } from '../../domain/money/plan.ts'
import { MAX_OWN_ENVIRONMENTS } from '../../domain/own-environment.ts'
import { LOG_DAYS } from '../../domain/run-log.ts'
import { ANSWER_DEADLINE_MS, SERVER_WEB_PORT } from '../../domain/server.ts'
import { VEHICLES } from '../../domain/worlds.ts'
import { Code, Doc, Heading, Rows } from './parts.tsx'

/** The machines that the plans come with, smallest first. */
const MACHINES: [plan: string, type: string][] = [
  [BASIC.name, 'g6.4xlarge'],
  [PREMIUM.name, 'g6.12xlarge'],
]

const DOCKERFILE = `FROM node:24-slim
COPY <<'EOF' /simulator.js
const text = \`\${process.env.VEHICLE} in \${process.env.ENVIRONMENT}\\n\`
require('node:http').createServer((_, answer) => answer.end(text)).listen(${SERVER_WEB_PORT})
process.on('SIGTERM', () => process.exit())
EOF
# For Vulkan and OpenGL, not only CUDA
ENV NVIDIA_DRIVER_CAPABILITIES=all
USER node
CMD ["node", "/simulator.js"]`

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
        exits, it starts again after 2 seconds. On {PREMIUM.name}, it can also be{' '}
        <a href="#own">an image of your own</a>.
      </p>

      <Heading id="world">Environment and vehicle</Heading>
      <p>
        Each start chooses an environment and a vehicle: beside <strong>Start Server</strong>, with{' '}
        <code>environment</code> and <code>vehicle</code> in <a href="/docs/api">the API</a>, or with{' '}
        <code>proving-ground start --environment Mountains --vehicle ugv</code>. Without a choice, you get your last
        one. The simulator receives them as <code>ENVIRONMENT</code> and <code>VEHICLE</code>.
      </p>
      <Rows
        caption="Vehicles"
        head={['Vehicle', 'What moves', 'Plans']}
        rows={[
          [<code key="v">uav</code>, 'One aircraft', 'All, and the free trial'],
          [<code key="v">ugv</code>, 'One ground vehicle', 'All, and the free trial'],
          [<code key="v">multi</code>, 'Several, of both kinds', `${PREMIUM.name} and ${ENTERPRISE.name}`],
        ]}
      />
      <p>
        <code>proving-ground environments</code>, or <code>GET /api/v1/environments</code>, lists what exists today and
        what your plan includes. Once we retire an environment, nothing new starts in it; a server that runs in it keeps
        running. If that was your last choice, you get the first one that your plan includes, and your dashboard says
        so.
      </p>

      <Heading id="own">An image of your own</Heading>
      <p>
        {`With Build Your Own, which ${PREMIUM.name} and Enterprise include, your container image runs instead of ours. Add it under `}
        <a href="/environments">Build Your Own</a>
        {`, or with POST /api/v1/environments, by its reference in a registry: at most ${MAX_OWN_ENVIRONMENTS} per account. Then choose its name at a start, like any environment. With a digest (@sha256:…), every start runs the same image. This one works:`}
      </p>
      <Code run="dockerfile">{DOCKERFILE}</Code>
      <Rows
        caption="What your container gets"
        head={['It gets', 'How']}
        rows={[
          ['All GPUs of the machine', "NVIDIA's driver and its container runtime"],
          [<code key="e">ENVIRONMENT</code>, 'The name that you gave the image'],
          [<code key="v">VEHICLE</code>, `${VEHICLES.join(', ')}: as chosen at the start`],
          [
            <>
              The start's parameters and <a href="/secrets">secrets</a>
            </>,
            'As environment variables',
          ],
          [
            `Port ${SERVER_WEB_PORT}`,
            <>
              Plain HTTP. Answer there once people can use it. <a href="#private">Who can open it</a>
            </>,
          ],
          ['The internet', 'Outgoing connections over IPv4'],
          [<code key="u">PYTHONUNBUFFERED=1</code>, 'Python prints at once, unless the image sets it'],
        ]}
      />
      <p>It doesn't get:</p>
      <ul>
        <li>Credentials. Don't put yours into the image: that's what secrets are for.</li>
        <li>EC2's metadata service, the machine itself, or any private network. Connections there are refused.</li>
        <li>
          Linux capabilities, or ways to gain privileges. <a href="/docs/ports#needs">What an image needs instead</a>
        </li>
        <li>A disk that lasts, except for /data. The rest is erased when the server ends.</li>
      </ul>
      <p>
        If we can't pull the image, or your program ends three times before it answers, the start fails, says why, and
        is free. Once it answered, we start it again each time.
      </p>

      <Heading id="registries">Private images</Heading>
      <p>
        Save a <a href="/registries">registry login</a>, and servers pull your own images from there with it. Only the
        machine that pulls gets it, and forgets it before your program starts.
      </p>

      <Heading id="log">Its log</Heading>
      <p>
        What your program prints is on the server's page within two seconds, and in <code>proving-ground logs -f</code>.
        We keep the first 1 MB and the last 4 MB until {LOG_DAYS} days after the end. Guests don't see it. Below it is
        how busy the GPU, the CPU, the memory, the disk, and the network are.
      </p>

      <Heading id="port">Port {SERVER_WEB_PORT}</Heading>
      <p>
        {`The simulator's page and its API answer on port ${SERVER_WEB_PORT}, and your dashboard links to them as soon as they do. That's also when the meter starts. If nothing answers ${ANSWER_DEADLINE_MS / MINUTE_MS} minutes after your container started, we stop the server and you pay nothing.`}
      </p>

      <Heading id="private">Who can open it</Heading>
      <p>
        If your dashboard's card says who can get in, your server is <strong>private</strong>. It has an address of its
        own, <code>door_url</code>, encrypted, and new with each start. Only these get in:
      </p>
      <ul>
        <li>You, in a browser where you are signed in.</li>
        <li>
          {`Guests with a link that you make under Share, for ${GUEST_HOURS.least} to ${GUEST_HOURS.most} hours. Remove it, and they are out at once.`}
        </li>
        <li>
          Your programs, with an <a href="/api_tokens">API token</a> that may operate. The simulator never sees it.
        </li>
      </ul>
      <p>
        Nobody else does, and neither do we: our admins have no way in. The address itself is no secret, and the machine
        accepts connections only from us. Encryption ends at Cloudflare, which carries our traffic; a tunnel leads from
        there to the machine. Signing out, a new password, and the server's end close the address within a second.
        Service workers don't work there.
      </p>
      <p>
        Each request that comes in says <code>x-door-visitor: guest</code> or <code>x-door-visitor: owner</code> to the
        simulator. Ours touches /data for <code>owner</code> only, and refuses guests and requests without this header.
        If your own image serves what is in /data, it must do so as well.
      </p>
      <Code>{`url=$(proving-ground status --json | jq -r '.servers[0].door_url')
curl -H "Authorization: Bearer $PROVING_GROUND_TOKEN" "$url"`}</Code>
      <p>
        <strong>Connect your code</strong> on the dashboard has the commands for your server, also for{' '}
        <a href="/docs/ports">further ports</a>: AirSim's RPC, MAVLink, noVNC, and others.
      </p>
      <p>
        Without a private address, the page is at <code>{`http://<ip_address>:${SERVER_WEB_PORT}`}</code>, public and
        unencrypted: anyone who knows the address can open it. So such a server gets none of your files. Don't send it
        secrets. Your own code connects in the same way, from your laptop or your CI: find the server that runs, then
        talk to it.
      </p>
      <Code>{`import { createProvingGround } from 'proving-ground/client'

const { PROVING_GROUND_URL: url = '', PROVING_GROUND_TOKEN: token = '' } = process.env
const { data } = await createProvingGround({ url, token }).GET('/api/v1/servers/get_servers')
const server = data?.servers.find(({ billed_from, stopping }) => billed_from && !stopping)
const simulator = await fetch(\`http://\${server?.ip_address}:${SERVER_WEB_PORT}/\`)
console.log(server?.environment, server?.vehicle, simulator.status)`}</Code>
      <p>
        To check from anywhere whether it answers, use <code>check_server_ip_status</code> in{' '}
        <a href="/docs/api">the API</a>.
      </p>

      <Heading id="line">When all are reserved</Heading>
      <p>
        Then Start offers you a place in <a href="/line">line</a>. Waiting is free, you can leave with one click, and
        you keep your place when you close the page. Every tab and the command line show the same place.
      </p>
      <ul>
        <li>
          Each machine size has its own line, and a place in it gets that size only. While both wait, {PAID_TURNS} paid
          plans come before each trial. Among either, the first to come is the first to go.
        </li>
        <li>
          A server that becomes free goes to the line before anyone can click. We start it for you, or hold it for{' '}
          {HOLD_MS / MINUTE_MS} minutes and email you: you choose. If you let {LAPSES_TO_END} held servers go, you move
          to the end of the line; after {LAPSES_TO_LEAVE}, you leave it.
        </li>
        <li>
          {`The page says how long half of the people waited, and nine in ten, over the last 30 days at positions like yours. With fewer than ${FEWEST_WAITS} of them, we don't know yet, and say so.`}
        </li>
        <li>
          If your account can't start a server when it's your turn, because its hours are used up for example, the
          server goes to the next, and we email you why.
        </li>
      </ul>
      <Code>{`proving-ground start --wait-in-line
proving-ground line
proving-ground line leave`}</Code>
      <p>
        For a class or a competition, we can hold servers back for its people: <a href="/contact_sales">tell us</a> when
        and how many. If you have a code for one, enter it at <a href="/line">Line</a>, or start with{' '}
        <code>proving-ground start --code BCDF-GHJK</code>. You need a plan or a trial as for any start.
      </p>

      <Heading id="idle">Idle servers</Heading>
      <p>
        So that you don't pay for a forgotten server, <a href="/idle">your account</a> can stop one that nobody has used
        for {LEAST_IDLE_MINUTES} to {MOST_IDLE_MINUTES} minutes. We warn you 10 minutes before, on every open page and
        by email, and one click keeps it. It's off unless you choose it.
      </p>
      <p>
        Only the simulator knows whether anyone uses it. We ask <code>GET {STATUS_PATH}</code> on port {SERVER_WEB_PORT}
        , without a sign-in, at most once a minute. It answers 200 with JSON of at most {STATUS_BYTES} bytes, within 2
        seconds:
      </p>
      <Code>{`{"idle_seconds": 90}`}</Code>
      <p>
        Count from the last request or command, and leave out our question. A simulator that answers anything else, or
        nothing, never counts as idle. Neither does one that says it has been idle for longer than its machine has run.
      </p>

      <Heading id="end">At the end</Heading>
      <p>
        When you stop a server, the simulator has 30 seconds to shut down. Then we wait up to 2 minutes until all that
        is in /data is in your <a href="/files">files</a>. You pay for neither. What can't be uploaded in that time is
        lost, so wait until a file of many gigabytes is there before you stop. The rest of the disk is erased.
      </p>
      <p>
        To rename or move files, do it in /data. When you delete a folder in your files while a server writes into it,
        what it writes from then on stays. A server writes each file of /data over what your files have by then; an
        upload never replaces what a server wrote after the upload began. If two programs make a file and a folder of
        the same name at once, your files have both, and a server shows only one of them: delete one.
      </p>
      <p>
        A server also ends at the time you set, when nobody uses it and you chose that, when your trial minutes are used
        up, or if the machine fails. Your list of runs says why.
      </p>
    </Doc>
  )
}
